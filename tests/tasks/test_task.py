"""Claims about the four tasks: what a loss asks, how a part is scored, and that each can be learnt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from bertlab.tasks.batches import answers
from bertlab.tasks.classification import Example
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.finetune import FineTuning, fine_tune
from bertlab.tasks.squad import Question
from bertlab.tasks.task import Answers, Classification, Entities
from tests.tasks.learnable import KINDS, LABELS, TOKENIZER, loss_of, made, parts_of, tiny

FEW = {"train": 12, "val": 9, "test": 7}


def some_task(kind):
    return made(kind, parts_of(kind, FEW))


def outspoken(kind):
    """A model that says different things of different inputs, so that a confusion of them shows."""
    model = tiny(kind).eval()
    with torch.no_grad():
        for matrix in (p for p in model.parameters() if p.dim() > 1):
            matrix.normal_(0, 0.4)
    return model


def surprise(logits, right):
    return -torch.from_numpy(np.asarray(logits)).double().log_softmax(-1)[right].item()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_small_bert_learns_the_task_and_nothing_from_shuffled_answers(kind):
    settings, high, low = FineTuning(epochs=8, batch_size=16, rate=3e-3), 0.9, 0.8
    sizes = {"train": 60 if kind == "answers" else 160, "val": 60, "test": 60}  # a question has some windows
    for shuffled in (False, True):
        model, task = tiny(kind), made(kind, parts_of(kind, sizes, shuffled))
        assert task.scores(model, "val")[task.best_by] < low  # before
        tuned = fine_tune(model, task, settings)
        for found in (tuned.scores, task.scores(model, "val"), task.scores(model, "test")):
            assert found[task.best_by] < low if shuffled else found[task.best_by] > high
    assert tuned.scores == task.scores(model, "val")


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_of_rows_is_the_mean_over_their_own_targets(kind):
    """Padding, other rows and other parts have no say."""
    task, model, rows = some_task(kind), outspoken(kind), [7, 2, 11, 0, 1, 10, 5]
    one_by_one = [loss_of(task, model, [row]) for row in rows]
    together, n = loss_of(task, model, rows)
    assert n == sum(count for _, count in one_by_one)
    wanted = sum(loss.item() * count for loss, count in one_by_one) / n
    assert together.item() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("kind", ["text", "pair"])
def test_the_loss_of_a_text_is_the_surprise_at_its_own_answer(kind):
    parts = parts_of(kind, FEW)
    task, model = made(kind, parts), outspoken(kind)
    right = [("no", "yes").index(example.label) for example in parts["train"]]
    said = answers(model, task.inputs["train"])
    rows = [7, 2, 11, 0, 1]
    assert len({right[row] for row in rows}) == 2
    loss, n = loss_of(task, model, rows)
    assert n == 5
    assert loss.item() == pytest.approx(np.mean([surprise(said[row], right[row]) for row in rows]), rel=1e-4)


def test_D29_the_loss_of_a_sentence_asks_the_first_piece_of_each_word_alone():
    sentence = TaggedSentence(("Ivo", "Hartwell", "sat", "Skarn"), ("B-PER", "I-PER", "O", "B-LOC"))
    task = Entities({"train": [sentence], "val": [sentence]}, LABELS, TOKENIZER)
    model = tiny("entities").eval()
    (said,) = answers(model, [task.words["train"][0].inputs])
    assert len(said) == 9  # [CLS] ivo hart ##well sat ska ##r ##n [SEP]
    asked = {1: "B-PER", 2: "I-PER", 4: "O", 5: "B-LOC"}
    wanted = np.mean([surprise(said[place], LABELS.index(label)) for place, label in asked.items()])
    loss, n = loss_of(task, model, [0])
    assert n == 4
    assert loss.item() == pytest.approx(wanted, rel=1e-4)


def test_D27_the_loss_of_a_window_asks_for_the_answer_or_for_cls_where_it_is_not():
    (question,) = parts_of("answers", {"train": 1})["train"]
    task, model = made("answers", {"train": [question], "val": [question]}), tiny("answers").eval()
    assert len(task) == len(task.asked["train"][0].windows) > 1
    color = TOKENIZER.ids[question.answers[0].text.lower()]
    seen = set()
    for row, (inputs, labels) in enumerate(task.windows):
        place = int(np.flatnonzero(inputs.ids == color)[0]) if color in inputs.ids else 0
        seen.add(place > 0)
        assert labels == (place, place)
        start, end = answers(model, [inputs])[0]
        wanted = (surprise(start, place) + surprise(end, place)) / 2
        assert loss_of(task, model, [row])[0].item() == pytest.approx(wanted, rel=1e-4)
    assert seen == {True, False}


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_come_in_the_order_of_what_was_asked(kind):
    task, model = some_task(kind), outspoken(kind)
    asked = {Classification: "inputs", Entities: "words", Answers: "asked"}[type(task)]
    asked = getattr(task, asked)["val"]
    together = task.predict(model, asked)
    for i, one in enumerate(asked):
        alone = task.predict(model, [one])
        if kind == "answers":
            assert together[one.question.id] == alone[one.question.id]
            assert alone[one.question.id] in one.question.passage  # as it was written there
        else:
            assert together[i] == alone[0]
    assert len(together) == len(asked)
    said = together.values() if kind == "answers" else map(str, together)
    assert len(set(said)) > 1


def test_answers_to_texts_are_scored_by_accuracy_and_the_mean_f1_of_the_classes():
    task, model = some_task("text"), tiny("text")
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor([9.0, -9.0]))
    right = task.right["val"]
    assert right.tolist().count(0) == 5
    scores = task.scores(model, "val")
    assert scores["accuracy"] == pytest.approx(5 / 9)
    assert scores["macro_f1"] == pytest.approx(f1_score(right, np.zeros(9, int), average="macro"))
    assert task.best_by in scores


def test_D30_who_finds_no_name_scores_zero_though_most_words_are_right():
    task, model = some_task("entities"), tiny("entities")
    with torch.no_grad():
        model.classifier.bias[0] = 9.0
    gold = [label for labels in task.gold["val"] for label in labels]
    scores = task.scores(model, "val")
    assert scores["word_accuracy"] == pytest.approx(gold.count("O") / len(gold))
    assert {scores[name] for name in ("f1", "strict_f1", "precision", "recall")} == {0.0}
    assert task.best_by in scores


def test_D30_names_are_scored_in_both_readings():
    sentence = TaggedSentence(("Ivo", "Hartwell"), ("B-PER", "I-PER"))
    task, model = Entities({"test": [sentence]}, LABELS, TOKENIZER), tiny("entities")
    with torch.no_grad():
        model.classifier.bias[2] = 9.0  # I-PER everywhere: goes on with nothing
    scores = task.scores(model, "test")
    assert (scores["f1"], scores["strict_f1"], scores["word_accuracy"]) == (1.0, 0.0, 0.5)


def test_D28_no_answer_is_given_where_the_threshold_says_so():
    parts = parts_of("answers", FEW)
    nothing = {"val": [replace(question, answers=()) for question in parts["val"]]}
    model = tiny("answers")
    for threshold, said in ((None, False), (1e6, False), (-1e6, True)):
        task = Answers(nothing, TOKENIZER, max_length=16, step=7, threshold=threshold)
        assert [text == "" for text in task.predict(model, task.asked["val"]).values()] == [said] * 9
        assert task.scores(model, "val") == {"f1": float(said), "exact": float(said)}


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_part_that_is_asked_for(kind):
    model, parts = outspoken(kind), parts_of(kind, FEW)
    task, alone = made(kind, parts), made(kind, {"val": parts["test"]})
    assert task.scores(model, "test") == alone.scores(model, "val") != task.scores(model, "val")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lacking", ["train", "val"])
def test_a_training_without_examples_to_train_on_or_to_choose_by_is_refused(kind, lacking):
    parts = parts_of(kind, FEW)
    with pytest.raises(ValueError, match=f"part '{lacking}' is empty: give examples"):
        made(kind, parts | {lacking: []})
    del parts["train"]
    assert len(made(kind, parts)) == 0  # to be scored alone


def test_an_answer_that_the_model_does_not_know_is_refused_before_training():
    texts, sentences = parts_of("text", FEW), parts_of("entities", FEW)
    texts["train"].append(Example("good", label="maybe"))
    with pytest.raises(ValueError, match="'maybe'"):
        made("text", texts)
    sentences["train"].append(TaggedSentence(("Ivo",), ("B-DOG",)))
    with pytest.raises(ValueError, match="'B-DOG'"):
        made("entities", sentences)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fingerprint_tells_every_change_of_inputs_or_answers(kind):
    parts = parts_of(kind, FEW)
    own = made(kind, parts).fingerprint()
    assert made(kind, parts_of(kind, FEW)).fingerprint() == own
    for part in ("train", "val"):
        first, second, *rest = parts[part]
        for changed in ([second, first, *rest], [changed_answer(first), second, *rest], [first, *rest]):
            assert made(kind, parts | {part: changed}).fingerprint() != own


def changed_answer(one):
    if isinstance(one, Example):
        return replace(one, label="no" if one.label == "yes" else "yes")
    if isinstance(one, Question):
        return replace(one, answers=())
    return replace(one, labels=("O" if one.labels[0] == "B-LOC" else "B-LOC", *one.labels[1:]))


def test_a_fingerprint_tells_the_meaning_of_the_outputs():
    texts, sentences, questions = (parts_of(kind, FEW) for kind in ("text", "entities", "answers"))
    for one, other in (
        (made("text", texts), Classification(texts, ("yes", "no"), TOKENIZER, max_length=32)),
        (made("entities", sentences), Entities(sentences, LABELS[::-1], TOKENIZER, max_length=32)),
        (made("answers", questions), Answers(questions, TOKENIZER, max_length=16, step=7, threshold=0.0)),
    ):
        assert one.fingerprint() != other.fingerprint()

"""What the experiments on fine-tuning share: encoders, tasks, recipes, and what is kept of a test part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch

from _comparison import calibration
from bertlab.interop import load_bert
from bertlab.nn import BertModel
from bertlab.tasks.batches import answers
from bertlab.tasks.bio import Entity, find_entities
from bertlab.tasks.entities import TaggedSentence, load_entities
from bertlab.tasks.heads import BertForClassification, BertForSpans, BertForTokens, Head
from bertlab.tasks.labelled_texts import load_labelled
from bertlab.tasks.squad import Question, gold_answers, read_xquad, split_by_article
from bertlab.tasks.squad_metrics import squad_scores
from bertlab.tasks.task import Answers, Classification, Entities, Part, Task
from bertlab.text import WordPiece
from bertlab.training import load_result
from bertlab.training.bfloat16 import bfloat16_is_fast

DROPOUT = 0.1  # in the trunk, too; two of the checkpoints were pre-trained without
BF16 = bfloat16_is_fast(torch.device("cpu"))  # else float32: both reach the same scores
LENGTH, STEP = 128, 64  # pieces of an input; of QA, from one window to the next
MISTAKES = 12  # kept of each kind: the surest ones, and as many by chance
PARTS: tuple[Part, ...] = ("train", "val", "test")
MODELS = {  # name: checkpoint, whether its weights are kept
    "random mini": ("bert-mini", False),
    "bert-mini": ("bert-mini", True),
    "random 6l": ("bert-6l", False),
    "bert-6l": ("bert-6l", True),
    "all-MiniLM-L6-v2": ("all-MiniLM-L6-v2", True),
}
RATES = {  # small models want higher ones (Turc et al. 2019), trained ones lower ones
    "random mini": (1e-4, 3e-4, 1e-3),
    "bert-mini": (1e-4, 3e-4, 1e-3),
    "random 6l": (1e-4, 3e-4),
    "bert-6l": (3e-5, 1e-4, 3e-4),
    "all-MiniLM-L6-v2": (3e-5, 1e-4, 3e-4),
}
NEGATIONS = re.compile(r"\b(not|no|n't|never|nor|neither|nothing|without|hardly)\b")


class Recipe(NamedTuple):
    """How a task is trained, and where its learning rate is chosen."""

    epochs: int
    batch_size: int
    rate_of: str  # the task on whose validation part the rate of a model is chosen


RECIPES = {
    "sst2": Recipe(2, 16, "sst2"),
    "nli-wikipedia": Recipe(2, 16, "nli-wikipedia"),
    "wikigold": Recipe(8, 16, "wikigold"),
    "wnut17": Recipe(3, 16, "wnut17"),
    "xquad": Recipe(3, 16, "wikigold"),
}


def encoder(name: str, seed: int) -> tuple[BertModel, WordPiece]:
    """Load an encoder, or make one of its sizes with new weights; all with the dropout of fine-tuning."""
    checkpoint, trained = MODELS[name]
    loaded, tokenizer = load_bert(checkpoint, BertModel)
    torch.manual_seed(seed)
    config = replace(loaded.config, dropout=DROPOUT, attention_dropout=DROPOUT)
    bert = BertModel(config, pooler=loaded.pooler is not None)
    if trained:
        bert.load_state_dict(loaded.state_dict())
    return bert, tokenizer


@cache
def parts_of(name: str) -> tuple[dict[Part, list[Any]], tuple[str, ...]]:
    """Read a data set by its parts, and its labels; none for questions."""
    if name == "xquad":
        found = split_by_article(read_xquad(), (0.7, 0.1, 0.2), np.random.default_rng(0))
        return dict(zip(PARTS, found, strict=True)), ()
    texts: Any = (load_entities if name in ("wikigold", "wnut17") else load_labelled)(name)
    return {part: getattr(texts, part) for part in PARTS}, texts.labels


def task_of(name: str, tokenizer: WordPiece, parts: dict[Part, list[Any]] | None = None) -> Task[Any]:
    """Make a task of a data set, or of some of its examples."""
    whole, labels = parts_of(name)
    some = whole if parts is None else parts
    if name == "xquad":
        return Answers(some, tokenizer, LENGTH, STEP)
    kind = Entities if name in ("wikigold", "wnut17") else Classification
    return kind(some, labels, tokenizer, LENGTH)


def head_of(task: Task[Any], bert: BertModel) -> Head:
    """Put the head of a task on an encoder."""
    if isinstance(task, Answers):
        return BertForSpans(bert)
    if isinstance(task, Entities):
        return BertForTokens(bert, len(task.labels))
    assert isinstance(task, Classification)
    return BertForClassification(bert, len(task.labels))


def groups_of(name: str, part: Part = "test") -> list[str] | None:
    """Tell which examples share a text and so are right or wrong together: by premise, by passage."""
    if name == "nli-wikipedia":
        return [example.text for example in parts_of(name)[0][part]]
    return [question.passage for question in parts_of(name)[0][part]] if name == "xquad" else None


def chosen_rate(model: str, task: str) -> float:
    """Tell the learning rate that `four_tasks` has chosen for a model."""
    rate: float = load_result("four_tasks")["rates"][model][RECIPES[task].rate_of]
    return rate


def judge(task: Task[Any], model: Any, name: str, part: Part = "test") -> dict[str, Any]:
    """Look at a part: scores, what each example brings (see `_comparison`), and what went wrong.

    Returns
    -------
    test : scores. each : [what it brings, what it counts] of each example. Of texts: calibration and, of
    pairs, what was said for what. kinds : how often by kinds of examples or mistakes. mistakes : some.
    """
    if isinstance(task, Classification):
        return _judge_classes(task, model, name, part)
    if isinstance(task, Entities):
        return _judge_entities(task, model, name, part)
    assert isinstance(task, Answers)
    return _judge_answers(task, model, part)


def _judge_classes(task: Classification, model: Any, name: str, part: Part) -> dict[str, Any]:
    logits = torch.from_numpy(np.stack(answers(model, task.inputs[part])))
    chances = logits.softmax(-1).numpy()
    said, right = chances.argmax(1), task.right[part]
    sure, hits = chances.max(1), said == right
    examples = parts_of(name)[0][part]
    table = np.zeros((len(task.labels),) * 2, int)
    np.add.at(table, (right, said), 1)
    found: dict[str, Any] = {
        "test": _rounded(task.scores(model, part)),
        "each": np.stack([hits, np.ones(len(hits))], 1).tolist(),
        "calibration": calibration(sure, hits),
        "said": dict(zip(task.labels, table.tolist(), strict=True)),
    }
    if name == "sst2":
        denied = np.array([bool(NEGATIONS.search(example.text)) for example in examples])
        kinds = {"with a negation": denied, "without": ~denied}
        found["kinds"] = {
            name: [int(own.sum()), round(float(hits[own].mean()), 4)]
            for name, own in kinds.items()
            if own.any()
        }
    wrong = _some_of(np.flatnonzero(~hits), sure)
    found["mistakes"] = [
        {
            "text": examples[i].text,
            **({"text_b": examples[i].text_b} if examples[i].text_b else {}),
            "right": examples[i].label,
            "said": task.labels[said[i]],
            "sure": round(float(sure[i]), 3),
        }
        for i in wrong
    ]
    return found


def _judge_entities(task: Entities, model: Any, name: str, part: Part) -> dict[str, Any]:
    gold, said = task.gold[part], task.predict(model, task.words[part])
    kinds, mistakes = Counter[str](), []
    for sentence, right, guessed in zip(parts_of(name)[0][part], gold, said, strict=True):
        theirs, ours = set(find_entities(right)), set(find_entities(guessed))
        named = {"right": _named(theirs - ours, sentence), "said": _named(ours - theirs, sentence)}
        kinds.update(_kinds(theirs - ours, ours - theirs))
        if named["right"] or named["said"]:
            mistakes.append({"text": " ".join(sentence.words), **named})
    chosen = np.random.default_rng(0).permutation(len(mistakes))[: 2 * MISTAKES]
    return {
        "test": _rounded(task.scores(model, part)),
        "each": names_each(gold, said),
        "kinds": dict(kinds.most_common()),
        "mistakes": [mistakes[i] for i in sorted(chosen)],
    }


def names_each(gold: Sequence[Sequence[str]], said: Sequence[Sequence[str]]) -> list[list[float]]:
    """Count in each sentence twice the right names, and those in gold and said; F1 is sum by sum."""
    pairs = [(set(find_entities(a)), set(find_entities(b))) for a, b in zip(gold, said, strict=True)]
    return [[2.0 * len(a & b), float(len(a) + len(b))] for a, b in pairs]


def _named(some: set[Entity], sentence: TaggedSentence) -> list[str]:
    ordered = sorted(some, key=lambda entity: entity.start)
    return [f"{' '.join(sentence.words[one.start : one.end])} ({one.kind})" for one in ordered]


def _kinds(missed: set[Entity], invented: set[Entity]) -> list[str]:
    """Tell what went wrong with the names of a sentence that are not right."""
    found = []
    for one in missed:
        same = [other for other in invented if (other.start, other.end) == (one.start, one.end)]
        touching = [other for other in invented if other.start < one.end and one.start < other.end]
        found.append("another type" if same else "another end or beginning" if touching else "not seen")
    alone = [o for o in invented if not any(o.start < m.end and m.start < o.end for m in missed)]
    return found + ["no name at all"] * len(alone)


def _judge_answers(task: Answers, model: Any, part: Part) -> dict[str, Any]:
    asked = [one.question for one in task.asked[part]]
    said = task.predict(model, task.asked[part])
    found = squad_scores(said, gold_answers(asked))
    words = np.array([question_word(one) for one in asked])
    kinds = {
        word: [int((words == word).sum()), round(float(found.f1_each[words == word].mean()), 4)]
        for word in sorted(set(words))
    }
    wrong = np.random.default_rng(0).permutation(np.flatnonzero(found.f1_each < 0.5))[: 2 * MISTAKES]
    return {
        "test": {"f1": round(found.f1, 4), "exact": round(found.exact, 4)},
        "each": np.stack([found.f1_each, np.ones(len(asked))], 1).tolist(),
        "exact": found.exact_each.astype(int).tolist(),
        "kinds": kinds,
        "mistakes": [
            {
                "text": asked[i].text,
                "text_b": sentence_around(asked[i]),
                "right": asked[i].answers[0].text,
                "said": said[asked[i].id],
            }
            for i in sorted(wrong)
        ],
    }


def question_word(question: Question) -> str:
    """Tell what is asked for, by the first question word.

    Examples
    --------
    >>> question_word(Question("q1", "In which year did it end?", "It ended in 1066."))
    'which'
    """
    known = {"who", "whom", "what", "when", "where", "which", "why", "how"}
    words = re.findall(r"[a-z]+", question.text.lower())
    return next((word.replace("whom", "who") for word in words if word in known), "other")


def sentence_around(question: Question, reach: int = 150) -> str:
    """Give the answer with some of the passage on both sides."""
    answer = question.answers[0]
    start, end = max(answer.start - reach, 0), min(answer.end + reach, len(question.passage))
    return f"{'…' if start else ''}{question.passage[start:end]}{'…' if end < len(question.passage) else ''}"


def _some_of(wrong: np.ndarray, sure: np.ndarray) -> list[int]:
    """Choose the surest ones, then others by chance."""
    surest = wrong[np.argsort(-sure[wrong], kind="stable")][:MISTAKES].tolist()
    others = np.random.default_rng(0).permutation(np.setdiff1d(wrong, surest))[:MISTAKES]
    return [*surest, *sorted(others.tolist())]


def _rounded(scores: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in scores.items()}

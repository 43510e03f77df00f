"""What fine-tuning needs of a task, and the four tasks that have it: texts, pairs, names, answers.

A task knows inputs and right answers of its parts, what a batch costs, and how a model scores on a part by
the field's own measure. `bertlab.tasks.finetune` trains any of them by one loop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import torch
from torch import nn

from bertlab.tasks.batches import answers, tensors
from bertlab.tasks.best_span import predict_answer
from bertlab.tasks.classification import Example, accuracy, class_ids, example_inputs, macro_f1
from bertlab.tasks.entities import TaggedSentence, WordInputs, piece_labels, word_inputs, word_labels
from bertlab.tasks.entity_metrics import entity_scores
from bertlab.tasks.gpt_heads import GPTForClassification
from bertlab.tasks.heads import BertForClassification, BertForSpans, BertForTokens
from bertlab.tasks.question_answering import WindowedQuestion, windowed
from bertlab.tasks.squad import Question, gold_answers
from bertlab.tasks.squad_metrics import squad_scores
from bertlab.text.byte_pair import BytePair
from bertlab.text.inputs import Inputs, Marks, Truncation
from bertlab.text.masked_lm import IGNORE_INDEX
from bertlab.text.wordpiece import WordPiece

Part = Literal["train", "val", "test"]
Classifier = BertForClassification | GPTForClassification
H = TypeVar("H", bound=nn.Module, contravariant=True)


class Task(Protocol[H]):
    """What fine-tuning needs, for a head of kind H."""

    best_by: str  # the score that is to be high

    def __len__(self) -> int:
        """Count the inputs to train on."""

    def batch(self, model: H, rows: Sequence[int]) -> tuple[tuple[Any, ...], int]:
        """Make what the `loss` of a model is computed of, for some inputs, and count its targets."""

    def scores(self, model: H, part: Part) -> dict[str, float]:
        """Measure a model on a part, without dropout."""

    def fingerprint(self) -> str:
        """Tell these inputs and answers from all others, so that no run goes on with other ones."""


class Classification:
    """One answer for a text, or for a pair of texts.

    Parameters
    ----------
    parts : examples by the name of their part; with train there is val.
    labels : the answers, in the order of the model's outputs.
    tokenizer, max_length, truncation, marks : as in `example_inputs`; `marks` are those of a GPT's head.

    Raises
    ------
    ValueError
        If train or val is empty, an answer is not among the labels, or as in `example_inputs`.
    """

    best_by = "accuracy"

    def __init__(
        self,
        parts: dict[Part, list[Example]],
        labels: Sequence[str],
        tokenizer: WordPiece | BytePair,
        max_length: int = 128,
        truncation: Truncation | None = "longest_first",
        marks: Marks | None = None,
    ) -> None:
        _check(parts)
        self.labels = tuple(labels)
        self.inputs = {
            part: example_inputs(some, tokenizer, max_length, truncation, marks)
            for part, some in parts.items()
        }
        self.right = {part: class_ids(some, labels) for part, some in parts.items()}

    def __len__(self) -> int:
        return len(self.inputs.get("train", []))

    def batch(self, model: Classifier, rows: Sequence[int]) -> tuple[tuple[Any, ...], int]:
        """See `Task.batch`."""
        batch = tensors([self.inputs["train"][row] for row in rows], model)
        return (torch.from_numpy(self.right["train"][rows]).to(batch[0].device), *batch), len(rows)

    def predict(self, model: Classifier, inputs: Sequence[Inputs]) -> np.ndarray:
        """Give N inputs their answers: (N,) places in `labels`."""
        return np.array([scores.argmax() for scores in answers(model, inputs)])

    def scores(self, model: Classifier, part: Part) -> dict[str, float]:
        """Accuracy, and the mean F1 of the classes."""
        said, right = self.predict(model, self.inputs[part]), self.right[part]
        return {"accuracy": accuracy(right, said), "macro_f1": macro_f1(right, said, len(self.labels))}

    def fingerprint(self) -> str:
        """See `Task.fingerprint`."""
        pairs = (zip(some, self.right[part], strict=True) for part, some in self.inputs.items())
        return _fingerprint(self.labels, chain.from_iterable(pairs))


class Entities:
    """A label for each word.

    Parameters
    ----------
    parts : sentences by the name of their part; with train there is val.
    labels : in the order of the model's outputs.
    tokenizer, max_length, truncation : as in `word_inputs`.

    Raises
    ------
    ValueError
        If train or val is empty, a label of train is not among the labels, or as in `word_inputs`.
    """

    best_by = "f1"

    def __init__(
        self,
        parts: dict[Part, list[TaggedSentence]],
        labels: Sequence[str],
        tokenizer: WordPiece,
        max_length: int = 128,
        truncation: Truncation | None = "only_first",
    ) -> None:
        _check(parts)
        self.labels = tuple(labels)
        self.gold = {part: [sentence.labels for sentence in some] for part, some in parts.items()}
        self.words: dict[Part, list[WordInputs]] = {
            part: [word_inputs(sentence.words, tokenizer, max_length, truncation) for sentence in some]
            for part, some in parts.items()
        }
        train = zip(self.words.get("train", []), self.gold.get("train", []), strict=True)
        self.asked = [piece_labels(one, gold, self.labels) for one, gold in train]  # of (T,) each

    def __len__(self) -> int:
        return len(self.asked)

    def batch(self, model: BertForTokens, rows: Sequence[int]) -> tuple[tuple[Any, ...], int]:
        """See `Task.batch`."""
        batch = tensors([self.words["train"][row].inputs for row in rows], model)
        labels = np.full(batch[0].shape, IGNORE_INDEX)  # (B, T)
        for place, row in zip(labels, rows, strict=True):
            place[: len(self.asked[row])] = self.asked[row]
        n_targets = int((labels != IGNORE_INDEX).sum())
        return (torch.from_numpy(labels).to(batch[0].device), *batch), n_targets

    def predict(self, model: BertForTokens, found: Sequence[WordInputs]) -> list[list[str]]:
        """Give each word of some sentences its label."""
        scores = answers(model, [one.inputs for one in found])
        return [
            word_labels(said.argmax(-1), one, self.labels) for said, one in zip(scores, found, strict=True)
        ]

    def scores(self, model: BertForTokens, part: Part) -> dict[str, float]:
        """F1 of whole entities in both readings, precision and recall, and the share of right words."""
        gold, said = self.gold[part], self.predict(model, self.words[part])
        lenient, strict = (entity_scores(gold, said, reading) for reading in ("lenient", "strict"))
        overall = lenient.overall
        found = {"f1": overall.f1, "precision": overall.precision, "recall": overall.recall}
        return found | {"strict_f1": strict.overall.f1, "word_accuracy": lenient.word_accuracy}

    def fingerprint(self) -> str:
        """See `Task.fingerprint`."""
        pairs = (zip(some, self.gold[part], strict=True) for part, some in self.words.items())
        return _fingerprint(self.labels, ((one.inputs, gold) for one, gold in chain.from_iterable(pairs)))


class Answers:
    """Start and end of the answer to a question in its passage.

    Parameters
    ----------
    parts : questions by the name of their part, with train there is val; their passages are read in windows,
        none is cut.
    tokenizer, max_length, step : as in `windowed`.
    threshold : as in `predict_answer`.

    Raises
    ------
    ValueError
        If train or val is empty, or as in `windowed`.
    """

    best_by = "f1"

    def __init__(
        self,
        parts: dict[Part, list[Question]],
        tokenizer: WordPiece,
        max_length: int = 128,
        step: int = 64,
        threshold: float | None = None,
    ) -> None:
        _check(parts)
        self.threshold = threshold
        self.asked: dict[Part, list[WindowedQuestion]] = {
            part: windowed(some, tokenizer, max_length, step) for part, some in parts.items()
        }
        self.windows = [
            (window.inputs, labels)
            for one in self.asked.get("train", [])
            for window, labels in zip(one.windows, one.labels(), strict=True)
        ]

    def __len__(self) -> int:
        return len(self.windows)

    def batch(self, model: BertForSpans, rows: Sequence[int]) -> tuple[tuple[Any, ...], int]:
        """See `Task.batch`."""
        some = [self.windows[row] for row in rows]
        batch = tensors([inputs for inputs, _ in some], model)
        labels = torch.tensor([labels for _, labels in some], device=batch[0].device).T  # (2, B)
        return (labels, *batch), len(rows)

    def predict(self, model: BertForSpans, asked: Sequence[WindowedQuestion]) -> dict[str, str]:
        """Answer some questions, by their ids."""
        scores = iter(answers(model, [window.inputs for one in asked for window in one.windows]))
        found = {}
        for one in asked:
            starts, ends = zip(*(next(scores) for _ in one.windows), strict=True)
            found[one.question.id] = predict_answer(one, starts, ends, threshold=self.threshold).text
        return found

    def scores(self, model: BertForSpans, part: Part) -> dict[str, float]:
        """F1 and exact match, as SQuAD's script gives them, from 0 to 1."""
        asked = self.asked[part]
        gold = gold_answers(one.question for one in asked)
        found = squad_scores(self.predict(model, asked), gold)
        return {"f1": found.f1, "exact": found.exact}

    def fingerprint(self) -> str:
        """See `Task.fingerprint`."""
        asked = chain.from_iterable(self.asked.values())
        pairs = ((window.inputs, one.question.answers) for one in asked for window in one.windows)
        return _fingerprint(self.threshold, pairs)


def _check(parts: Mapping[Part, Sequence[object]]) -> None:
    for part in ("train", "val") if "train" in parts else ():
        if not parts.get(part):
            raise ValueError(f"part {part!r} is empty: give examples to train on, and others to choose by")


def _fingerprint(settings: object, pairs: Iterable[tuple[Inputs, object]]) -> str:
    found = hashlib.sha256(repr(settings).encode())
    for inputs, right in pairs:
        for content in (inputs.ids.tobytes(), inputs.segments.tobytes(), repr(right).encode()):
            found.update(content)
    return found.hexdigest()[:16]

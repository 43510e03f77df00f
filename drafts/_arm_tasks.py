"""Three tasks for every arm, on states as they are or with all weights trained.

Sentiment, entailment and names; the same is put on all arms. Texts (sentence-polarity): the mean over their
pieces. Pairs (nli-wikipedia), read one behind the other: the means u and v of both texts, |u - v| and u · v,
so that they can be compared even by vectors that never meet. Names (wikigold): words, from each arm where it
has read the whole of one (`_arm_states`). Texts are cut at the length of the models.

Of each set at most 4,000 examples are trained on; so are plain methods, which see the same ones.

Frozen: logistic regression on all layers side by side, its penalty chosen by the validation part. Fine-tuned:
one linear layer on the last layer, everything trained; of the epochs the best on the validation part counts.
No arm has its paper's own head ([CLS] with a pooler, an extract token with a second loss, a BiLSTM): those
would be compared, too, and small models fail on [CLS] for reasons of their own.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from _arm_states import BATCH as READ_AT_ONCE
from _arm_states import Text, features, laid_out, mean_of, word_of
from _arms import Arm
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from _fine_tuned import names_each, parts_of
from _mean_states import STRENGTHS
from _plain_baselines import baselines, both_texts, linear
from bertlab.nn.losses import cross_entropy
from bertlab.tasks.classification import class_ids, example_inputs
from bertlab.tasks.elmo_features import word_spans
from bertlab.tasks.entities import word_inputs
from bertlab.tasks.entity_metrics import entity_scores
from bertlab.tasks.finetune import batch_rows
from bertlab.tasks.task import Part
from bertlab.text import WordPiece
from bertlab.training import fit, linear_decay

TASKS = ("sentence-polarity", "nli-wikipedia", "wikigold")
EPOCHS, BATCH = {"sentence-polarity": 2, "nli-wikipedia": 2, "wikigold": 6}, 32
MOST = 4000  # examples to train on
PARTS: tuple[Part, ...] = ("train", "val", "test")
Row = dict[str, Any]
Ids = NDArray[np.int64]


class Task(NamedTuple):
    """Texts of each part with their answers: of each span one of names, else of each text."""

    name: str
    labels: tuple[str, ...]
    texts: dict[Part, list[Text]]
    right: dict[Part, list[Ids]]  # of each text (k,)

    @property
    def words(self) -> bool:
        """Whether words are asked for."""
        return self.name == "wikigold"


def few_of(name: str) -> tuple[dict[Part, list[Any]], tuple[str, ...]]:
    """Read a data set by its parts, of train at most `MOST` examples, drawn once; and its labels."""
    parts, labels = parts_of(name)
    chosen = np.random.default_rng(0).permutation(len(parts["train"]))[:MOST]
    return {**parts, "train": [parts["train"][i] for i in chosen]}, labels


def plain(name: str) -> Row:
    """Let plain methods learn from the same examples: what each brings on test, by method."""
    parts, labels = few_of(name)
    if name == "wikigold":
        return baselines(name)
    right, found = class_ids(parts["test"], labels), dict[str, Ids]()
    most = np.bincount(class_ids(parts["train"], labels)).argmax()
    found["most frequent class"] = np.full(len(right), most)
    found["TF-IDF"] = linear(both_texts, parts["train"], parts["val"], parts["test"], labels)
    return {method: {"each": [[float(hit), 1.0] for hit in right == said]} for method, said in found.items()}


@cache
def task_of(name: str, vocab: WordPiece, length: int) -> Task:
    """Read a task."""
    parts, labels = few_of(name)
    texts, right = dict[Part, list[Text]](), dict[Part, list[Ids]]()
    for part in PARTS:
        if name == "wikigold":
            found = [word_inputs(one.words, vocab, length, "only_first") for one in parts[part]]
            texts[part] = [
                Text(one.inputs.ids.tolist(), one.inputs.segments.tolist(), word_spans(one).tolist())
                for one in found
            ]
            right[part] = [
                np.array([labels.index(label) for label in one.labels[: len(read.spans)]], np.int64)
                for one, read in zip(parts[part], texts[part], strict=True)
            ]
        else:
            inputs = example_inputs(parts[part], vocab, length, "longest_first")
            texts[part] = [
                Text(one.ids.tolist(), one.segments.tolist(), spans_of(one.segments)) for one in inputs
            ]
            right[part] = [np.array([i]) for i in class_ids(parts[part], labels)]
    return Task(name, labels, texts, right)


def spans_of(segments: Ids) -> list[tuple[int, int]]:
    """Say where the pieces of each text of an input begin and end; of an empty text, its mark.

    Examples
    --------
    >>> spans_of(np.array([0, 0, 0, 0])), spans_of(np.array([0, 0, 0, 1, 1, 1]))
    ([(1, 2)], [(1, 1), (3, 4)])
    """
    n = int((segments == 0).sum())
    spans = [(1, max(n - 2, 1))]
    return spans if n == len(segments) else [*spans, (n, max(len(segments) - 2, n))]


def beside(means: Tensor, n_texts: int) -> Tensor:
    """Lay what is known of one text or two into one vector each: (n_texts · k, W) -> (n_texts, W or 4 W).

    Examples
    --------
    >>> beside(torch.tensor([[1.0], [3.0]]), 1).tolist()
    [[1.0, 3.0, 2.0, 3.0]]
    """
    if len(means) == n_texts:
        return means
    u, v = means[::2], means[1::2]
    return torch.cat([u, v, (u - v).abs(), u * v], -1)


def frozen(arm: Arm, task: Task) -> Row:
    """Answer by a logistic regression on states as they are."""
    x, y = dict[Part, NDArray[np.float32]](), dict[Part, Ids]()
    for part in PARTS:
        layers = torch.from_numpy(features(arm, task.texts[part], task.words))
        own = layers if task.words else torch.stack([beside(one, len(task.texts[part])) for one in layers])
        x[part] = torch.cat(tuple(own), -1).numpy()
        y[part] = np.concatenate(task.right[part])
    best: Row = {"val": -1.0}
    for strength in STRENGTHS:  # of equals the strongest penalty
        model = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=2000))
        model.fit(x["train"], y["train"])
        answered = {part: split(model.predict(x[part]), task.right[part]) for part in ("val", "test")}
        on_val = scored(task, "val", answered["val"])["score"]
        if on_val > best["val"]:
            best = {"val": on_val, "strength": strength, "said": answered["test"]}
    said = best.pop("said")
    return {**scored(task, "test", said), **best}


def split(said: Ids, texts: Sequence[Ids]) -> list[Ids]:
    """Part answers of all words as the texts have them."""
    return np.split(said, np.cumsum([len(one) for one in texts])[:-1])


class Tuned(nn.Module):
    """An arm with a linear layer on its last one.

    Parameters
    ----------
    arm : is trained further.
    task : what for.
    """

    def __init__(self, arm: Arm, task: Task) -> None:
        super().__init__()
        self.arm, self.words = arm, task.words
        with torch.no_grad():
            width = self.read(task.texts["train"][:1]).shape[1]
        self.classifier = nn.Linear(width, len(task.labels))
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)

    def read(self, texts: Sequence[Text]) -> Tensor:
        """Make a vector of each word, or of each text or pair."""
        ids, segments, spans = laid_out(texts, self.arm.model.config.pad_id)
        last = self.arm.layers(ids, segments)[-1]
        if self.words:
            return word_of(last, spans, self.arm.sides)
        return beside(mean_of(last, spans), len(texts))

    def forward(self, texts: Sequence[Text]) -> Tensor:
        """Score the answers."""
        scores: Tensor = self.classifier(self.read(texts))
        return scores

    @torch.no_grad()
    def said(self, texts: Sequence[Text]) -> list[Ids]:
        """Answer, in the order of the texts: (k,) each."""
        found: list[Ids] = [np.empty(0, np.int64)] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i].ids))
        for start in range(0, len(order), READ_AT_ONCE):
            some = order[start : start + READ_AT_ONCE]
            best = self([texts[i] for i in some]).argmax(-1)
            sizes = [len(texts[i].spans) if self.words else 1 for i in some]
            for i, own in zip(some, best.split(sizes), strict=True):
                found[i] = own.numpy()
        return found


def fine_tuned(arm: Arm, task: Task, rate: float, seed: int) -> Row:
    """Train a copy of an arm with a new layer for a task; the best epoch on val is judged on test."""
    torch.manual_seed(seed)
    model = Tuned(copy.deepcopy(arm).requires_grad_(True), task)
    texts, right, n = task.texts["train"], task.right["train"], len(task.texts["train"])
    per_epoch, best = n // BATCH, dict[str, Any]()
    steps, history = EPOCHS[task.name] * per_epoch, list[float]()

    def loss(number: int) -> tuple[Tensor, int]:
        rows = batch_rows(n, BATCH, number, seed)
        wanted = torch.from_numpy(np.concatenate([right[i] for i in rows]))
        return cross_entropy(model([texts[i] for i in rows]), wanted), len(wanted)

    def evaluate() -> dict[str, float]:
        said = model.said(task.texts["val"])
        history.append(scored(task, "val", said)["score"])
        if history[-1] >= best.get("val", -1.0):  # of equals the last, as `bertlab.tasks.finetune`
            best.update(val=history[-1], epoch=len(history), said=model.said(task.texts["test"]))
        return {"score": history[-1]}

    fit(
        model,
        loss,
        steps=steps,
        learning_rate=linear_decay(rate, max(steps // 10, 1), steps + 1),
        weight_decay=0.01,
        eps=1e-6,
        evaluate=evaluate,
        report_every=per_epoch,
        fused=True,
    )
    return {**scored(task, "test", best["said"]), "val": best["val"], "best_epoch": best["epoch"]}


def scored(task: Task, part: Part, said: Sequence[Ids]) -> Row:
    """Score the answers to a part: accuracy, or F1 of whole names; and each example, see `_comparison`."""
    if not task.words:
        hits = [float(a[0] == b[0]) for a, b in zip(task.right[part], said, strict=True)]
        return {"score": round(float(np.mean(hits)), 4), "each": [[hit, 1.0] for hit in hits]}
    gold = [list(one.labels) for one in parts_of(task.name)[0][part]]
    guessed = [
        [task.labels[i] for i in own] + ["O"] * (len(names) - len(own))
        for own, names in zip(said, gold, strict=True)
    ]
    found = entity_scores(gold, guessed)
    return {"score": round(found.overall.f1, 4), "each": names_each(gold, guessed)}

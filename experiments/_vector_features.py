"""Word vectors as features: what they bring to sentiment, to entailment and to names. They stay as they are.

Texts: the mean of the vectors of their known words, then a logistic regression; of pairs both means, their
distance and their product. Names: a network with one hidden layer sees a word and the two on each side, and
the shapes of all five (Collobert et al. 2011, sec. 3.2.1, "window approach"). What is chosen, a penalty or an
epoch, is chosen by the validation part. Tasks and parts are those of `four_tasks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from _fine_tuned import PARTS, names_each, parts_of
from _mean_states import regression
from _plain_baselines import STRENGTHS, shape
from bertlab.tasks.classification import Example, class_ids
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.entity_metrics import entity_scores
from bertlab.tasks.task import Part
from bertlab.text import Vectors
from bertlab.text.word_corpus import split_words

Floats = NDArray[np.float32]
Rows = list[list[float]]
WINDOW, HIDDEN, EPOCHS, BATCH, RATE, DROPOUT = 2, 128, 8, 256, 2e-3, 0.3  # of the classifier of names
SHAPES = 8
FEW, DRAWN = (100, 1000), 3  # examples of sentiment; how often they are drawn


def text_means(vectors: Vectors, texts: Sequence[str]) -> Floats:
    """Give the mean vector of the known words of each text, zero where none is known: (N, D)."""
    means = np.zeros((len(texts), vectors.matrix.shape[1]), np.float32)
    for i, text in enumerate(texts):
        if places := [vectors.place(word) for word in split_words(text) if word in vectors]:
            means[i] = vectors.matrix[places].mean(0)
    return means


def example_features(vectors: Vectors, examples: Sequence[Example]) -> Floats:
    """Give the features of texts (N, D), or of pairs (N, 4 D)."""
    a = text_means(vectors, [one.text for one in examples])
    if examples[0].text_b is None:
        return a
    b = text_means(vectors, [str(one.text_b) for one in examples])
    return np.concatenate([a, b, abs(a - b), a * b], axis=1)


def classified(vectors: Vectors, task: str) -> Rows:
    """Tell which texts of the test part are classified rightly: [1 or 0, 1]."""
    parts, labels = parts_of(task)
    x = {part: example_features(vectors, parts[part]) for part in PARTS}
    y = {part: class_ids(parts[part], labels) for part in PARTS}
    said, _ = regression(x, y)
    return hits(said, y["test"])


def hits(said: NDArray[np.int64], right: NDArray[np.int64]) -> Rows:
    """Put what was said beside what is right: [1 or 0, 1] of each."""
    return [[float(hit), 1.0] for hit in said == right]


def beside_counting(vectors: Vectors | None, task: str = "sst2") -> Rows:
    """Classify texts by TF-IDF of words and pairs of words, and by the mean vector too, if there is one."""
    parts, labels = parts_of(task)
    y = {part: class_ids(parts[part], labels) for part in PARTS}
    counter = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    counter.fit([one.text for one in parts["train"]])
    x: dict[Part, Any] = {part: counter.transform([one.text for one in parts[part]]) for part in PARTS}
    if vectors is not None:
        dense = {part: text_means(vectors, [one.text for one in parts[part]]) for part in PARTS}
        scale = StandardScaler().fit(dense["train"])
        for part in PARTS:  # as long as a row of TF-IDF, whose length is 1
            scaled = scale.transform(dense[part]) / dense[part].shape[1] ** 0.5
            x[part] = sparse.hstack([x[part], sparse.csr_matrix(scaled)]).tocsr()
    models = [LogisticRegression(C=c, max_iter=1000).fit(x["train"], y["train"]) for c in STRENGTHS]
    best = max(models, key=lambda model: float(model.score(x["val"], y["val"])))
    return hits(best.predict(x["test"]), y["test"])


def with_few(vectors: Vectors | None, n: int, task: str = "sst2") -> list[Rows]:
    """Do the same with n examples of training, drawn three times; without vectors, by TF-IDF."""
    parts, labels = parts_of(task)
    y = {part: class_ids(parts[part], labels) for part in PARTS}
    texts = {part: [one.text for one in parts[part]] for part in PARTS}
    dense = {part: text_means(vectors, texts[part]) for part in PARTS} if vectors is not None else None
    found = []
    for seed in range(DRAWN):
        some = np.random.default_rng(seed).choice(len(y["train"]), n, replace=False)
        right = {**y, "train": y["train"][some]}
        if dense is not None:
            said, _ = regression({**dense, "train": dense["train"][some]}, right)
        else:
            counter = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
            x = {"train": counter.fit_transform([texts["train"][i] for i in some])}
            x |= {part: counter.transform(texts[part]) for part in ("val", "test")}
            models = [
                LogisticRegression(C=c, max_iter=1000).fit(x["train"], right["train"]) for c in STRENGTHS
            ]
            said = max(models, key=lambda model: float(model.score(x["val"], y["val"]))).predict(x["test"])
        found.append(hits(said, y["test"]))
    return found


def word_table(vectors: Vectors, kinds: Sequence[str]) -> Floats:
    """Look up kinds of words as they are written: (W, D), centred, with a deviation of 1 on the whole.

    A word without a vector has that of its parts ("well-known"), or none, which is 0.
    """
    table = text_means(vectors, kinds)
    known = table.any(1)
    table[known] = (table[known] - table[known].mean(0)) / table[known].std()
    return table


class Windows:
    """The words of wikigold with two on each side, as numbers."""

    def __init__(self) -> None:
        parts, labels = parts_of("wikigold")
        self.labels, self.parts = labels, parts
        sentences: list[TaggedSentence] = [one for part in PARTS for one in parts[part]]
        self.kinds = ["", *dict.fromkeys(word for one in sentences for word in one.words)]  # "" is no word
        number = {word: i for i, word in enumerate(self.kinds)}
        often = Counter(shape(word) for one in parts["train"] for word in one.words).most_common(SHAPES)
        shapes = {one: i + 1 for i, (one, _) in enumerate(often)}
        self.shape_of = torch.tensor([0, *(shapes.get(shape(word), SHAPES + 1) for word in self.kinds[1:])])
        self.x: dict[Part, Tensor] = {}
        self.y: dict[Part, Tensor] = {}
        for part in PARTS:
            rows = [self._windows([number[word] for word in one.words]) for one in parts[part]]
            self.x[part] = torch.tensor([row for some in rows for row in some])  # (words, 2 WINDOW + 1)
            found = [labels.index(label) for one in parts[part] for label in one.labels]
            self.y[part] = torch.tensor(found)

    @staticmethod
    def _windows(ids: list[int]) -> list[list[int]]:
        padded = [0] * WINDOW + ids + [0] * WINDOW
        return [padded[i : i + 2 * WINDOW + 1] for i in range(len(ids))]

    def gold(self, part: Part) -> list[tuple[str, ...]]:
        """The labels of each sentence."""
        return [one.labels for one in self.parts[part]]

    def sentences(self, flat: Tensor, part: Part) -> list[list[str]]:
        """Give labels, numbered word for word, back to their sentences."""
        named = iter(self.labels[i] for i in flat.tolist())
        return [[next(named) for _ in one.words] for one in self.parts[part]]


@cache
def windows() -> Windows:
    """Read them once."""
    return Windows()


class WindowTagger(nn.Module):
    """Vectors and shapes of the words of a window, a hidden layer, a score for each label.

    Parameters
    ----------
    table : (W, D) float tensor, or None to see shapes alone.
    shape_of : (W,) number of the shape of each word.
    n_labels : number of labels.
    learn : whether the table is trained, too.
    """

    def __init__(self, table: Tensor | None, shape_of: Tensor, n_labels: int, learn: bool = False) -> None:
        super().__init__()
        self.shape_of = shape_of
        self.table = None if table is None else nn.Embedding.from_pretrained(table.clone(), freeze=not learn)
        self.shapes = nn.Embedding(SHAPES + 2, SHAPES)
        width = (2 * WINDOW + 1) * (SHAPES + (0 if table is None else table.shape[1]))
        self.layers = nn.Sequential(
            nn.Linear(width, HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT), nn.Linear(HIDDEN, n_labels)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map windows (B, 2 W + 1) to scores (B, labels)."""
        seen = [self.shapes(self.shape_of[x])]
        if self.table is not None:
            seen.append(self.table(x))
        scores: Tensor = self.layers(torch.cat(seen, -1).flatten(1))
        return scores


def names(table: Floats | None, seed: int, learn: bool = False) -> Rows:
    """Train a classifier of windows, and count the names of the test part, sentence by sentence.

    Parameters
    ----------
    table : (W, D) for `windows().kinds`, or None.
    seed : of first weights, order and dropout.
    learn : whether the table is trained, too.

    Returns
    -------
    for each sentence [twice the right names, those in gold and those said], at the best epoch by val.
    """
    data = windows()
    torch.manual_seed(seed)
    given = None if table is None else torch.from_numpy(table)
    model = WindowTagger(given, data.shape_of, len(data.labels), learn)
    optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], RATE)
    best, kept = -1.0, Rows()
    for _ in range(EPOCHS):
        model.train()
        for some in torch.randperm(len(data.y["train"])).split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(data.x["train"][some]), data.y["train"][some]).backward()
            optimiser.step()
        model.eval()
        with torch.no_grad():
            said: dict[Part, list[list[str]]] = {
                part: data.sentences(model(data.x[part]).argmax(1), part) for part in ("val", "test")
            }
        f1 = entity_scores(data.gold("val"), said["val"]).overall.f1
        if f1 > best:
            best, kept = f1, names_each(data.gold("test"), said["test"])
    return kept

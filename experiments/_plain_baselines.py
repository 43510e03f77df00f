"""What plain methods reach on the tasks of fine-tuning: no network, no pre-training.

Texts: TF-IDF of words and pairs of words, logistic regression. Pairs: the same, and with the hypothesis
alone. Names: each word's most frequent label; a conditional random field with features of the word and its
neighbours. Answers: the longest run of words of the best matching sentence that the question does not have.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from _fine_tuned import names_each, parts_of
from bertlab.tasks.classification import Example, accuracy, class_ids, macro_f1
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.entity_metrics import entity_scores
from bertlab.tasks.squad import Question, gold_answers
from bertlab.tasks.squad_metrics import squad_scores

STRENGTHS = (0.3, 1.0, 3.0, 10.0)  # inverse penalties of the logistic regression, chosen by val
FIELD = {"c1": 0.1, "c2": 0.01, "max_iterations": 100, "feature.possible_transitions": True}
Row = dict[str, Any]  # "test": scores, "each": [what it brings, what it counts] of each example
View = Callable[[Example], str]
Tagger = Callable[[Sequence[str]], list[str]]


def baselines(task: str) -> dict[str, Row]:
    """Measure all plain methods of a task on its test part."""
    parts, labels = parts_of(task)
    if task == "xquad":
        return {"longest new span of the best sentence": _answered(parts["test"])}
    if task in ("wikigold", "wnut17"):
        return {
            "most frequent label of the word": _tagged(by_memory(parts["train"]), parts["test"]),
            "conditional random field": _tagged(by_field(parts["train"]), parts["test"]),
        }
    right = class_ids(parts["test"], labels)
    most = np.bincount(class_ids(parts["train"], labels)).argmax()
    found = {"most frequent class": _scored(right, np.full(len(right), most), len(labels))}
    views: dict[str, View] = {"TF-IDF": both_texts}
    if task == "nli-wikipedia":
        views["TF-IDF of the hypothesis alone"] = lambda example: str(example.text_b)
    for name, view in views.items():
        said = linear(view, parts["train"], parts["val"], parts["test"], labels)
        found[name] = _scored(right, said, len(labels))
    return found


def both_texts(example: Example) -> str:
    """Give the words of both texts, told apart; and of the second ones, whether the first text has them."""
    if example.text_b is None:
        return example.text
    a, b = (re.findall(r"\w+", text.lower()) for text in (example.text, example.text_b))
    shared = [f"both_{word}" if word in set(a) else f"new_{word}" for word in b]
    return " ".join([*(f"a_{word}" for word in a), *b, *shared])


def linear(
    view: View,
    train: Sequence[Example],
    val: Sequence[Example],
    test: Sequence[Example],
    labels: Sequence[str],
    least: int = 2,
) -> np.ndarray:
    """Fit a logistic regression to TF-IDF, its penalty chosen by val, and give the classes of test.

    Parameters
    ----------
    view : what is read of an example.
    least : in how many texts a word or pair must be to count.
    """
    parts = {"train": train, "val": val, "test": test}
    texts = {name: [view(example) for example in some] for name, some in parts.items()}
    models = [
        make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=least),
            LogisticRegression(C=strength, max_iter=1000),
        ).fit(texts["train"], class_ids(train, labels))
        for strength in STRENGTHS
    ]
    best = max(models, key=lambda model: model.score(texts["val"], class_ids(val, labels)))
    return np.asarray(best.predict(texts["test"]))


def _scored(right: np.ndarray, said: np.ndarray, n: int) -> Row:
    scores = {"accuracy": round(accuracy(right, said), 4), "macro_f1": round(macro_f1(right, said, n), 4)}
    return {"test": scores, "each": [[float(hit), 1.0] for hit in right == said]}


def by_memory(train: Sequence[TaggedSentence]) -> Tagger:
    """Give each word the label that it has most often in training, O to those that are new."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in train:
        for word, label in zip(sentence.words, sentence.labels, strict=True):
            seen[word][label] += 1
    return lambda words: [seen[word].most_common(1)[0][0] if word in seen else "O" for word in words]


def by_field(train: Sequence[TaggedSentence]) -> Tagger:
    """Train a linear-chain conditional random field (Lafferty et al. 2001), by python-crfsuite."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence in train:
        trainer.append(features(sentence.words), sentence.labels)
    trainer.set_params(FIELD)
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "field")
        trainer.train(file)
        tagger.open(file)  # reads all of it; `open_inmemory` would keep a pointer to bytes that Python frees
    return lambda words: list(tagger.tag(features(words)))


def features(words: Sequence[str]) -> list[list[str]]:
    """Tell of each word what a reader sees: itself, its shape, its ends, and its neighbours."""
    told = []
    for i, word in enumerate(words):
        mine = ["bias", *(f"end={word[-n:].lower()}" for n in (1, 2, 3)), f"begin={word[:3].lower()}"]
        for offset in (-2, -1, 0, 1, 2):
            if 0 <= i + offset < len(words):
                near = words[i + offset]
                mine += [f"{offset}:{near.lower()}", f"{offset}:shape={shape(near)}"]
            else:
                mine.append(f"{offset}:none")
        told.append(mine)
    return told


def shape(word: str) -> str:
    """Tell capitals, small letters and digits.

    Examples
    --------
    >>> shape("McDonald"), shape("U.S."), shape("1990s")
    ('AaAa', 'A.A.', '0a')
    """
    kinds = re.sub(r"[^\W\d_]", lambda m: "A" if m[0].isupper() else "a", re.sub(r"\d", "0", word))
    return re.sub(r"(.)\1+", r"\1", kinds)


def _tagged(tagger: Tagger, test: Sequence[TaggedSentence]) -> Row:
    gold, said = [one.labels for one in test], [tagger(one.words) for one in test]
    found = entity_scores(gold, said)
    return {
        "test": {"f1": round(found.overall.f1, 4), "word_accuracy": round(found.word_accuracy, 4)},
        "each": names_each(gold, said),
    }


def _answered(test: Sequence[Question]) -> Row:
    found = squad_scores({one.id: longest_new_span(one) for one in test}, gold_answers(test))
    return {
        "test": {"f1": round(found.f1, 4), "exact": round(found.exact, 4)},
        "each": [[float(value), 1.0] for value in found.f1_each],
    }


def longest_new_span(question: Question) -> str:
    """Take the sentence with most words of the question, and its longest run of words that are not in it."""
    asked = set(re.findall(r"\w+", question.text.lower()))
    sentences = [match[0] for match in re.finditer(r"[^.!?]+[.!?]?", question.passage)]
    best = max(sentences, key=lambda one: len(asked & set(re.findall(r"\w+", one.lower()))))
    runs: list[list[re.Match[str]]] = [[]]
    for word in re.finditer(r"\w[\w'-]*", best):
        if word[0].lower() in asked:
            runs.append([])
        else:
            runs[-1].append(word)
    longest = max(runs, key=len)
    return best[longest[0].start() : longest[-1].end()] if longest else best.strip()

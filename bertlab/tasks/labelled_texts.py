"""Public data for classification, each in three parts: what is trained on, chosen by, and judged on.

- sst2: sentences of film reviews, negative or positive (Socher et al. 2013), in the official split. Three
  sentences of train stand again in val (1) or test (2); they are left there, so that scores compare.
- sentence-polarity: more of the same reviews (Pang & Lee 2005), most sentences of sst2 among them: never
  train on one and test on the other. It has no official split; ours goes by the sentence: 8547, 1054, 1061.
- nli-wikipedia: a premise, and a hypothesis that follows from it, contradicts it, or neither. Of a premise's
  hypotheses, one for each answer, the published train has most and val the rest: nearly all its premises are
  in both, and the answer that train has least often with a premise is right 87 times in 100 in val. Hence
  ours joins both, and goes by the premise: 7995, 891 and 882.

Where the split is ours, a checksum of a text's letters says its part: the same one always, on every machine,
in any order, and for a text that differs by spaces or marks alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bertlab import datasets
from bertlab.tasks.classification import Example

CORPORA = ("sst2", "sentence-polarity", "nli-wikipedia")
SENTIMENTS = ("negative", "positive")
ANSWERS = ("entailment", "neutral", "contradiction")
N_BUCKETS = 10  # bucket 0 is test, 1 is val, the others are train


@dataclass(frozen=True)
class LabelledTexts:
    """A data set: its classes in the order of their numbers, and its parts."""

    labels: tuple[str, ...]
    train: list[Example]
    val: list[Example]
    test: list[Example]


def load_labelled(name: str) -> LabelledTexts:
    """Load a public data set for classification.

    Parameters
    ----------
    name : "sst2", "sentence-polarity" or "nli-wikipedia".

    Returns
    -------
    its classes and its three parts, each in the order of the files.

    Raises
    ------
    ValueError
        If the name is another one.
    DataUnavailable, DataDamaged
        As `bertlab.datasets.load`.

    Examples
    --------
    Needs the data::

        texts = load_labelled("nli-wikipedia")
        texts.labels  # ('entailment', 'neutral', 'contradiction')
    """
    if name not in CORPORA:
        raise ValueError(f"{name!r} is no data set for classification: choose one of {CORPORA}")
    dataset = datasets.load(name)
    if name == "sst2":
        parts = (
            [Example(row["sentence"], None, SENTIMENTS[int(row["label"])]) for row in dataset.records(file)]
            for file in ("train.tsv", "dev.tsv", "test.tsv")
        )
        return LabelledTexts(SENTIMENTS, *parts)
    if name == "sentence-polarity":
        files = zip(("rt-polarity.neg", "rt-polarity.pos"), SENTIMENTS, strict=True)
        examples = [
            Example(line.strip(), None, label) for file, label in files for line in dataset.lines(file)
        ]
        return LabelledTexts(SENTIMENTS, *split_by_text(examples))
    rows = [row for file in ("train.tsv", "val.tsv") for row in dataset.records(file)]
    pairs = [Example(row["premise"], row["hypothesis"], row["label"]) for row in rows]
    return LabelledTexts(ANSWERS, *split_by_text(pairs))


def split_by_text(examples: Sequence[Example]) -> tuple[list[Example], list[Example], list[Example]]:
    """Part examples into train, val and test, about 8 : 1 : 1, and no first text into two of them.

    Parameters
    ----------
    examples : in English: only the letters a to z and digits are looked at.

    Returns
    -------
    train, val and test, each in the order given.

    Examples
    --------
    >>> train, val, test = split_by_text([Example(f"Text {n}.") for n in range(1000)])
    >>> len(train), len(val), len(test)
    (782, 108, 110)
    """
    buckets = [_bucket(example.text) for example in examples]
    test, val = ([one for one, b in zip(examples, buckets, strict=True) if b == part] for part in (0, 1))
    return [one for one, b in zip(examples, buckets, strict=True) if b > 1], val, test


def _bucket(text: str) -> int:
    letters = re.sub(r"[^a-z0-9]+", "", text.lower())
    return int.from_bytes(hashlib.sha256(letters.encode()).digest()[:8], "big") % N_BUCKETS

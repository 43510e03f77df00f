"""What the experiments on Multi30k, German to English, share. The set is for non-commercial use."""

from __future__ import annotations

from functools import lru_cache

from _translation import Corpus, train_bpe
from bertlab.datasets import load

TEST = "test_2016_flickr"
PIECES = 8000  # of one vocabulary for both languages


@lru_cache
def sentences(split: str, language: str) -> list[str]:
    """Read one side of one split."""
    return load("multi30k").lines(f"{split}.{language}.gz")


@lru_cache
def corpus() -> Corpus:
    """Cut all captions into the pieces of one vocabulary, learnt from both sides of the training set."""
    tokenizer = train_bpe([*sentences("train", "de"), *sentences("train", "en")], PIECES)
    splits = ("train", "val", TEST)
    return Corpus(tokenizer, {split: (sentences(split, "de"), [sentences(split, "en")]) for split in splits})

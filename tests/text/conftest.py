"""Vocabularies for tests: the published one where the public data is, and a small one always."""

from __future__ import annotations

import os

import pytest

from bertlab import datasets
from bertlab.datasets.fables import fables
from bertlab.text import WordPiece, train_wordpiece


@pytest.fixture(scope="session")
def mirror(tmp_path_factory):
    """Public data sets by name, from the mirror folder, through a cache of their own."""
    if not os.environ.get("BERTLAB_DATA_MIRROR"):
        pytest.skip("BERTLAB_DATA_MIRROR names no folder with the public data sets")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERTLAB_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield datasets.load


@pytest.fixture(scope="session")
def published(mirror) -> list[str]:
    """The 30,522 pieces of bert-base-uncased."""
    return mirror("bert-base-uncased-vocab").lines("vocab.txt")


@pytest.fixture(scope="session")
def small() -> WordPiece:
    """A tokenizer trained on fables, whose letters know accents and Chinese too."""
    return train_wordpiece([*fables(), "我 한 ü ß ø 7 € ί"] * 2, vocab_size=600)

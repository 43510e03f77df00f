"""Claims about training Word2Vec: it learns what stands together, and the seed decides everything."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.text import WordCorpus
from bertlab.training import Word2VecConfig, train_word2vec

GROUPS = (("red", "green", "blue", "grey"), ("one", "two", "three", "four"), ("cat", "dog", "cow", "pig"))


def some_corpus(n: int = 400) -> WordCorpus:
    """Sentences of words of one group, drawn evenly: each of them stands near each, itself among them."""
    rng = np.random.default_rng(0)
    return WordCorpus.of_words([rng.choice(GROUPS[i % 3], 5).tolist() for i in range(n)], min_count=1)


def config(**changes: object) -> Word2VecConfig:
    return Word2VecConfig(**{"d_model": 8, "window": 3, "epochs": 4, "threshold": 0.0, **changes})


@pytest.mark.parametrize("model", ["skip-gram", "cbow"])
def test_words_that_stand_together_become_neighbours(model: str) -> None:
    vectors, losses = train_word2vec(some_corpus(), config(model=model, epochs=40))
    for group in GROUPS:
        for word in group:
            assert {other for other, _ in vectors.neighbours(word, 3)} == set(group) - {word}
    assert losses[0] > 2
    assert losses[-1] < 0.8 * losses[0]


def test_the_seed_decides_everything_and_the_state_of_chance_outside_stays() -> None:
    import torch

    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = train_word2vec(some_corpus(50), config())
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(6)
    again, other = train_word2vec(some_corpus(50), config()), train_word2vec(some_corpus(50), config(seed=1))
    np.testing.assert_array_equal(first.vectors.matrix, again.vectors.matrix)
    assert first.losses == again.losses
    assert (first.vectors.matrix != other.vectors.matrix).any()


@pytest.mark.parametrize(
    "change",
    [{"model": "cbow"}, {"window": 1}, {"negatives": 1}, {"epochs": 1}, {"rate": 0.01}, {"threshold": 0.01}],
    ids=str,
)
def test_every_setting_changes_the_vectors(change: dict[str, object]) -> None:
    corpus = some_corpus(50)
    one, other = train_word2vec(corpus, config()), train_word2vec(corpus, config(**change))
    assert (one.vectors.matrix != other.vectors.matrix).any()


def test_vectors_are_those_of_the_corpus_and_losses_fall_from_what_nothing_known_costs() -> None:
    corpus = some_corpus(50)
    vectors, losses = train_word2vec(corpus, config(rate=1e-9, epochs=1))
    assert vectors.words == corpus.words
    assert vectors.matrix.shape == (12, 8)
    # A negative that is the target does not count: a little under (1 + 5) log 2.
    assert 0.85 * 6 * np.log(2) < losses[0] < 6 * np.log(2)


def test_what_cannot_be_trained_is_refused() -> None:
    alone = WordCorpus.of_words([["a"], ["b"]] * 5, min_count=1)
    with pytest.raises(ValueError, match="no word has another one in its window"):
        train_word2vec(alone, config())
    with pytest.raises(ValueError, match="model='bag': choose 'skip-gram' or 'cbow'"):
        config(model="bag")
    with pytest.raises(ValueError, match="window=0: choose a number above 0"):
        config(window=0)

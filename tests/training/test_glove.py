"""Claims about training GloVe: the gradients are those of the formula, and it learns what stands together."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.nn.glove import GloVe, glove_loss
from bertlab.text import WordCorpus
from bertlab.text.cooccurrence import cooccurrences
from bertlab.training import GloVeConfig, glove, train_glove

GROUPS = (("red", "green", "blue", "grey"), ("one", "two", "three", "four"))


def some_corpus(n: int = 200) -> WordCorpus:
    rng = np.random.default_rng(0)
    return WordCorpus.of_words([rng.permutation(GROUPS[i % 2]).tolist() for i in range(n)], min_count=1)


def test_gradients_are_half_of_the_formula_s() -> None:
    torch.manual_seed(0)
    model = GloVe(vocab_size=6, d_model=3).double()
    entries = torch.randint(6, (20,)), torch.randint(6, (20,)), 200 * torch.rand(20, dtype=torch.float64)
    params = {name: value.detach().requires_grad_() for name, value in model.state_dict().items()}
    loss = glove_loss(entries, params, 50.0, 0.75)
    loss.backward()
    found, told = glove.gradients(entries, model.state_dict(), 50.0, 0.75)
    assert told == pytest.approx(loss.item(), rel=1e-12)
    for name, grad in found.items():
        rows = entries[0] if name.startswith("word") else entries[1]
        whole = torch.zeros_like(params[name]).index_add_(0, rows, grad)
        torch.testing.assert_close(2 * whole, params[name].grad, rtol=1e-9, atol=1e-9)


def test_words_that_stand_together_become_neighbours_and_counts_are_fitted() -> None:
    vectors, losses = train_glove(some_corpus(), GloVeConfig(d_model=8, epochs=60, rate=0.2))
    for group in GROUPS:
        for word in group:
            assert {other for other, _ in vectors.neighbours(word, 3)} == set(group) - {word}
    assert len(losses) == 60
    assert losses[-1] < 0.01 * losses[0]


def test_the_first_loss_is_that_of_the_first_weights() -> None:
    corpus = some_corpus(40)
    _, losses = train_glove(corpus, GloVeConfig(d_model=8, epochs=1, rate=1e-9, seed=3))
    torch.manual_seed(3)
    found = cooccurrences(corpus, 10)
    entries = [torch.from_numpy(part) for part in found]
    loss = GloVe(len(corpus.words), 8).loss(entries[0].long(), entries[1].long(), entries[2].float())
    assert losses[0] == pytest.approx(loss.item() / len(found.rows), rel=1e-5)


def test_the_seed_decides_everything() -> None:
    corpus, small = some_corpus(40), {"d_model": 4, "epochs": 2}
    one, again = (train_glove(corpus, GloVeConfig(**small)) for _ in range(2))
    np.testing.assert_array_equal(one.vectors.matrix, again.vectors.matrix)
    other = train_glove(corpus, GloVeConfig(**small, seed=1))
    assert (one.vectors.matrix != other.vectors.matrix).any()


@pytest.mark.parametrize(
    "change", [{"window": 1}, {"cut": 5.0}, {"power": 0.5}, {"epochs": 1}, {"rate": 0.01}], ids=str
)
def test_every_setting_changes_the_vectors(change: dict[str, float]) -> None:
    corpus, small = some_corpus(40), {"d_model": 4, "epochs": 2}
    one, other = (train_glove(corpus, GloVeConfig(**small | more)) for more in ({}, change))
    assert (one.vectors.matrix != other.vectors.matrix).any()


def test_a_setting_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="cut=0: choose a number above 0"):
        GloVeConfig(cut=0)

"""Claims about training the neural language model: each run of words once an epoch, and it learns order."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.text import WordCorpus
from bertlab.text.windows import word_runs
from bertlab.training import NNLMConfig, nnlm, train_nnlm


def some_corpus() -> WordCorpus:
    return WordCorpus.read(["one two three four five", "five four three two one"] * 30, min_count=1)


def config(**changes: object) -> NNLMConfig:
    small = {"d_model": 6, "d_hidden": 12, "n_context": 2, "epochs": 40, "batch_size": 30, "rate": 0.02}
    return NNLMConfig(**small | changes)


@pytest.mark.parametrize("direct", [False, True])
def test_it_learns_that_order_matters(direct: bool) -> None:
    model, (vectors, losses) = train_nnlm(some_corpus(), config(direct=direct))
    places = {word: vectors.place(word) for word in vectors.words}
    for context, following in (("two three", "four"), ("four three", "two")):
        logits = model(torch.tensor([[places[word] for word in context.split()]]))
        assert vectors.words[int(logits.argmax())] == following
    assert losses[-1] < 0.1 < losses[0]
    np.testing.assert_array_equal(vectors.matrix, model.table.weight.detach().numpy())


def test_an_epoch_holds_each_run_once_in_an_order_of_its_own() -> None:
    corpus = some_corpus()
    firsts = word_runs(corpus, 3)
    batch = nnlm._batches(corpus, firsts, 30, 2, seed=0)
    a_epoch = len(firsts) // 30
    epochs = [[batch(e * a_epoch + i) for i in range(a_epoch)] for e in range(2)]
    runs = [torch.cat([torch.cat([c, f[:, None]], 1) for c, f in epoch]).tolist() for epoch in epochs]
    wanted = [corpus.ids[i : i + 3].tolist() for i in firsts]
    assert sorted(runs[0]) == sorted(runs[1]) == sorted(wanted)
    assert runs[0] != runs[1]
    again = nnlm._batches(corpus, firsts, 30, 2, seed=0)(a_epoch + 1)
    assert torch.equal(again[0], epochs[1][1][0])


def test_the_seed_decides_everything() -> None:
    one, again, other = (train_nnlm(some_corpus(), config(epochs=1, seed=seed))[1] for seed in (0, 0, 1))
    assert one.losses == again.losses
    assert one.losses != other.losses


def test_sentences_that_are_too_short_are_refused() -> None:
    with pytest.raises(ValueError, match="no sentence has n=6 words"):
        train_nnlm(some_corpus(), config(n_context=5))

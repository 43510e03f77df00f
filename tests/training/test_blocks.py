"""Claims about blocks: their pairs are those of the text, their gradients those of the formulas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bertlab.nn.word2vec import cbow_loss, skip_gram_loss
from bertlab.text.windows import Thinned, window_pairs, windows
from bertlab.training import blocks as module
from bertlab.training.blocks import BLOCK, Blocks, Gradients, blocks, cbow_gradients, skip_gram_gradients

V, D, N, K, WINDOW = 6, 3, 4, 2, 3


@st.composite
def texts(draw: st.DrawFn) -> Thinned:
    """Up to three blocks of text, in sentences of 1 to 9 words."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    lengths = rng.integers(1, 10, size=draw(st.integers(1, 15)))
    n = lengths.sum()
    sentences = np.repeat(np.arange(len(lengths)), lengths)
    return Thinned(rng.integers(0, V, size=n), sentences, rng.integers(1, WINDOW + 1, size=n))


def pairs_in(some: Blocks) -> list[tuple[int, int]]:
    """Places in the text of all pairs that a step asks for."""
    g, i, j = (places.numpy() for places in some.mask.nonzero(as_tuple=True))
    start = some.numbers[g] * BLOCK
    return list(zip((start + i).tolist(), (start + j - WINDOW).tolist(), strict=True))


@settings(max_examples=40)
@given(text=texts(), at_once=st.integers(1, 4))
def test_the_blocks_hold_all_pairs_of_the_text_once(text: Thinned, at_once: int) -> None:
    found = list(blocks(text, WINDOW, np.random.default_rng(0), at_once))
    places = sorted(pair for some in found for pair in pairs_in(some))
    assert places == list(zip(*(found.tolist() for found in window_pairs(text)), strict=True))
    rows = {
        number: row for some in found for number, row in zip(some.numbers, some.centres.tolist(), strict=True)
    }
    words = [word for number in range(len(rows)) for word in rows[number]]
    assert words[: len(text.ids)] == text.ids.tolist()
    for some in found:
        middle = some.around[:, WINDOW : WINDOW + BLOCK]
        assert torch.equal(middle, some.centres)


def some_tables(seed: int = 0) -> tuple[Tensor, Tensor]:
    torch.manual_seed(seed)
    return torch.randn(V, D, dtype=torch.float64), torch.randn(V, D, dtype=torch.float64)


def dense(gradients: Gradients) -> dict[str, Tensor]:
    """The gradients of both tables whole."""
    return {
        f"{name}.weight": torch.zeros(V, D, dtype=torch.float64).index_add_(0, *rows)
        for name, rows in (("input", gradients.input), ("output", gradients.output))
    }


def by_autograd(
    text: Thinned, noise: Tensor, tables: tuple[Tensor, Tensor], cbow: bool
) -> tuple[Tensor, dict]:
    """The summed loss of all pairs, or places, and its gradients, by the formula."""
    names = "input.weight", "output.weight"
    params = {name: table.clone().requires_grad_() for name, table in zip(names, tables, strict=True)}
    share = K / N
    if cbow:
        places, mask = windows(text)
        asked = mask.any(1)
        where = np.flatnonzero(asked)
        around, real = torch.tensor(text.ids[places[asked]]), torch.tensor(mask[asked])
        targets, negatives = torch.tensor(text.ids[where]), noise[where // BLOCK]
        loss = cbow_loss(around, real, targets, negatives, params, share) * len(where)
    else:
        centres, contexts = window_pairs(text)
        words, others = torch.tensor(text.ids[centres]), torch.tensor(text.ids[contexts])
        loss = skip_gram_loss(words, others, noise[centres // BLOCK], params, share) * len(centres)
    loss.backward()
    return loss.detach(), {name: value.grad for name, value in params.items()}


@pytest.mark.parametrize("cbow", [False, True], ids=["skip-gram", "cbow"])
@settings(max_examples=40)
@given(text=texts(), seed=st.integers(0, 99))
def test_loss_and_gradients_are_those_of_the_formula_pair_by_pair(
    cbow: bool, text: Thinned, seed: int
) -> None:
    centres, _ = window_pairs(text)
    gradients_of: Callable[..., Gradients] = cbow_gradients if cbow else skip_gram_gradients
    tables = some_tables(seed)
    (some,) = blocks(text, WINDOW, np.random.default_rng(0), at_once=9)
    noise = torch.randint(V, (len(some.centres), N))  # of the blocks in the order of the text
    found = gradients_of(some, noise[some.numbers], K, *tables)
    if not len(centres):
        assert found.loss() == (0, 0)
        assert all((grad == 0).all() for grad in dense(found).values())
        return
    loss, wanted = by_autograd(text, noise, tables, cbow)
    n = len(np.unique(centres)) if cbow else len(centres)
    assert found.loss() == (pytest.approx(loss.item(), rel=1e-10), n)
    for name, grad in dense(found).items():
        torch.testing.assert_close(grad, wanted[name], rtol=1e-9, atol=1e-9)


def test_shared_noise_has_the_mean_of_noise_drawn_for_each_pair() -> None:
    """One word counting twice costs, over all words, what two counting once cost over all pairs."""
    text = Thinned(np.array([0, 1]), np.array([0, 0]), np.array([1, 1]))
    (some,), tables = blocks(text, 1, np.random.default_rng(0)), some_tables()
    one = [skip_gram_gradients(some, torch.tensor([[word]]), 2, *tables).loss()[0] for word in range(V)]
    params = dict(zip(("input.weight", "output.weight"), tables, strict=True))
    centres, contexts = torch.tensor([0, 1]), torch.tensor([1, 0])
    every = torch.cartesian_prod(torch.arange(V), torch.arange(V))
    two = [float(2 * skip_gram_loss(centres, contexts, noise.expand(2, 2), params)) for noise in every]
    assert np.mean(one) == pytest.approx(np.mean(two), rel=1e-12)


def test_a_text_of_nothing_has_no_blocks_and_the_module_s_block_is_the_one_tested() -> None:
    empty = np.empty(0, np.int64)
    assert list(blocks(Thinned(empty, empty, empty), WINDOW, np.random.default_rng(0))) == []
    assert (module.BLOCK, module.SHARED) == (32, 32)


def test_blocks_come_in_an_order_of_the_generator_s() -> None:
    text = Thinned(np.zeros(BLOCK * 50, np.int64), np.zeros(BLOCK * 50, np.int64), np.ones(BLOCK * 50, int))
    orders = [
        np.concatenate(
            [some.numbers for some in blocks(text, WINDOW, np.random.default_rng(seed), 8)]
        ).tolist()
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(50)) != orders[0]

"""ELMo of both wings: what its three layers are made of, and what each direction is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from tests import loops
from tests.inputs import CONCEPTS, Arguments, Sizes, examples_of
from tests.stacks import part
from tests.wing import Wing

exact, close = np.testing.assert_array_equal, np.testing.assert_allclose
SIZES = Sizes(B=2, Tq=5, Tk=3, H=1, K=4, D=3, A=7)


def some(kind: str, concept: str = "bidirectional_lm_loss") -> Arguments:
    """Arguments of a model that reads "ids" or "characters"; two rows of five tokens, unmasked."""
    for seed in range(99):
        arguments = CONCEPTS[concept](SIZES, np.random.default_rng(seed))
        if arguments[0].ndim == {"ids": 2, "characters": 3}[kind]:
            return (*arguments[:-1], None)
    raise AssertionError("none was drawn")


@examples_of("elmo")
def test_the_layers_are_those_of_a_bidirectional_lm_over_word_vectors(
    wing: Wing, arguments: Arguments
) -> None:
    inputs, params, mask = arguments
    embeddings = part(params, "embeddings")
    spelled = inputs.ndim == 3
    x = wing.character_cnn(inputs, embeddings) if spelled else wing.embedding(inputs, embeddings["weight"])
    for found, wanted in zip(
        wing.elmo(*arguments), wing.bidirectional_lm(x, part(params, "layers"), mask), strict=True
    ):
        close(found, wanted, atol=1e-12)


@examples_of("bidirectional_lm_loss")
def test_the_loss_is_the_mean_surprise_at_each_neighbour(wing: Wing, arguments: Arguments) -> None:
    inputs, ids, params, mask = arguments
    states = wing.elmo(inputs, part(params, "elmo"), mask)[-1]
    spelled, D = inputs.ndim == 3, states.shape[-1] // 2
    table = params["output.weight"] if spelled else params["elmo.embeddings.weight"]
    real = np.ones(ids.shape, dtype=bool) if mask is None else mask
    losses = []
    for half, step in ((slice(D), 1), (slice(D, None), -1)):
        rows = [
            (loops.linear(states[b, t, half], table, params["output.bias"]), int(ids[b, t + step]))
            for b, t in np.ndindex(ids.shape)
            if 0 <= t + step < ids.shape[1] and real[b, t] and real[b, t + step]
        ]
        losses.append(loops.cross_entropy([row for row, _ in rows], [target for _, target in rows]))
    joint, forward, backward = wing.bidirectional_lm_loss(*arguments)
    close([forward, backward, joint], [*losses, sum(losses)], atol=1e-10)


def test_one_softmax_serves_both_directions(wing: Wing) -> None:
    inputs, ids, params, _ = some("characters")
    before = wing.bidirectional_lm_loss(inputs, ids, params)
    other = params["output.weight"] * 1.1
    after = wing.bidirectional_lm_loss(inputs, ids, {**params, "output.weight": other})
    assert before[1] != after[1]
    assert before[2] != after[2]


def test_D32_a_model_of_ids_scores_with_the_table_it_reads(wing: Wing) -> None:
    inputs, _, params, _ = some("ids")
    assert "output.weight" not in params
    few = np.minimum(inputs, 4)
    gradients = wing.bidirectional_lm_loss_vjp(1.0, few, few, params)
    assert (gradients["elmo.embeddings.weight"][5:] != 0).all()  # never read; scored, and they lose


@pytest.mark.parametrize("kind", ["ids", "characters"])
def test_D04_padding_changes_neither_loss_nor_gradient(wing: Wing, kind: str) -> None:
    inputs, ids, params, _ = some(kind)
    alone = wing.bidirectional_lm_loss(inputs, ids, params)
    widths = [(0, 0), (0, 3)] + [(0, 0)] * (inputs.ndim - 2)
    padded, targets = np.pad(inputs, widths, constant_values=1), np.pad(ids, ((0, 0), (0, 3)))
    mask = np.arange(8) < np.full((2, 1), 5)
    close(wing.bidirectional_lm_loss(padded, targets, params, mask), alone, atol=1e-10)
    gradients = wing.bidirectional_lm_loss_vjp(1.0, inputs, ids, params)
    for name, found in wing.bidirectional_lm_loss_vjp(1.0, padded, targets, params, mask).items():
        close(found, gradients[name], atol=1e-10, err_msg=name)


def test_tokens_that_the_softmax_does_not_know_are_read_and_not_asked_for(wing: Wing) -> None:
    inputs, ids, params, _ = some("characters")
    unknown = np.full_like(ids, -100)
    assert wing.bidirectional_lm_loss(inputs, unknown, params) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("kind", ["ids", "characters"])
def test_each_parameter_matters(wing: Wing, rng: np.random.Generator, kind: str) -> None:
    inputs, ids, params, _ = some(kind)
    before = wing.bidirectional_lm_loss(inputs, ids, params)[0]
    for name, value in params.items():
        after = wing.bidirectional_lm_loss(
            inputs, ids, {**params, name: value + rng.normal(size=value.shape)}
        )[0]
        assert before != after, name


def test_parameters_of_the_other_kind_are_refused(wing: Wing) -> None:
    inputs, ids, params, _ = some("ids")
    with pytest.raises(ValueError, match=r"\['weight'\] left over"):
        wing.bidirectional_lm_loss(inputs, ids, params | {"output.weight": np.ones((7, 3))})
    with pytest.raises(ValueError, match="lacks"):
        wing.elmo(inputs[..., None], part(params, "elmo"))

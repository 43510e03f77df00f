"""ELMo and its parts against the reference, and the modules: masks, dropout, first weights, learning."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.nn import ELMo, ELMoConfig, ELMoForPreTraining, ScalarMix
from bertlab.nn.character_cnn import CharacterCNN, character_cnn
from bertlab.nn.elmo import bidirectional_lm_loss, elmo
from bertlab.nn.highway import Highway
from bertlab.nn.scalar_mix import scalar_mix
from tests.inputs import arguments_of
from tests.nn.parity import check

CONCEPTS = ("highway", "character_cnn", "scalar_mix", "bidirectional_lm", "elmo", "bidirectional_lm_loss")
PIECES = ELMoConfig(vocab_size=30, d_model=6, d_memory=8, n_characters=0, dropout=0.0)
SPELLED = replace(PIECES, n_characters=12, d_character=3, filters=((1, 2), (3, 4)))
KINDS = pytest.mark.parametrize("config", [PIECES, SPELLED], ids=["ids", "characters"])


@pytest.mark.parametrize("concept", CONCEPTS)
@settings(max_examples=20)
@given(data=st.data())
def test_both_wings_agree_forward_and_backward(concept: str, data: st.DataObject) -> None:
    check(concept, data.draw(arguments_of(concept)))


def some_inputs(config: ELMoConfig) -> tuple[torch.Tensor, torch.Tensor]:
    """Two texts of 5 and 3 tokens as ids (B, T), and what the model reads."""
    ids = torch.tensor([[2, 7, 8, 9, 3], [2, 7, 3, 0, 0]])
    spelling = np.random.default_rng(0).integers(1, 12, size=(30, 4)) * (np.arange(4) < 3)
    spelling[0] = 0  # of [PAD]
    return ids, torch.tensor(spelling)[ids] if config.n_characters else ids


@KINDS
def test_the_module_is_the_function_with_its_own_parameters(config: ELMoConfig) -> None:
    model = ELMoForPreTraining(config).double()
    ids, inputs = some_inputs(config)
    mask = ids != 0
    layers = elmo(inputs, model.elmo.state_dict(), mask)
    for found, expected in zip(model.elmo(inputs).layers, layers, strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    losses = bidirectional_lm_loss(inputs, ids, model.state_dict(), mask)
    for one, other in zip(model.loss(inputs, ids), losses, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@KINDS
def test_scores_at_a_position_are_of_its_neighbours(config: ELMoConfig) -> None:
    model = ELMoForPreTraining(config).double()
    ids, inputs = some_inputs(config)
    answer = model(inputs)
    real = ids != 0
    following = answer.of_next.log_softmax(-1)[:, :-1].gather(2, ids[:, 1:, None])[real[:, 1:]]
    before = answer.of_previous.log_softmax(-1)[:, 1:].gather(2, ids[:, :-1, None])[real[:, 1:]]
    _, forward, backward = model.loss(inputs, ids)
    torch.testing.assert_close(forward, -following.mean())
    torch.testing.assert_close(backward, -before.mean())
    assert answer.elmo.states is answer.elmo.layers[-1]


@KINDS
def test_D04_padding_is_found_by_itself_and_never_read(config: ELMoConfig) -> None:
    model = ELMo(config).double()
    _, inputs = some_inputs(config)
    found = model(inputs).layers
    alone = model(inputs[1:, :3]).layers
    for long, short in zip(found, alone, strict=True):
        torch.testing.assert_close(long[1, :3], short[0], rtol=0, atol=1e-12)
        assert (long[1, 3:] == 0).all()


@KINDS
def test_D06_dropout_stops_in_evaluation(config: ELMoConfig) -> None:
    model = ELMoForPreTraining(replace(config, dropout=0.5))
    ids, inputs = some_inputs(config)
    assert model.loss(inputs, ids)[0] != model.loss(inputs, ids)[0]
    model.eval()
    assert model.loss(inputs, ids)[0] == model.loss(inputs, ids)[0]


def test_a_word_that_stands_there_twice_has_one_vector() -> None:
    module = CharacterCNN(12, 3, ((1, 2), (3, 4)), 1, 5).double()
    words = torch.tensor([[[1, 2, 3], [4, 5, 0]], [[4, 5, 0], [0, 0, 0]]])
    found = module(words)
    assert torch.equal(found[0, 1], found[1, 0])
    by_function = character_cnn(words, module.state_dict())
    torch.testing.assert_close(found, by_function, rtol=0, atol=1e-12)


def test_the_softmax_of_a_model_of_ids_is_their_table() -> None:
    model = ELMoForPreTraining(PIECES)
    assert model.table is model.elmo.embeddings.weight
    assert [name for name, _ in model.named_parameters() if name.startswith("output")] == ["output.bias"]
    spelled = ELMoForPreTraining(SPELLED)
    assert spelled.table is spelled.output.weight


def test_first_weights_keep_memories_and_let_words_pass_the_highways() -> None:
    model = ELMo(SPELLED)
    for side in (model.layers.forwards, model.layers.backwards):
        for layer in side:
            assert layer.b_input.view(4, -1).mean(1).tolist() == [0, 1, 0, 0]
            assert (layer.b_hidden == 0).all()
    assert (Highway(4).gate.bias == -2).all()


@KINDS
def test_first_scores_are_near_even(config: ELMoConfig) -> None:
    model = ELMoForPreTraining(replace(config, d_model=32, d_memory=32))
    ids, inputs = some_inputs(config)
    _, *losses = model.loss(inputs, ids)
    assert all(abs(loss.item() - np.log(30)) < 0.5 for loss in losses)


@KINDS
def test_a_model_learns_a_text_by_heart(config: ELMoConfig) -> None:
    torch.manual_seed(0)
    model = ELMoForPreTraining(replace(config, d_model=16, d_memory=24))
    ids, inputs = some_inputs(config)
    optimizer = torch.optim.Adam(model.parameters(), 0.03)
    for _ in range(60):
        optimizer.zero_grad()
        joint, forward, backward = model.loss(inputs, ids)
        joint.backward()
        optimizer.step()
    assert forward < 0.3  # of two texts that begin alike, the third token cannot be known: 2 ln 2 / 6
    assert backward < 0.3


@pytest.mark.parametrize(("config", "shape"), [(PIECES, (1, 2, 3)), (SPELLED, (1, 2))])
def test_inputs_of_the_other_kind_are_refused(config: ELMoConfig, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="but this model reads"):
        ELMo(config)(torch.ones(shape, dtype=torch.int64))


def test_a_mix_begins_with_equal_shares_and_is_drawn_to_them() -> None:
    mix, layers = ScalarMix(3), torch.randn(3, 2, 4)
    torch.testing.assert_close(mix(layers), layers.mean(0))
    mix.weights.data = torch.tensor([1.0, 2.0, -2.0])
    torch.testing.assert_close(mix(layers), scalar_mix(layers, mix.weights, mix.gamma))
    assert mix.penalty() == 9
    normed: Any = ScalarMix(3, norm=True)(5 * layers)
    torch.testing.assert_close(normed, ScalarMix(3, norm=True)(layers), atol=1e-4, rtol=0)

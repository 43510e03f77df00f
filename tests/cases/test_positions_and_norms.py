"""Edge cases of positions (D07, D08), of norms (D09), and of whole stacks (D06, D11)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.nn import Decoder, Encoder, LearnedPositions, Residual, SinusoidalPositions
from bertlab.nn.masking import causal_mask
from tests.stacks import NormFirst
from tests.wing import Wing

close = np.testing.assert_allclose

ONE = {"norm.weight": np.ones(2), "norm.bias": np.zeros(2)}
X, POST_LN, PRE_LN = np.array([3.0, -1.0]), [1.0, -1.0], [5.0, -3.0]  # around the sublayer f(v) = 2v


def test_D07_an_odd_width_ends_with_a_sine(wing: Wing) -> None:
    row = wing.sinusoidal_positions(2, 5)[1]
    close(row, [0.841471, 0.540302, 0.025116, 0.999685, 0.000631], atol=1e-6)


def test_D07_sine_and_cosine_of_a_pair_share_one_frequency(wing: Wing) -> None:
    row = wing.sinusoidal_positions(4, 4)[3]
    close(row, [0.141120, -0.989992, 0.029996, 0.999550], atol=1e-6)  # 0.0003 with exponents 2i and 2i + 2


@pytest.mark.parametrize("module", [SinusoidalPositions, LearnedPositions])
@pytest.mark.parametrize("device", ["cpu", *["cuda"] * torch.cuda.is_available()])
def test_D08_a_sequence_longer_than_the_table_is_refused_in_one_sentence(
    module: type[torch.nn.Module], device: str
) -> None:
    positions = module(8, 4).to(device)
    assert positions(torch.zeros(2, 8, 4, device=device)).shape == (2, 8, 4)
    with pytest.raises(ValueError, match=r"^9 positions[^\n]* 8[^\n]*$"):
        positions(torch.zeros(2, 9, 4, device=device))
    with pytest.raises(ValueError, match=r"^9 positions[^\n]* 8[^\n]*$"):
        positions(torch.zeros(2, 1, 4, device=device), start=8)  # the ninth, decoded step by step


def test_D08_the_function_refuses_it_too(wing: Wing) -> None:
    table = np.zeros((8, 4))
    assert wing.learned_positions(8, table).shape == (8, 4)
    with pytest.raises(ValueError, match=r"9.*8"):
        wing.learned_positions(9, table)


def test_D09_the_variance_is_divided_by_n(wing: Wing) -> None:
    x, expected = np.array([1.0, 2.0, 3.0, 4.0]), [-1.341641, -0.447214, 0.447214, 1.341641]
    close(wing.layer_norm(x, np.ones(4), np.zeros(4), 0.0), expected, atol=1e-6)  # 1.161895 by n - 1
    theirs = torch.nn.functional.layer_norm(torch.tensor(x), (4,), eps=1e-5)
    close(wing.layer_norm(x, np.ones(4), np.zeros(4), 1e-5), theirs, atol=1e-12)


def test_D09_epsilon_is_added_inside_the_root(wing: Wing) -> None:
    x = np.array([1.0, -1.0])  # variance 1
    close(wing.layer_norm(x, np.ones(2), np.zeros(2), 3.0), [0.5, -0.5])  # outside: 1 / (1 + 3) = 0.25


@pytest.mark.parametrize(("norm_first", "expected"), [(False, POST_LN), (True, PRE_LN)])
def test_D09_the_residual_is_taken_before_the_norm(
    wing: Wing, norm_first: bool, expected: list[float]
) -> None:
    seen = wing.before_sublayer(X, ONE, norm_first, 0.0)
    close(wing.after_sublayer(X, 2 * seen, ONE, norm_first, 0.0), expected)  # LN(x) + f(LN(x)) is [3, -3]


@pytest.mark.parametrize(("norm_first", "expected"), [(False, POST_LN), (True, PRE_LN)])
def test_D09_the_module_has_the_same_two_orders(norm_first: bool, expected: list[float]) -> None:
    residual, x = Residual(2, norm_first=norm_first, eps=0.0).double(), torch.tensor(X)
    close(residual.after(x, 2 * residual.before(x)).detach(), expected)


@NormFirst
def test_D06_dropout_of_a_whole_encoder_stops_in_evaluation(norm_first: bool) -> None:
    torch.manual_seed(0)
    dropped = Encoder(2, 8, 2, 16, dropout=0.9, attention_dropout=0.9, norm_first=norm_first).eval()
    kept = Encoder(2, 8, 2, 16, norm_first=norm_first)
    kept.load_state_dict(dropped.state_dict())
    x = torch.randn(2, 5, 8)
    first, second = (dropped(x)[0] for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(first, kept(x)[0])
    dropped.train()
    first, second = (dropped(x)[0] for _ in range(2))
    assert not torch.allclose(first, second)


@NormFirst
def test_D11_later_targets_leave_earlier_outputs_of_a_two_layer_decoder_unchanged(norm_first: bool) -> None:
    torch.manual_seed(0)
    decoder = Decoder(2, 8, 2, 16, norm_first=norm_first)
    x, memory, mask = torch.randn(2, 6, 8), torch.randn(2, 4, 8), causal_mask(6)
    before, *_ = decoder(x, memory, mask)
    for t in range(5):
        changed = x.clone()
        changed[:, t + 1 :] = torch.randn(2, 5 - t, 8)
        after, *_ = decoder(changed, memory, mask)
        torch.testing.assert_close(after[:, : t + 1], before[:, : t + 1], rtol=0, atol=1e-6)
        assert not torch.allclose(after[:, t + 1 :], before[:, t + 1 :])

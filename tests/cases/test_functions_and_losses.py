"""Edge cases of norms, activations and losses (D09, D10, D12, D33)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.wing import Wing

close = np.testing.assert_allclose


def test_D09_layer_norm_divides_the_variance_by_n(wing: Wing) -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    found = wing.layer_norm(x, np.ones(4), np.zeros(4), 0.0)
    close(found, [-1.341641, -0.447214, 0.447214, 1.341641], atol=1e-6)  # 1.161895 when divided by n - 1
    theirs = torch.nn.LayerNorm(4, eps=1e-5, dtype=torch.float64)(torch.tensor(x))
    close(wing.layer_norm(x, np.ones(4), np.zeros(4), 1e-5), theirs.detach(), atol=1e-12)


def test_D10_the_exact_gelu_and_the_one_by_tanh(wing: Wing) -> None:
    x = np.array([2.0, -1.0])
    close(wing.gelu(x), [1.954500, -0.158655], atol=5e-7)
    close(wing.gelu_tanh(x), [1.954598, -0.158808], atol=5e-7)


# D12: the last row is padding, and the model is sure of something wrong there.
PAD = 0
LOGITS = np.array([[2.0, 0, 1, 0, 0], [0, 3, 0, 0, 0], [1, 1, 1, 1, 9]])
TARGETS = np.array([2, 1, PAD])


def test_D12_without_smoothing_the_loss_is_the_mean_over_what_is_no_padding(wing: Wing) -> None:
    close(wing.cross_entropy(LOGITS, TARGETS, PAD), 0.8774, atol=1e-4)


def test_D12_smoothing_gives_every_class_its_share_of_epsilon(wing: Wing) -> None:
    """ε/V on all V classes, as in PyTorch; 1.0774 is ε/(V - 2) on the wrong ones that are no padding."""
    found = wing.cross_entropy(LOGITS, TARGETS, PAD, 0.1)
    close(found, 1.0174, atol=1e-4)
    theirs = torch.nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
    close(found, theirs(torch.tensor(LOGITS), torch.tensor(TARGETS)), atol=1e-12)
    log_p = wing.log_softmax(LOGITS[:2])
    right = log_p[[0, 1], TARGETS[:2]]
    wrong_no_padding = log_p[:, 1:].sum(axis=1) - right
    other = -0.9 * right - 0.1 / 3 * wrong_no_padding
    close([*other, other.mean()], [1.6732, 0.4816, 1.0774], atol=1e-4)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_D12_ten_more_rows_of_padding_change_nothing(
    wing: Wing, rng: np.random.Generator, smoothing: float
) -> None:
    logits = np.concatenate([LOGITS, rng.normal(size=(10, 5))])
    targets = np.concatenate([TARGETS, np.full(10, PAD)])
    before = wing.cross_entropy(LOGITS, TARGETS, PAD, smoothing)
    close(wing.cross_entropy(logits, targets, PAD, smoothing), before, atol=1e-12)
    gradient = wing.cross_entropy_vjp(1.0, logits, targets, PAD, smoothing)
    close(gradient[:3], wing.cross_entropy_vjp(1.0, LOGITS, TARGETS, PAD, smoothing), atol=1e-12)
    assert (gradient[2:] == 0).all()


def logits_with_losses(*losses: float) -> np.ndarray:
    """Rows over two classes, whose loss for class 0 is as wanted."""
    return np.array([[0.0, np.log(np.expm1(loss))] for loss in losses])


def test_D33_the_mean_runs_over_the_positions_that_count(wing: Wing) -> None:
    logits, targets = logits_with_losses(2, 0.5, 9), np.array([0, 0, -100])
    close(wing.cross_entropy(logits, targets), 1.25, atol=1e-6)  # 3.8333 when all three share


def test_D33_two_batches_are_joined_by_their_numbers_of_targets(wing: Wing) -> None:
    one, three = logits_with_losses(4), logits_with_losses(1, 1, 1)
    whole, targets = np.concatenate([one, three]), np.zeros(4, dtype=int)
    close(wing.cross_entropy(whole, targets), 1.75, atol=1e-6)  # the mean of the two means is 2.5
    parts = [(1 / 4, one), (3 / 4, three)]
    joined = sum(share * wing.cross_entropy(part, targets[: len(part)]) for share, part in parts)
    gradients = [wing.cross_entropy_vjp(share, part, targets[: len(part)]) for share, part in parts]
    close(joined, 1.75, atol=1e-6)
    close(np.concatenate(gradients), wing.cross_entropy_vjp(1.0, whole, targets), atol=1e-12)

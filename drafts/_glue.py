"""Ways to join two readers who never meet: weights for their opinions, or a layer that is trained on top.

The plain product of `_arms.joined` believes both opinions and takes the sides for independent. Readers who
have learnt little give every piece a little, and divided by how frequent they are, rare pieces come out
first. So three weights are fitted, on other text. A trained top needs no opinions: it learns from what either
reader's state holds, as ELMo's users put a network on it. It shows what is lost when readers are glued at the
end, whatever the glue.
"""

from __future__ import annotations

import torch
from _arms import FLOOR, PLAIN, Arm, TwoSidedArm, joined
from _arms_training import Feed
from torch import Tensor, nn

from bertlab.nn.bert_heads import at
from bertlab.nn.functional import gelu, log_softmax
from bertlab.nn.losses import cross_entropy
from bertlab.training import fit, linear_decay


def weights_of(
    opinions: Tensor, log_unigram: Tensor, truth: Tensor, iterations: int = 60
) -> tuple[float, float, float]:
    """Find the weights of `joined` under which the truth is likeliest; a concave problem in three numbers.

    Parameters
    ----------
    opinions : (2, M, V) logarithms.
    log_unigram : (V,)
    truth : (M,) what stood there; or (M, V) chances.
    iterations : of L-BFGS, at most.
    """
    opinions, weights = opinions.clamp(min=FLOOR), torch.tensor(PLAIN, requires_grad=True)
    solver = torch.optim.LBFGS([weights], max_iter=iterations, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        solver.zero_grad()
        left, right, alone = weights
        log_p = log_softmax(left * opinions[0] + right * opinions[1] + alone * log_unigram)
        found = -(
            log_p[torch.arange(len(truth)), truth] if truth.dim() == 1 else (truth * log_p).sum(1)
        ).mean()
        found.backward()
        return found

    with torch.enable_grad():
        solver.step(loss)
    left, right, alone = weights.tolist()
    return left, right, alone


def adjust(arm: Arm, texts: Tensor, positions: Tensor, truth: Tensor, iterations: int = 60) -> None:
    """Fit the weights by which an arm of two readers joins their opinions; other arms have none.

    Parameters
    ----------
    texts, positions, truth : what it is asked, none of it in a test; see `Arm.log_p` and `weights_of`.
    """
    if isinstance(arm, TwoSidedArm):
        with torch.no_grad():
            said = arm.opinions(texts, positions)
        arm.weights = weights_of(said, arm.log_unigram, truth, iterations)


def plain(arm: TwoSidedArm, ids: Tensor, positions: Tensor) -> Tensor:
    """As `Arm.log_p`, with the weights of Bayes' rule."""
    return joined(arm.opinions(ids, positions), arm.log_unigram)


class Top(nn.Module):
    """One layer over both states beside a place, and a softmax over the table: BERT's masked-LM head.

    Parameters
    ----------
    arm : what reads. It is not trained, nor is its table.
    """

    def __init__(self, arm: TwoSidedArm) -> None:
        super().__init__()
        self.reader = (arm,)  # in a tuple, so that its weights are none of this module's
        V, D = len(arm.log_unigram), arm.layers(torch.tensor([[2, 3]]))[-1].shape[-1] // 2
        self.dense, self.norm = nn.Linear(2 * D, D), nn.LayerNorm(D)
        self.bias = nn.Parameter(torch.zeros(V))

    def logits(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Score the vocabulary at M positions, by what was read up to them from both sides: (M, V)."""
        arm = self.reader[0]
        with torch.no_grad():
            ahead, back = arm.layers(ids)[-1].chunk(2, -1)
            beside = torch.cat([at(ahead, positions - 1), at(back, positions + 1)], -1)  # (M, 2D)
        scores: Tensor = arm.score(self.norm(gelu(self.dense(beside)))) + self.bias
        return scores

    def log_p(self, ids: Tensor, positions: Tensor) -> Tensor:
        """As `Arm.log_p`."""
        return log_softmax(self.logits(ids, positions))


def trained_top(arm: TwoSidedArm, feed: Feed, steps: int, peak: float, seed: int) -> Top:
    """Train a top for some steps, on text that the arm was trained on, too."""
    torch.manual_seed(seed)
    arm.eval().requires_grad_(False)
    top = Top(arm)

    def loss(number: int) -> Tensor:
        ids, mask = feed(number).tensors
        positions = inner_positions(mask)
        return cross_entropy(top.logits(ids, positions), ids.flatten()[positions])

    fit(top, loss, steps=steps, learning_rate=linear_decay(peak, max(steps // 10, 1), steps + 1), fused=True)
    return top.eval()


def inner_positions(mask: Tensor) -> Tensor:
    """List the pieces between [CLS] and [SEP] of a batch, row * T + column.

    Examples
    --------
    >>> inner_positions(torch.tensor([[True, True, True, True], [True, True, True, False]])).tolist()
    [1, 2, 5]
    """
    inner = torch.zeros_like(mask)
    inner[:, 1:-1] = mask[:, 2:]
    return inner.flatten().nonzero()[:, 0]

"""What elmo-mini is trained for: each next and each previous word, beside some that are drawn.

A softmax over 8,192 words is most of the work of so small a model. As in the original (Peters et al. 2018,
sec. 3.4, after Jozefowicz et al. 2016) it is sampled while the model trains, and whole where it is examined.
"""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from _elmo_text import Text, targets
from bertlab.nn import ELMoForPreTraining
from bertlab.nn.elmo import surprise
from bertlab.tasks.spelled_words import SpelledELMo
from bertlab.training.running_text import Losses

DRAWN, POWER = 1024, 0.75  # words beside the right one; rare ones are drawn more often than they stand there


def sampled_surprise(
    rows: Tensor, wanted: Tensor, table: Tensor, bias: Tensor, chances: Tensor, drawn: int = DRAWN
) -> Tensor:
    """Estimate the mean surprise of a softmax over V words by the right one and some others.

    Each drawn word counts as often as it should have been drawn, 1 / (drawn × its chance): then the sum of
    the exponentials of all words but the right one is estimated without bias.

    Parameters
    ----------
    rows : (N, D) states.
    wanted : (N,) numbers of the right words.
    table, bias : (V, D) and (V,) of the softmax.
    chances : (V,) of each word to be drawn; they sum to 1.
    drawn : words drawn, the same ones for all rows, with replacement.

    References
    ----------
    Bengio and Senécal 2008, sec. 3: importance sampling for neural language models; Jean et al. 2015, sec. 3.
    """
    others = torch.multinomial(chances, drawn, replacement=True)  # (n,)
    right = (rows * table[wanted]).sum(-1, keepdim=True) + bias[wanted, None]  # (N, 1)
    scores = rows @ table[others].T + bias[others] - (drawn * chances[others]).log()  # (N, n)
    scores = scores.masked_fill(wanted[:, None] == others, -torch.inf)
    mean: Tensor = (torch.logsumexp(torch.cat([right, scores], -1), -1) - right[:, 0]).mean()
    return mean


def asked_both_ways(
    model: ELMoForPreTraining, text: Text, log_frequency: NDArray[Any], drawn: int = DRAWN
) -> Losses:
    """Give the joint loss of a model on stretches of words, with the parts "forward" and "backward".

    Only known words are asked for; in evaluation among all of them, in training among the drawn ones.

    Parameters
    ----------
    model, text : what is trained, and what its ids mean.
    log_frequency : (V,) of the known words.
    drawn : as in `sampled_surprise`.
    """
    read, numbers = SpelledELMo(model.elmo, text.words), torch.from_numpy(targets(text.words, text.known))
    chances = (POWER * torch.from_numpy(log_frequency)).softmax(0)

    def losses(ids: Tensor, mask: Tensor) -> tuple[Tensor, dict[str, float]]:
        states, wanted = model.dropout(read(ids, mask).states), numbers[ids]
        if model.training:
            ahead, back = states.chunk(2, dim=-1)  # (B, T, D) each
            sides = (ahead[:, :-1], wanted[:, 1:]), (back[:, 1:], wanted[:, :-1])
            forward, backward = (
                sampled_surprise(
                    half[near >= 0], near[near >= 0], model.table, model.output.bias, chances, drawn
                )
                for half, near in sides
            )
            joint = forward + backward
        else:
            joint, forward, backward = surprise(states, wanted, model.table, model.output.bias, mask)
        return joint, {"forward": forward.item(), "backward": backward.item()}

    return losses

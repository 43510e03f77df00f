"""Several beginnings of a sentence at once, the best of which wins: Sutskever et al. 2014, Wu et al. 2016."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from bertlab.nn.decoding import StepwiseModel, check_at_least_one, evaluation_mode


class Hypothesis(NamedTuple):
    """A sentence that a search has found."""

    ids: tuple[int, ...]  # the end token is the last of them, if the sentence ended
    log_prob: float  # of all ids, in nats
    score: float  # `log_prob` over the length penalty: what a search ranks by
    ended: bool  # False where it was cut off at the largest length


def length_penalty(length: int, alpha: float) -> float:
    """Divide a log-probability by this, so that longer sentences, which have more to multiply, keep a chance.

    Parameters
    ----------
    length : number of tokens, the end token counted.
    alpha : 0 for no penalty: probability alone decides. 0.6 in Vaswani et al. 2017, sec. 6.1.

    Returns
    -------
    ``((5 + length) / 6) ** alpha``.

    References
    ----------
    Wu et al. 2016, sec. 7, eq. (14), without their coverage penalty.

    Examples
    --------
    >>> round(-1.0 / length_penalty(2, alpha=1.0), 3), round(-1.6 / length_penalty(4, alpha=1.0), 3)
    (-0.857, -1.067)
    """
    return float(((5 + length) / 6) ** alpha)


@torch.no_grad()
def beam_search(
    model: StepwiseModel,
    source: Tensor,
    max_length: int,
    beam_size: int = 4,
    alpha: float = 0.6,
    n_best: int = 1,
) -> list[list[Hypothesis]]:
    """Follow several beginnings of each sentence at once, and return the best that ended.

    At each step all live beginnings of a sentence are continued with every token, and the most probable of
    these candidates take the free places of the beam. One that ends keeps its place, so the beam of live ones
    gets narrower; with one place this is greedy decoding. The search goes on while a live one could still
    overtake: its log-probability can only fall, and the largest penalty is that of the largest length.

    Parameters
    ----------
    model : switched to evaluation mode while it decodes.
    source : (B, Ts) integer tensor.
    max_length : stop after so many tokens, the end token counted.
    beam_size : places for each sentence.
    alpha : exponent of the length penalty, 0 for none.
    n_best : how many hypotheses to return for each sentence, at most `beam_size`.

    Returns
    -------
    for each sentence its best hypotheses, best first, no two alike. One that was cut off at `max_length`
    comes after all that ended. Of equal ones the first is that with the lower id at the first difference.

    Raises
    ------
    ValueError
        If a number is below 1, `alpha` is negative, or `n_best` is above `beam_size`.
    FloatingPointError
        If the model gives a probability that is no number.

    References
    ----------
    Sutskever et al. 2014, sec. 3.2, for the places; Wu et al. 2016, sec. 7, for the score; Huang et al. 2017,
    "When to finish?", for when to stop.
    """
    check_at_least_one(max_length=max_length, beam_size=beam_size, n_best=n_best)
    if alpha < 0 or n_best > beam_size:
        raise ValueError(
            f"alpha={alpha}, n_best={n_best}, beam_size={beam_size}: alpha must be 0 or more, "
            "and n_best at most beam_size"
        )
    searches = [_Search(model.config.end_id, max_length, beam_size, alpha, n_best) for _ in source]
    with evaluation_mode(model):
        state = model.start(source)
        tokens = [model.config.end_id] * len(source)
        while tokens:
            step = model.step(torch.tensor(tokens, device=source.device), state)
            # In float64: two candidates that the model tells apart stay apart when they are added up.
            log_p = torch.log_softmax(step.logits.cpu().double(), dim=-1)  # (N, V)
            if log_p.isnan().any():
                raise FloatingPointError("a probability is no number: look at the model's weights")
            parents, tokens, first = [], [], 0
            for search in searches:
                rows = range(first, first + len(search.live))
                for row, token in search.advance(log_p[rows.start : rows.stop]):
                    parents.append(rows[row])
                    tokens.append(token)
                first = rows.stop
            if tokens:
                state = model.reorder(step.state, torch.tensor(parents, device=source.device))
    return [search.best() for search in searches]


@dataclass
class _Search:
    """The beam of one sentence."""

    end_id: int
    max_length: int
    beam_size: int
    alpha: float
    n_best: int
    live: list[tuple[tuple[int, ...], float]] = field(default_factory=lambda: [((), 0.0)])  # ids, log_prob
    done: list[Hypothesis] = field(default_factory=list)

    def advance(self, log_p: Tensor) -> list[tuple[int, int]]:
        """Continue the live ones by (n_live, V) log-probabilities: row and token of each that lives on."""
        if not self.live:
            return []
        before = torch.tensor([log_prob for _, log_prob in self.live], dtype=log_p.dtype)
        totals = (before[:, None] + log_p).flatten()  # (n_live · V,)
        V = log_p.shape[1]
        # In the order of their numbers, which is that of their ids: so do equals stay in that order for good.
        chosen = sorted(best_of(totals, self.beam_size - len(self.done)))
        going_on = []
        for number in chosen:
            row, token = divmod(number, V)
            ids, total = (*self.live[row][0], token), totals[number].item()
            if token == self.end_id or len(ids) == self.max_length:
                score = total / length_penalty(len(ids), self.alpha)
                self.done.append(Hypothesis(ids, total, score, token == self.end_id))
            else:
                going_on.append((row, (ids, total)))
        self.live = [beam for _, beam in going_on]
        if self.settled():
            self.live = []
        return [(row, ids[-1]) for row, (ids, _) in going_on] if self.live else []

    def settled(self) -> bool:
        """Say whether no live one can come among the best any more, or none is left."""
        if not self.live or len(self.done) < self.n_best:
            return not self.live
        most_probable = max(log_prob for _, log_prob in self.live)
        return self.best()[-1].score > most_probable / length_penalty(self.max_length, self.alpha)

    def best(self) -> list[Hypothesis]:
        """Return the best so far, those that ended first."""
        return sorted(self.done, key=lambda h: (not h.ended, -h.score, h.ids))[: self.n_best]


def best_of(scores: Tensor, n: int) -> list[int]:
    """Find the n largest numbers, equal ones in the order in which they stand; `topk` promises no order.

    Parameters
    ----------
    scores : (N,) float tensor; -inf is never chosen.
    n : how many at most.

    Returns
    -------
    their indices, the largest number first.

    Examples
    --------
    >>> best_of(torch.tensor([1.0, 3.0, 2.0, 3.0, 2.0]), 3)
    [1, 3, 2]
    """
    smallest = scores.topk(min(n, len(scores))).values[-1]
    enough = ((scores >= smallest) & (scores > -torch.inf)).nonzero()[:, 0]  # more than n if there are equals
    order = scores[enough].sort(descending=True, stable=True).indices
    return enough[order][:n].tolist()

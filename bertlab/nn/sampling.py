"""From a language model's probabilities to a text that goes on from its beginning, token by token, by chance.

The most probable token at each step makes dull texts that repeat themselves; all of the vocabulary, by its
probabilities, makes texts that go astray, since of the many tokens that hardly fit one comes soon. Between
the two: sharpen the distribution (temperature), or cut off its tail, behind the k best (top-k), or behind as
many as hold most of the probability (top-p).
"""

from __future__ import annotations

import torch
from torch import Tensor

from bertlab.nn.decoding import check_at_least_one, evaluation_mode, write
from bertlab.nn.gpt import GPT
from bertlab.nn.positions import check_length


def next_token_probabilities(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Say with which chance each token is drawn.

    The temperature comes first, then top-k, then top-p, of what is left.

    Parameters
    ----------
    logits : (..., V) float tensor of scores.
    temperature : the scores are divided by it. Below 1 makes the best ones more probable, above 1 evens all
        out; 0 is the limit: the best one alone.
    top_k : keep so many tokens, the most probable ones; all if not given.
    top_p : keep the fewest tokens, most probable first, that together have at least this probability; all if
        not given.

    Returns
    -------
    (..., V) float tensor, at least float32; a row sums to 1. Of equals the lower id is kept first.

    Raises
    ------
    ValueError
        If the temperature is negative, `top_k` below 1, or `top_p` not in (0, 1].

    References
    ----------
    Temperature: Ackley et al. 1985; top-k: Fan et al. 2018, sec. 5.4; top-p, "nucleus sampling": Holtzman et
    al. 2020, sec. 3.1.

    Examples
    --------
    >>> logits = torch.tensor([0.5, 0.25, 0.15, 0.1]).log()
    >>> [[round(p, 2) for p in next_token_probabilities(logits, **kept).tolist()]
    ...  for kept in ({"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.8})]
    [[0.72, 0.18, 0.07, 0.03], [0.67, 0.33, 0.0, 0.0], [0.56, 0.28, 0.17, 0.0]]
    """
    _check(temperature, top_k, top_p)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    ordered, ids = logits.sort(dim=-1, descending=True, stable=True)  # (..., V); of equals the lower id first
    rank = torch.arange(ordered.shape[-1], device=logits.device)  # (V,)
    if temperature == 0:
        p = (rank == 0).to(ordered.dtype).expand_as(ordered)
    else:
        below_best = ordered - ordered[..., :1]  # at most 0: divided by whatever, nothing overflows
        p = torch.softmax(below_best / temperature, dim=-1)
    if top_k is not None:
        p = _share(p.masked_fill(rank >= top_k, 0.0))
    if top_p is not None and top_p < 1:
        before = p.cumsum(-1) - p  # what the better ones have: whoever finds it enough is not needed
        p = _share(p.masked_fill((before >= top_p) & (rank > 0), 0.0))
    return torch.empty_like(p).scatter_(-1, ids, p)


def _share(p: Tensor) -> Tensor:
    return p / p.sum(-1, keepdim=True)


@torch.no_grad()
def generate(
    model: GPT,
    prompt: Tensor,
    max_length: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Go on with texts, until each has ended; keys and values of what stands there are computed once.

    Parameters
    ----------
    model : switched to evaluation mode while it writes.
    prompt : (B, T) integer tensor, the beginnings, all of one length T ≥ 1: those of other lengths go one
        after the other. A text without a beginning goes on from the token that ended the one before.
    max_length : write so many tokens at most, the end token counted.
    temperature, top_k, top_p : as in `next_token_probabilities`. With temperature 0 nothing is left to
        chance, and the most probable token is written, of equals the one with the lowest id.
    generator : source of randomness.

    Returns
    -------
    (B, N) integer tensor of what was written, without the beginnings. After `end_id` of the model's config,
    if it has one, a row is filled up with `pad_id`.

    Raises
    ------
    ValueError
        If there is nothing to go on from, the text would be longer than the model's table of positions, there
        is no source of randomness, or a number is out of its range.

    References
    ----------
    Radford et al. 2019, sec. 2, eq. (1), for drawing a text token by token; as in `next_token_probabilities`.

    Examples
    --------
    >>> from bertlab.nn import GPTConfig
    >>> model, chance = GPT(GPTConfig.tiny(vocab_size=50)), torch.Generator().manual_seed(0)
    >>> generate(model, torch.tensor([[7, 8]]), max_length=5, top_k=10, generator=chance).shape
    torch.Size([1, 5])
    """
    _check(temperature, top_k, top_p)
    check_at_least_one(max_length=max_length)
    if prompt.dim() != 2 or not prompt.shape[1]:
        raise ValueError(
            f"a prompt of shape {tuple(prompt.shape)} is no beginning (B, T): give at least one token a row"
        )
    check_length(prompt.shape[1] + max_length - 1, model.config.max_positions)  # the last one is not read
    if generator is None and temperature > 0:
        raise ValueError(
            "generator=None, but tokens are drawn: give torch.Generator().manual_seed(0), or temperature=0"
        )

    def choose(logits: Tensor) -> Tensor:
        p = next_token_probabilities(logits, temperature, top_k, top_p)  # (B, V)
        if generator is None:
            return p.argmax(-1)
        # where the generator is, so that a seed gives the same text on every device
        return torch.multinomial(p.to(generator.device), 1, generator=generator)[:, 0].to(logits.device)

    with evaluation_mode(model):
        cache = model.new_cache()
        if prompt.shape[1] > 1:
            model.read(prompt[:, :-1], cache=cache)
        ids, _ = write(
            model, cache, prompt[:, -1], choose, max_length, model.config.pad_id, model.config.end_id
        )
    return ids


def _check(temperature: float, top_k: int | None, top_p: float | None) -> None:
    if not temperature >= 0:
        raise ValueError(
            f"temperature={temperature}: choose 0 or more, 1 leaves the probabilities as they are"
        )
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k={top_k}: keep at least 1 token, or None for all")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p={top_p}: choose a probability above 0, at most 1, or None for all tokens")

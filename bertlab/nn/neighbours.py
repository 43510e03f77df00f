"""First weights with which some heads of a BERT look beside them from the start.

A new BERT first learns how often each piece occurs, and then stands still for millions of tokens: to do
better it must read its neighbours, and no head yet knows where they are. But we do: a sinusoid k places on is
the same sinusoid, rotated (Vaswani et al. 2017, sec. 3.5). So positions begin as sinusoids, and in the first
layer the queries of a head are the keys, rotated by k places. The numbers of a token that these keys read
begin at 0: else a piece is most like itself, and the head looks where it stands. They should be few: where it
is half of them, for heads of 64 in a model of 128, most of the gain is lost (notebook 09, section 7). All of
it is trained further like any weight; the architecture stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from bertlab.nn.attention import MultiHeadAttention
from bertlab.nn.bert import BertModel
from bertlab.nn.gpt import GPT
from bertlab.nn.positions import sinusoidal_positions

DEVIATION = 0.02  # of all first weights of BERT
SHARPNESS = 2.0  # of keys and of queries: the place sought scores about 4 · K / 2 / √K, 16 for heads of 64


@torch.no_grad()
def look_beside(model: BertModel | GPT, offsets: Sequence[int] | None = None) -> list[int]:
    """Let the heads of the first layer begin by looking 1 left, 1 right, 2 left, 2 right, and so on.

    Parameters
    ----------
    model : with new weights; changed in place. With an odd width of a head its last number stays as it is.
    offsets : how many places to the right each head looks instead; further heads begin as published.

    Returns
    -------
    How many places to the right each head looks.

    Raises
    ------
    ValueError
        If there are more offsets than heads.

    References
    ----------
    Trockman and Kolter 2023, "Mimetic initialization of self-attention layers", for first weights that look
    like trained ones; this form of it is ours.

    Examples
    --------
    >>> from bertlab.nn import BertConfig
    >>> look_beside(BertModel(BertConfig.mini(vocab_size=100)))
    [-1, 1, -2, 2]
    """
    config = model.config
    if offsets is not None and len(offsets) > config.n_heads:
        raise ValueError(f"{len(offsets)} offsets for {config.n_heads} heads: give one a head at most")
    table = model.embeddings.position.weight  # (N, D)
    waves = sinusoidal_positions(len(table), config.d_model, table.dtype, table.device)
    table.copy_(waves * DEVIATION * 2**0.5)  # waves have a mean square of 1/2: now as large as the tokens
    width = config.d_model // config.n_heads
    model.embeddings.token.weight[:, :width] = 0
    attention = model.encoder.layers[0].get_submodule("attention")
    assert isinstance(attention, MultiHeadAttention)
    if offsets is None:
        offsets = [(1 + head // 2) * (1 if head % 2 else -1) for head in range(config.n_heads)]
    for head, offset in enumerate(offsets):
        rows = slice(head * width, (head + 1) * width)
        n = width - width % 2
        attention.key.weight[rows][:n, :n] += SHARPNESS * torch.eye(n, device=table.device)
        attention.query.weight[rows][:n, :n] += SHARPNESS * rotation(offset, n, config.d_model).to(table)
    return list(offsets)


def rotation(offset: int, n: int, d_model: int) -> Tensor:
    """Make the matrix that moves the first n numbers (n even) of every sinusoid by some places.

    Parameters
    ----------
    offset : places to the right.
    n, d_model : numbers that are moved, the fastest waves; width D of the sinusoids.

    Returns
    -------
    (n, n) float tensor R with ``R @ waves[p, :n] = waves[p + offset, :n]``.

    References
    ----------
    Vaswani et al. 2017, sec. 3.5; the angle addition formulas.

    Examples
    --------
    >>> waves = sinusoidal_positions(9, 8, torch.float64)
    >>> torch.allclose(rotation(2, 4, 8) @ waves[3, :4], waves[5, :4])
    True
    """
    angles = offset / 10000 ** (torch.arange(0, n, 2, dtype=torch.float64) / d_model)  # (n / 2,)
    blocks = [torch.stack([a.cos(), a.sin(), -a.sin(), a.cos()]).view(2, 2) for a in angles]
    moved: Tensor = torch.block_diag(*blocks)
    return moved

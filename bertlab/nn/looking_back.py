"""First weights with which the heads of a GPT look back from the start: `neighbours`, for one direction.

A GPT sees nothing to its right, so all its heads look to the left, each one place further. And a post-LN GPT
has no norm between its embeddings, which are small, and its first keys and queries. What BERT's norm does
there, the matrices must do; once the embeddings have grown they do too much, so pre-LN is the better start.
"""

from __future__ import annotations

import torch

from bertlab.nn.attention import MultiHeadAttention
from bertlab.nn.gpt import GPT
from bertlab.nn.neighbours import DEVIATION, look_beside


@torch.no_grad()
def look_back(model: GPT) -> list[int]:
    """Let the heads of the first layer begin by looking 1 place back, 2 places back, and so on.

    Parameters
    ----------
    model : with new weights; changed in place.

    Returns
    -------
    How many places to the right each head looks.

    References
    ----------
    As `look_beside`.

    Examples
    --------
    >>> from bertlab.nn import GPTConfig
    >>> look_back(GPT(GPTConfig.mini(vocab_size=100)))
    [-1, -2, -3, -4]
    """
    offsets = [-1 - head for head in range(model.config.n_heads)]
    attention = model.encoder.layers[0].get_submodule("attention")
    assert isinstance(attention, MultiHeadAttention)
    weights = attention.query.weight, attention.key.weight
    before = [weight.clone() for weight in weights]
    look_beside(model, offsets)
    if not model.config.norm_first:
        for weight, old in zip(weights, before, strict=True):  # tokens and positions deviate by DEVIATION √2
            weight.copy_(old + (weight - old) / (DEVIATION * 2**0.5))
    return offsets

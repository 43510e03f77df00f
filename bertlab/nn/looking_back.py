"""First weights with which the heads of a GPT look back from the start: `neighbours`, for one direction.

A GPT sees nothing to its right, so all its heads look to the left, each one place further. And a post-LN GPT
has no norm behind its embeddings, whose numbers are small; what BERT's norm does there, its matrices must do.
"""

from __future__ import annotations

from typing import cast

import torch

from bertlab.nn.attention import MultiHeadAttention
from bertlab.nn.bert import BertModel
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
    look_beside(cast(BertModel, model), offsets)  # it asks for parts that both have under the same names
    attention = model.encoder.layers[0].get_submodule("attention")
    assert isinstance(attention, MultiHeadAttention)
    if not model.config.norm_first:
        for part in (attention.query, attention.key):  # tokens and positions together deviate by DEVIATION √2
            part.weight /= DEVIATION * 2**0.5
    return offsets

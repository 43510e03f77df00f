"""From a model's probabilities to a sentence."""

from __future__ import annotations

import torch
from torch import Tensor

from bertlab.nn.seq2seq import Seq2Seq


@torch.no_grad()
def greedy_decode(model: Seq2Seq, source: Tensor, max_length: int) -> tuple[Tensor, Tensor | None]:
    """Write the most probable token at each step, and feed it back, until every sentence has ended.

    Parameters
    ----------
    model : switched to evaluation mode while it decodes.
    source : (B, Ts) integer tensor.
    max_length : stop after so many tokens, the end token counted.

    Returns
    -------
    ids, weights : (B, Tt) integer tensor, padded after the end token, and (B, Tt, Ts) float tensor of the
        weights each
        token was written with, zero after the end, or None for a model without attention. Of equally probable
        tokens the one with the lowest id is written.

    Raises
    ------
    ValueError
        If `max_length` is below 1.

    References
    ----------
    Sutskever et al. 2014, sec. 3.2: a beam of size 1.
    """
    if max_length < 1:
        raise ValueError(f"max_length={max_length}: allow at least 1 token")
    was_training = model.training
    model.eval()
    try:
        return _greedy_decode(model, source, max_length)
    finally:
        model.train(was_training)


def _greedy_decode(model: Seq2Seq, source: Tensor, max_length: int) -> tuple[Tensor, Tensor | None]:
    pad_id, end_id = model.config.pad_id, model.config.end_id
    memory = model.encoder(source)
    state = memory.state
    token = torch.full((len(source), 1), end_id, device=source.device)  # (B, 1)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    ids: list[Tensor] = []
    weights: list[Tensor] = []
    while len(ids) < max_length and not ended.all():
        step = model.decoder(token, state, memory)
        state, token = step.state, step.logits.argmax(dim=-1)  # (B, 1); argmax takes the first of equals
        ids.append(token[:, 0].masked_fill(ended, pad_id))
        if step.weights is not None:
            weights.append(step.weights[:, 0].masked_fill(ended[:, None], 0.0))
        ended = ended | (token[:, 0] == end_id)
    return torch.stack(ids, dim=1), torch.stack(weights, dim=1) if weights else None

"""AdamW, and which weights it lets decay."""

from __future__ import annotations

import torch
from torch import nn


def adamw(
    model: nn.Module,
    weight_decay: float = 0.0,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    fused: bool = False,
) -> torch.optim.AdamW:
    """Make the optimiser: matrices shrink a little at every step, biases and norms do not.

    Parameters
    ----------
    model : whose parameters move; frozen ones (without ``requires_grad``) are left out.
    weight_decay : each step takes ``learning rate × weight_decay`` of a weight away; 0 is Adam, bit for bit.
    betas, eps : how long the means of gradient and squared gradient remember, and what is added to the root.
    fused : move all weights in one go, several times as fast, and equal but for rounding.

    Returns
    -------
    optimiser with a learning rate of 0, which `fit` sets at every step.

    Raises
    ------
    ValueError
        If `weight_decay` is negative.

    References
    ----------
    Loshchilov and Hutter 2019, algorithm 2. Biases and norms are left out as in Devlin et al.'s code.

    Examples
    --------
    >>> [len(group["params"]) for group in adamw(nn.Linear(2, 3), weight_decay=0.1).param_groups]
    [1, 1]
    """
    if weight_decay < 0:
        raise ValueError(f"weight_decay={weight_decay}: choose 0 or more, 0.01 is usual for BERT")
    spared = without_decay(model)
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}  # a tied one occurs once
    groups = [
        {"params": [p for name, p in trained.items() if name not in spared], "weight_decay": weight_decay},
        {"params": [p for name, p in trained.items() if name in spared], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=0.0, betas=betas, eps=eps, fused=fused or None)


def without_decay(model: nn.Module) -> set[str]:
    """Names of the parameters that are a bias, or gain or bias of a norm.

    Examples
    --------
    >>> sorted(without_decay(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))))
    ['0.bias', '1.bias', '1.weight']
    """
    return {
        f"{path}.{name}" if path else name
        for path, module in model.named_modules()
        for name, _ in module.named_parameters(recurse=False)
        if "bias" in name or type(module).__name__.endswith("Norm")
    }

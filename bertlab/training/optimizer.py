"""AdamW, and which weights it lets decay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def adamw(
    model: nn.Module,
    weight_decay: float = 0.0,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    fused: bool = False,
    rate_factor: Callable[[str], float] | None = None,
    bias_correction: bool = True,
) -> torch.optim.AdamW:
    """Make the optimiser: matrices shrink a little at every step, biases and norms do not.

    Parameters
    ----------
    model : whose parameters move; frozen ones (without ``requires_grad``) are left out.
    weight_decay : each step takes ``learning rate × weight_decay`` of a weight away; 0 is Adam, bit for bit.
    betas, eps : how long the means of gradient and squared gradient remember, and what is added to the root.
    fused : move all weights in one go, several times as fast, and equal but for rounding.
    rate_factor : from the name of a parameter to what it has of the learning rate; all of it, if not given.
    bias_correction : whether the means are corrected for that they begin at 0; see `UncorrectedAdamW`.

    Returns
    -------
    optimiser with a learning rate of 0, which `fit` sets at every step: to the rate times the "factor" of a
    group.

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
    factors = {name: rate_factor(name) if rate_factor else 1.0 for name in trained}
    groups = [
        {
            "params": [p for name, p in trained.items() if (factors[name], name in spared) == (own, spare)],
            "weight_decay": 0.0 if spare else weight_decay,
            "factor": own,
        }
        for own in sorted(set(factors.values()))
        for spare in (False, True)
    ]
    kind = torch.optim.AdamW if bias_correction else UncorrectedAdamW
    return kind(groups, lr=0.0, betas=betas, eps=eps, fused=fused or None)


class UncorrectedAdamW(torch.optim.AdamW):
    """AdamW that takes its two means as they are, though they begin at 0.

    Of gradient and squared gradient, the second is remembered longer and so is too small for longer: the
    first steps are several times as long, 3.2 times at the first and 6.5 at the tenth, but where the gradient
    is so small that `eps` holds it back.

    The corrected step is ``rate √(1 - β₂ᵗ) / (1 - β₁ᵗ) · m / (√v + eps √(1 - β₂ᵗ))``, less the decay. With
    rate, `eps` and decay changed for the time of a step, that becomes ``rate · m / (√v + eps)``.

    References
    ----------
    Kingma and Ba 2015, sec. 3. google-research/bert, optimization.py, corrects nothing; that it makes small
    fine-tuning runs fail: Mosbach et al. 2021; Zhang et al. 2021.
    """

    def step(self, closure: Any = None) -> Any:
        """Move every weight once."""
        usual = [(group["lr"], group["eps"], group["weight_decay"]) for group in self.param_groups]
        for group in self.param_groups:
            group["done"] = group.get("done", 0) + 1  # t; part of the state that is saved
            first, second = (1 - beta ** group["done"] for beta in group["betas"])
            group["lr"] *= first / second**0.5
            group["eps"] /= second**0.5
            group["weight_decay"] *= second**0.5 / first  # what decays is rate × decay
        try:
            return super().step(closure)
        finally:
            for group, (rate, eps, decay) in zip(self.param_groups, usual, strict=True):
                group["lr"], group["eps"], group["weight_decay"] = rate, eps, decay


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

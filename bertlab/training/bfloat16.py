"""Training in bfloat16 with weights in float32."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.func import functional_call


class InBfloat16(nn.Module):
    """A module that computes in bfloat16 while its weights stay what they are.

    Every call copies the weights to bfloat16 once and computes with the copies alone; their gradients come
    back to the float32 weights, which the optimiser moves by steps that bfloat16 could not hold. Unlike
    `torch.autocast`, it leaves norms and softmax in bfloat16, which sum in float32 inside, so that nothing is
    cast between two layers.

    Parameters
    ----------
    module : what computes; its parameters are those of this module.

    References
    ----------
    Micikevicius et al. 2018, sec. 3.1, "FP32 master copy of weights". bfloat16 needs no loss scaling (3.2).

    Examples
    --------
    >>> layer = nn.Linear(2, 2)
    >>> output = InBfloat16(layer)(torch.ones(1, 2, dtype=torch.bfloat16))
    >>> output.sum().backward()
    >>> output.dtype, layer.weight.dtype, layer.weight.grad.dtype
    (torch.bfloat16, torch.float32, torch.float32)
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *inputs: Any) -> Any:
        """Call the module, with bfloat16 copies of its weights."""
        copies = {name: weight.to(torch.bfloat16) for name, weight in self.module.named_parameters()}
        return functional_call(self.module, copies, inputs)

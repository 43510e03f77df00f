"""The position-wise feed-forward network in PyTorch: twin of `bertlab.reference.feed_forward`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from torch import Tensor, nn

from bertlab.nn.activations import gelu, gelu_tanh, relu
from bertlab.nn.functional import linear
from bertlab.nn.parameters import check_names

Activation: TypeAlias = Literal["relu", "gelu", "gelu_tanh"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh}
NAMES = ("inner.weight", "inner.bias", "outer.weight", "outer.bias")


def check_activation(activation: str) -> None:
    """Raise a ValueError for an activation that is not one of `ACTIVATIONS`."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation={activation!r} is unknown: choose one of {', '.join(ACTIVATIONS)}")


def feed_forward(x: Tensor, params: Mapping[str, Tensor], activation: Activation = "relu") -> Tensor:
    """Send each position by itself through two linear layers with an activation between them.

    Parameters
    ----------
    x : (..., D) float tensor.
    params : ``{"inner.weight": (F, D), "inner.bias": (F,), "outer.weight": (D, F), "outer.bias": (D,)}``,
        the `state_dict` of `FeedForward`.
    activation : "relu" (the Transformer), "gelu" (BERT) or "gelu_tanh" (GPT).

    Returns
    -------
    (..., D) float tensor.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, the shapes do not fit, or the activation is unknown.

    References
    ----------
    Vaswani et al. 2017, sec. 3.3, eq. (2).

    Examples
    --------
    >>> import torch
    >>> params = {"inner.weight": torch.tensor([[1.0], [-1.0]]), "inner.bias": torch.zeros(2)}
    >>> params |= {"outer.weight": torch.tensor([[1.0, 1.0]]), "outer.bias": torch.zeros(1)}
    >>> feed_forward(torch.tensor([[-3.0]]), params).tolist()  # relu(x) + relu(-x) = |x|
    [[3.0]]
    """
    check_activation(activation)
    check_names(params, NAMES)
    inner = linear(x, params["inner.weight"], params["inner.bias"])  # (..., D) -> (..., F)
    return linear(ACTIVATIONS[activation](inner), params["outer.weight"], params["outer.bias"])


class FeedForward(nn.Module):
    """Two linear layers and an activation, the same for every position.

    Parameters
    ----------
    d_model : width D.
    d_ff : width between the two layers F, four times D in the paper.
    activation : "relu" (the Transformer), "gelu" (BERT) or "gelu_tanh" (GPT).

    Raises
    ------
    ValueError
        If the activation is unknown.

    References
    ----------
    Vaswani et al. 2017, sec. 3.3, eq. (2). As in sec. 5.4, nothing is dropped in between (torch does).
    """

    def __init__(self, d_model: int, d_ff: int, activation: Activation = "relu") -> None:
        super().__init__()
        check_activation(activation)
        self.activation = activation
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., D) to (..., D); see `feed_forward`."""
        output: Tensor = self.outer(ACTIVATIONS[self.activation](self.inner(x)))
        return output

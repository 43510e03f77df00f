"""The residual connection around a sublayer, and where the norm stands: twin of `bertlab.reference.residual`.

Post-LN (the Transformer, BERT): ``norm(x + sublayer(x))``. Pre-LN (GPT-2): ``x + sublayer(norm(x))``. Both
are ``after_sublayer(x, sublayer(before_sublayer(x)))``.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from bertlab.nn.dropout import Dropout
from bertlab.nn.functional import layer_norm
from bertlab.nn.parameters import check_names

NAMES = ("norm.weight", "norm.bias")


def before_sublayer(x: Tensor, params: Mapping[str, Tensor], norm_first: bool, eps: float = 1e-5) -> Tensor:
    """Make what the sublayer gets to see: x itself, or in pre-LN its norm.

    Parameters
    ----------
    x : (..., D) float tensor.
    params : ``{"norm.weight": (D,), "norm.bias": (D,)}``, the `state_dict` of `Residual`.
    norm_first : pre-LN if true, post-LN if false.
    eps : as in `layer_norm`.

    Returns
    -------
    (..., D) float tensor.

    Raises
    ------
    ValueError
        If a parameter is missing or left over.

    References
    ----------
    Vaswani et al. 2017, sec. 3.1, for post-LN; Xiong et al. 2020, sec. 3 and fig. 1, for both.
    """
    check_names(params, NAMES)
    return layer_norm(x, params["norm.weight"], params["norm.bias"], eps) if norm_first else x


def after_sublayer(
    x: Tensor, update: Tensor, params: Mapping[str, Tensor], norm_first: bool, eps: float = 1e-5
) -> Tensor:
    """Add what the sublayer found to what it was asked about, and in post-LN norm the sum.

    Parameters
    ----------
    x : (..., D) float tensor, before any norm.
    update : (..., D) float tensor, the output of the sublayer.
    params, norm_first, eps : as in `before_sublayer`.

    Returns
    -------
    (..., D) float tensor.

    Raises
    ------
    ValueError
        If a parameter is missing or left over.

    References
    ----------
    He et al. 2016, sec. 3.2, eq. (1), for the sum; as in `before_sublayer` for the norm.
    """
    check_names(params, NAMES)
    total = x + update
    return total if norm_first else layer_norm(total, params["norm.weight"], params["norm.bias"], eps)


class Residual(nn.Module):
    """The way past a sublayer: ``after(x, sublayer(before(x)))``.

    Parameters
    ----------
    d_model : width D.
    dropout : probability in [0, 1) with which a number of the sublayer's output is dropped in training.
    norm_first : pre-LN if true, post-LN if false.
    eps : as in `layer_norm`.

    Raises
    ------
    ValueError
        If `dropout` is no probability in [0, 1).

    References
    ----------
    As `before_sublayer` and `after_sublayer`. Dropout: Vaswani et al. 2017, sec. 5.4, "to the output of each
    sub-layer, before it is added to the sub-layer input and normalized".
    """

    def __init__(
        self, d_model: int, dropout: float = 0.0, norm_first: bool = False, eps: float = 1e-5
    ) -> None:
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(
                f"dropout={dropout} is not a probability in [0, 1): choose one, 0 switches it off"
            )
        self.norm_first = norm_first
        self.norm = nn.LayerNorm(d_model, eps)
        self.dropout = Dropout(dropout)

    def before(self, x: Tensor) -> Tensor:
        """Make what the sublayer gets to see of x (..., D); see `before_sublayer`."""
        seen: Tensor = self.norm(x) if self.norm_first else x
        return seen

    def after(self, x: Tensor, update: Tensor) -> Tensor:
        """Add the sublayer's output to x, both (..., D); see `after_sublayer`."""
        total: Tensor = x + self.dropout(update)
        if not self.norm_first:
            total = self.norm(total)
        return total

"""AdaGrad for a table of which a step touches few rows: the others are not even looked at."""

from __future__ import annotations

import torch
from torch import Tensor


class SparseAdaGrad:
    """Moves rows of a table; what was moved much is moved less from then on.

    The same as `torch.optim.Adagrad` with the whole gradient, but the work goes with the rows that have one:
    a few thousand of tens of thousands. Rows that come several times in a step are added up first.

    Parameters
    ----------
    table : (V, D) or (V,) float tensor, changed in place.
    first : what the sums of squares begin with; the larger, the smaller the first steps.
    by_row : keep one sum for a row, of the mean square of its gradient, not one for each number. A row then
        moves straight against its gradient; number by number, the first step would keep the signs alone.
    eps : keeps a division by zero away.

    References
    ----------
    Duchi, Hazan & Singer 2011, fig. 1, with diagonal matrices.

    Examples
    --------
    >>> ids, grads = torch.tensor([2, 2]), torch.tensor([[1.0, 5.0], [5.0, -13.0]])  # together 6 and -8
    >>> for by_row in (False, True):
    ...     table = torch.zeros(3, 2)
    ...     SparseAdaGrad(table, by_row=by_row).step(ids, grads, rate=1.0)
    ...     print(table[2])
    tensor([-1.,  1.])
    tensor([-0.8485,  1.1314])
    """

    def __init__(self, table: Tensor, first: float = 0.0, by_row: bool = False, eps: float = 1e-10) -> None:
        self.table = table.detach().view(len(table), -1)  # shares its memory
        self.by_row, self.eps = by_row, eps
        self.squares = torch.full_like(self.table[:, :1] if by_row else self.table, first)

    @torch.no_grad()
    def step(self, ids: Tensor, grads: Tensor, rate: float) -> None:
        """Move rows `ids` (M,) against their gradients (M, D), or (M,)."""
        rows, places = torch.unique(ids, return_inverse=True)
        total = grads.new_zeros(len(rows), self.table.shape[1])
        total.index_add_(0, places, grads.reshape(len(ids), self.table.shape[1]))
        more = total.square().mean(1, keepdim=True) if self.by_row else total.square()
        # index_select and index_add_ are several times as fast as table[rows] and table[rows] -= ...
        squares = self.squares.index_select(0, rows).add_(more)
        self.squares.index_copy_(0, rows, squares)
        self.table.index_add_(0, rows, total.div_(squares.sqrt_().add_(self.eps)), alpha=-rate)

"""GloVe in PyTorch: twin of `bertlab.reference.glove`."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from bertlab.nn.functional import embedding
from bertlab.nn.parameters import check_names

NAMES = ("word.weight", "context.weight", "word.bias", "context.bias")
Entries = tuple[Tensor, Tensor, Tensor]


def glove_weights(counts: Tensor, cut: float = 100.0, power: float = 0.75) -> Tensor:
    """Say how much an entry counts: the more, the more often its words met, up to a limit.

    Parameters
    ----------
    counts : (M,) float tensor, X.
    cut : the count from which the weight is 1.
    power : how fast it rises until then.

    Returns
    -------
    (M,) float tensor: ``min(1, X / cut) ** power``.

    References
    ----------
    Pennington et al. 2014, sec. 3, eq. (9).

    Examples
    --------
    >>> glove_weights(torch.tensor([0.0, 100 / 16, 5000.0])).tolist()
    [0.0, 0.125, 1.0]
    """
    return (counts / cut).clamp(max=1.0) ** power


def glove_loss(
    entries: Entries, params: Mapping[str, Tensor], cut: float = 100.0, power: float = 0.75
) -> Tensor:
    """Sum of the weighted squared errors of the logarithms.

    Parameters
    ----------
    entries : rows, columns, counts, each (M,): word `rows[m]` met word `columns[m]` `counts[m]` times. Only
        pairs that did meet: counts are positive.
    params : the `state_dict` of `GloVe`.
    cut, power : as in `glove_weights`.

    Returns
    -------
    scalar tensor: ``Σ f(X) (w·c + b_w + b_c - log X)²``.

    Raises
    ------
    ValueError
        If a count is not positive, an id has no row, or a parameter is missing or left over.

    References
    ----------
    Pennington et al. 2014, sec. 3, eq. (8).
    """
    check_names(params, NAMES)
    rows, columns, counts = entries
    if not (counts > 0).all():
        raise ValueError(f"a count of {float(counts.min())} has no logarithm: keep the pairs that did meet")
    product = (embedding(rows, params["word.weight"]) * embedding(columns, params["context.weight"])).sum(-1)
    errors = product + params["word.bias"][rows] + params["context.bias"][columns] - counts.log()  # (M,)
    return (glove_weights(counts, cut, power) * errors**2).sum()


class Side(nn.Module):
    """Vectors and biases of all words in one of their two roles.

    Parameters
    ----------
    vocab_size, d_model : V and D.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).uniform_(-0.5 / d_model, 0.5 / d_model))
        self.bias = nn.Parameter(torch.empty(vocab_size).uniform_(-0.5 / d_model, 0.5 / d_model))


class GloVe(nn.Module):
    """Two vectors and two biases for each word, which the model cannot tell apart: their sum is used.

    `bertlab.training.train_glove` trains it; the loss here is the formula, for any optimiser.

    Parameters
    ----------
    vocab_size : V.
    d_model : width D of a vector.

    References
    ----------
    Pennington et al. 2014, sec. 4.2 for the sum; first weights: glove.c, even in ±1 / 2D, the biases too.

    Examples
    --------
    >>> model = GloVe(vocab_size=10, d_model=4)
    >>> model.vectors().shape
    torch.Size([10, 4])
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.word, self.context = Side(vocab_size, d_model), Side(vocab_size, d_model)

    def loss(self, rows: Tensor, columns: Tensor, counts: Tensor) -> Tensor:
        """Sum of the weighted squared errors of some entries, each (M,)."""
        return glove_loss((rows, columns, counts), dict(self.named_parameters()))

    def vectors(self) -> Tensor:
        """The word vectors (V, D): those of both roles, added."""
        return (self.word.weight + self.context.weight).detach()

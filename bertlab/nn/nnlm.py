"""The neural language model of 2003 in PyTorch: twin of `bertlab.reference.nnlm`."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from bertlab.nn.functional import cross_entropy, embedding, linear
from bertlab.nn.parameters import check_names, split_parameters

NAMES = ("table.weight", "hidden.weight", "hidden.bias", "output.weight", "output.bias")
DIRECT = "direct.weight"


def nnlm(context: Tensor, params: Mapping[str, Tensor]) -> Tensor:
    """Score every word as the next one, from the vectors of the last few words, one behind the other.

    Parameters
    ----------
    context : (B, N) integer tensor, the last N words, the oldest first.
    params : the `state_dict` of `NNLM`. With "direct.weight", the vectors also reach the scores without
        passing the hidden layer.

    Returns
    -------
    (B, V) float tensor of logits: ``b + W x + U tanh(d + H x)``, where x are the N vectors in one.

    Raises
    ------
    ValueError
        If an id has no row, a parameter is missing or left over, or N is not what the hidden layer reads.

    References
    ----------
    Bengio et al. 2003, sec. 2, eq. (1). The rows of "table.weight", their C, are the word vectors.
    """
    check_names(params, (*NAMES, DIRECT) if DIRECT in params else NAMES)
    part = split_parameters(params, ("table", "hidden", "output", *(["direct"] if DIRECT in params else [])))
    joined = embedding(context, part["table"]["weight"]).flatten(1)  # (B, N, D) -> (B, N * D)
    hidden = linear(joined, part["hidden"]["weight"], part["hidden"]["bias"]).tanh()  # (B, F)
    logits = linear(hidden, part["output"]["weight"], part["output"]["bias"])  # (B, V)
    return logits + linear(joined, part["direct"]["weight"]) if "direct" in part else logits


class NNLM(nn.Module):
    """Embeddings of the last N words, one behind the other, a hidden layer, a score for every word.

    Parameters
    ----------
    vocab_size : V.
    d_model : width D of a word's vector.
    d_hidden : width F of the hidden layer.
    n_context : N, how many words it looks back; their model of order n has n - 1.
    direct : whether the vectors also reach the scores directly, W in the paper.

    References
    ----------
    Bengio et al. 2003, sec. 2, fig. 1; sizes: sec. 4.2 (D 30 to 60, F 50 or 100, n 3 or 5).

    Examples
    --------
    >>> import torch
    >>> model = NNLM(vocab_size=100, d_model=30, d_hidden=50, n_context=4)
    >>> model(torch.tensor([[7, 8, 9, 10]])).shape  # (B, V)
    torch.Size([1, 100])
    """

    def __init__(
        self, vocab_size: int, d_model: int, d_hidden: int, n_context: int, direct: bool = False
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.table.weight, std=0.1)  # rare rows hardly move: as first drawn, they stay small
        self.hidden = nn.Linear(n_context * d_model, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)
        self.direct = nn.Linear(n_context * d_model, vocab_size, bias=False) if direct else None

    def forward(self, context: Tensor) -> Tensor:
        """Map (B, N) words to (B, V) scores of the next one."""
        return nnlm(context, dict(self.named_parameters()))

    def loss(self, context: Tensor, following: Tensor) -> Tensor:
        """Mean surprise, in nats, at the words (B,) that follow the words (B, N)."""
        return cross_entropy(self(context), following)

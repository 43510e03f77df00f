"""Word2Vec's two models in PyTorch: twin of `bertlab.reference.word2vec`."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from bertlab.nn.functional import embedding
from bertlab.nn.negative_sampling import negative_sampling_loss
from bertlab.nn.parameters import check_names

NAMES = ("input.weight", "output.weight")


def skip_gram_loss(
    centres: Tensor, targets: Tensor, negatives: Tensor, params: Mapping[str, Tensor], share: float = 1.0
) -> Tensor:
    """Ask each word for one of the words around it.

    Parameters
    ----------
    centres, targets : (B,) integer tensors, a word and one that stands near it.
    negatives : (B, N) integer tensor, words drawn from noise.
    params : the `state_dict` of `Word2Vec`; the word vectors are the rows of "input.weight".
    share : as in `negative_sampling_loss`.

    Returns
    -------
    scalar tensor: the mean loss of a pair, in nats.

    Raises
    ------
    ValueError
        As in `negative_sampling_loss`; or if a parameter is missing or left over.

    References
    ----------
    Mikolov et al. 2013a, sec. 3.2; 2013b, sec. 2.2, eq. (4).
    """
    check_names(params, NAMES)
    hidden = embedding(centres, params["input.weight"])  # (B, D)
    return negative_sampling_loss(hidden, targets, negatives, params["output.weight"], share)


def cbow_loss(
    contexts: Tensor,
    mask: Tensor,
    targets: Tensor,
    negatives: Tensor,
    params: Mapping[str, Tensor],
    share: float = 1.0,
) -> Tensor:
    """Ask the mean of the words around a place which word stands there: a bag of words, without order.

    Parameters
    ----------
    contexts : (B, C) integer tensor, the words around.
    mask : (B, C) bool tensor, True where there is a word; at least one in each row.
    targets : (B,) integer tensor, the words in the middle.
    negatives : (B, N) integer tensor, words drawn from noise.
    params : the `state_dict` of `Word2Vec`; the word vectors are the rows of "input.weight".
    share : as in `negative_sampling_loss`.

    Returns
    -------
    scalar tensor: the mean loss of a place, in nats.

    Raises
    ------
    ValueError
        As in `negative_sampling_loss`; if a row has no word; or if a parameter is missing or left over.

    References
    ----------
    Mikolov et al. 2013a, sec. 3.1. The mean is differentiated as a mean: word2vec's own code hands each word
    the whole gradient; Irsoy et al. 2021 ("Corrected CBOW performs as well as skip-gram") found that to hurt.
    """
    check_names(params, NAMES)
    count = mask.sum(1, keepdim=True)  # (B, 1)
    if not count.all():
        raise ValueError(f"row {int(count.argmin())} of mask has no word: leave out a place without context")
    vectors = embedding(contexts, params["input.weight"])  # (B, C, D)
    hidden = ((mask.to(vectors) / count)[:, :, None] * vectors).sum(1)  # (B, D)
    return negative_sampling_loss(hidden, targets, negatives, params["output.weight"], share)


class Word2Vec(nn.Module):
    """Two vectors for each word: one as the word that is given, one as the word that is asked for.

    `bertlab.training.train_word2vec` trains it fast; the losses here are the formulas, for any optimiser.

    Parameters
    ----------
    vocab_size : V.
    d_model : width D of a vector.

    References
    ----------
    First weights: word2vec.c, "InitNet": the input's even in ±1 / 2D, the output's 0.

    Examples
    --------
    >>> import torch
    >>> model = Word2Vec(vocab_size=10, d_model=4)
    >>> one, other, noise = torch.tensor([3]), torch.tensor([4]), torch.tensor([[5, 6]])
    >>> round(model.skip_gram_loss(one, other, noise).item(), 4)  # nothing is known yet: 3 log 2
    2.0794
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.input = nn.Embedding(vocab_size, d_model)
        self.output = nn.Embedding(vocab_size, d_model)
        nn.init.uniform_(self.input.weight, -0.5 / d_model, 0.5 / d_model)
        nn.init.zeros_(self.output.weight)

    def skip_gram_loss(self, centres: Tensor, targets: Tensor, negatives: Tensor) -> Tensor:
        """Mean loss of pairs of words near each other, (B,) and (B,), against noise (B, N)."""
        return skip_gram_loss(centres, targets, negatives, dict(self.named_parameters()))

    def cbow_loss(self, contexts: Tensor, mask: Tensor, targets: Tensor, negatives: Tensor) -> Tensor:
        """Mean loss of words (B,) in the middle of others (B, C), against noise (B, N)."""
        return cbow_loss(contexts, mask, targets, negatives, dict(self.named_parameters()))

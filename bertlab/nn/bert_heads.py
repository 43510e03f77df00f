"""What BERT is pre-trained with, in PyTorch: twin of `bertlab.reference.bert_heads`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor, nn

from bertlab.nn.bert import BertModel, BertOutput, begin, bert
from bertlab.nn.bert_config import BertConfig
from bertlab.nn.feed_forward import ACTIVATIONS, Activation, check_activation
from bertlab.nn.functional import layer_norm, linear
from bertlab.nn.losses import cross_entropy
from bertlab.nn.packing import Packing
from bertlab.nn.parameters import check_names, split_parameters

HEAD = ("dense.weight", "dense.bias", "norm.weight", "norm.bias", "bias")
PARTS = ("bert", "masked_lm", "next_sentence")


def masked_lm_logits(
    states: Tensor,
    table: Tensor,
    params: Mapping[str, Tensor],
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> Tensor:
    """Score every piece of the vocabulary at every position: by its own embedding, and a bias.

    Parameters
    ----------
    states : (..., D) float tensor, of the last layer.
    table : (V, D) float tensor, the token embeddings.
    params : the `state_dict` of `MaskedLMHead`.
    activation, eps : as in `feed_forward` and `layer_norm`.

    Returns
    -------
    (..., V) float tensor.

    Raises
    ------
    ValueError
        If a parameter is missing or left over.

    References
    ----------
    google-research/bert, run_pretraining.py, "get_masked_lm_output". One matrix for two: Press & Wolf 2017.
    """
    check_names(params, HEAD)
    check_activation(activation)
    active = ACTIVATIONS[activation](linear(states, params["dense.weight"], params["dense.bias"]))
    features = layer_norm(active, params["norm.weight"], params["norm.bias"], eps)  # (..., D)
    return linear(features, table, params["bias"])  # (..., D) -> (..., V)


def pretraining_loss(
    ids: Tensor,
    segments: Tensor,
    positions: Tensor,
    labels: Tensor,
    next_labels: Tensor,
    params: Mapping[str, Tensor],
    n_heads: int,
    mask: Tensor | None = None,
    activation: Activation = "gelu",
    eps: float = 1e-12,
) -> tuple[Tensor, Tensor, Tensor]:
    """Ask BERT for hidden pieces and for the next sentence; the losses are added.

    Parameters
    ----------
    ids, segments : (B, T) integer tensors, pieces hidden.
    positions, labels : (M,) integer tensors: which pieces were chosen, row * T + column, and what they were.
    next_labels : (B,) integer tensor: 0 where the second text follows the first, 1 where it does not.
    params : the `state_dict` of `BertForPreTraining`.
    n_heads, mask, activation, eps : as in `bert`.

    Returns
    -------
    joint, masked_lm, next_sentence : the loss, and the two it is the sum of, in nats.

    Raises
    ------
    ValueError
        As in `bert`, `masked_lm_logits` and `cross_entropy`.

    References
    ----------
    Devlin et al. 2019, sec. 3.1, and appendix A.2: "the sum of the mean masked LM likelihood and the mean
    next sentence prediction likelihood".
    """
    part = split_parameters(params, PARTS)
    layers, pooled, _ = bert(ids, segments, part["bert"], n_heads, mask, activation, eps)
    table = part["bert"]["embeddings.token.weight"]
    logits = masked_lm_logits(at(layers[-1], positions), table, part["masked_lm"], activation, eps)
    head = part["next_sentence"]
    masked_lm = cross_entropy(logits, labels)
    next_sentence = cross_entropy(linear(pooled, head["weight"], head["bias"]), next_labels)
    return masked_lm + next_sentence, masked_lm, next_sentence


def at(states: Tensor, positions: Tensor) -> Tensor:
    """Take the chosen positions (M,), row * T + column, out of a batch: (B, T, D) -> (M, D)."""
    return states.flatten(0, 1)[positions]


class MaskedLMHead(nn.Module):
    """One more layer with a norm, then the dot product with every token embedding; see `masked_lm_logits`.

    The matrix of the output is the table of token embeddings, which the caller hands over: one parameter.

    Parameters
    ----------
    config : sizes and choices.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.activation = config.activation
        self.dense = nn.Linear(config.d_model, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.eps)
        self.bias = nn.Parameter(self.dense.weight.new_zeros(config.vocab_size))
        self.apply(begin)

    def forward(self, states: Tensor, table: Tensor) -> Tensor:
        """Map (..., D) to logits (..., V), by the token embeddings (V, D)."""
        features: Tensor = self.norm(ACTIVATIONS[self.activation](self.dense(states)))
        return nn.functional.linear(features, table, self.bias)


class PretrainingOutput(NamedTuple):
    """What BERT answers in pre-training."""

    logits: Tensor  # (M, V) of the chosen positions, or (B, T, V) of all
    next_logits: Tensor | None  # (B, 2): B follows A, B is from another document; None without that head
    bert: BertOutput


class BertForPreTraining(nn.Module):
    """BERT with the heads of its pre-training.

    Parameters
    ----------
    config : sizes and choices.
    next_sentence : whether it has the second head, and the pooler, which nothing else would train.

    References
    ----------
    Devlin et al. 2019, sec. 3.1.

    Examples
    --------
    >>> import torch
    >>> model = BertForPreTraining(BertConfig.tiny(vocab_size=100))
    >>> ids = torch.tensor([[2, 7, 4, 3], [2, 4, 8, 3]])
    >>> model(ids).logits.shape, model(ids, positions=torch.tensor([2, 5])).logits.shape
    (torch.Size([2, 4, 100]), torch.Size([2, 100]))
    """

    def __init__(self, config: BertConfig, next_sentence: bool = True) -> None:
        super().__init__()
        self.config = config
        self.bert = BertModel(config, pooler=next_sentence)
        self.masked_lm = MaskedLMHead(config)
        self.next_sentence = nn.Linear(config.d_model, 2).apply(begin) if next_sentence else None

    def forward(
        self,
        ids: Tensor,
        segments: Tensor | None = None,
        mask: Tensor | Packing | None = None,
        positions: Tensor | None = None,
        need_weights: bool = False,
    ) -> PretrainingOutput:
        """Fill in pieces and judge whether the second text follows the first.

        Parameters
        ----------
        ids, segments, mask, need_weights : as in `BertModel.forward`.
        positions : (M,) integer tensor, row * T + column: score the vocabulary there alone. In training this
            saves most of the work, since six of seven positions are not asked for; if not given, everywhere.
        """
        output = self.bert(ids, segments, mask, need_weights)
        if isinstance(mask, Packing) and positions is not None:
            positions = mask.at(positions)  # (M,) places in the row
        states = output.states if positions is None else at(output.states, positions)
        logits = self.masked_lm(states, self.bert.embeddings.token.weight)
        next_logits = None if self.next_sentence is None else self.next_sentence(output.pooled)
        return PretrainingOutput(logits, next_logits, output)

    def loss(
        self,
        ids: Tensor,
        segments: Tensor,
        positions: Tensor,
        labels: Tensor,
        next_labels: Tensor,
        mask: Tensor | Packing | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the joint loss and its two parts in nats, the second 0 without that head.

        See `pretraining_loss`. With `Packing.where_it_pays` as mask the same comes sooner.
        """
        output = self(ids, segments, mask, positions)
        masked_lm = cross_entropy(output.logits, labels)
        if output.next_logits is None:
            return masked_lm, masked_lm, masked_lm.new_zeros(())
        next_sentence = cross_entropy(output.next_logits, next_labels)
        return masked_lm + next_sentence, masked_lm, next_sentence

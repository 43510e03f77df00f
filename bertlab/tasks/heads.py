"""The small layers that stand on BERT: one for whole inputs, one for each piece, one for spans.

All that is new in fine-tuning is one matrix. Everything below it is pre-trained.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bertlab.nn.bert import BertModel, begin
from bertlab.nn.dropout import Dropout
from bertlab.nn.losses import cross_entropy
from bertlab.nn.packing import Packing
from bertlab.text.masked_lm import IGNORE_INDEX

Mask = Tensor | Packing | None


def wide(scores: Tensor) -> Tensor:
    """Give scores at least 32 bits: what is computed in bfloat16 has 8, too few for a loss."""
    return scores.to(torch.promote_types(scores.dtype, torch.float32))


class BertForClassification(nn.Module):
    """One answer for a text, or for a pair of texts: a layer on what [CLS] became.

    Parameters
    ----------
    bert : the pre-trained encoder. If it has no pooler, it gets a new one: the layer with tanh between [CLS]
        and the answer, which next-sentence prediction trains.
    n_classes : number of answers C.
    dropout : probability of dropping a number before the layer.

    References
    ----------
    Devlin et al. 2019, sec. 4.1, and google-research/bert, run_classifier.py, "create_model".

    Examples
    --------
    >>> from bertlab.nn import BertConfig
    >>> model = BertForClassification(BertModel(BertConfig.tiny(vocab_size=100)), n_classes=3)
    >>> model(torch.tensor([[2, 7, 8, 3]])).shape
    torch.Size([1, 3])
    """

    def __init__(self, bert: BertModel, n_classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        width = bert.config.d_model
        if bert.pooler is None:
            bert.pooler = nn.Linear(width, width).apply(begin)
        self.bert, self.dropout = bert, Dropout(dropout)
        self.classifier = nn.Linear(width, n_classes).apply(begin)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Mask = None) -> Tensor:
        """Score the answers to (B, T) ids: (B, C). Parameters as of `BertModel.forward`."""
        scores: Tensor = self.classifier(self.dropout(self.bert(ids, segments, mask).pooled))
        return scores

    def loss(self, labels: Tensor, ids: Tensor, segments: Tensor, mask: Mask = None) -> Tensor:
        """Compute the mean surprise at the right answers (B,), in nats."""
        return cross_entropy(wide(self(ids, segments, mask)), labels)


class BertForTokens(nn.Module):
    """One answer for each piece: a layer on what it became.

    Parameters
    ----------
    bert : the pre-trained encoder.
    n_labels : number of answers C.
    dropout : probability of dropping a number before the layer.

    References
    ----------
    Devlin et al. 2019, sec. 5.3 and fig. 4 (d): no CRF, the first piece of a word answers for it.
    """

    def __init__(self, bert: BertModel, n_labels: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.bert, self.dropout = bert, Dropout(dropout)
        self.classifier = nn.Linear(bert.config.d_model, n_labels).apply(begin)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Mask = None) -> Tensor:
        """Score the labels of each piece: (B, T, C). What stands at padded positions means nothing."""
        scores: Tensor = self.classifier(self.dropout(self.bert(ids, segments, mask).states))
        return mask.unpack(scores) if isinstance(mask, Packing) else scores

    def loss(self, labels: Tensor, ids: Tensor, segments: Tensor, mask: Mask = None) -> Tensor:
        """Compute the mean surprise at the right labels (B, T), in nats; IGNORE_INDEX asks nothing."""
        return cross_entropy(wide(self(ids, segments, mask)), labels, IGNORE_INDEX)


class BertForSpans(nn.Module):
    """Two scores for each piece: that the answer begins here, and that it ends here.

    Parameters
    ----------
    bert : the pre-trained encoder.

    References
    ----------
    Devlin et al. 2019, sec. 4.2: a start vector S and an end vector E; the two are rows of one matrix here.
    """

    def __init__(self, bert: BertModel) -> None:
        super().__init__()
        self.bert = bert
        self.spans = nn.Linear(bert.config.d_model, 2).apply(begin)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Mask = None) -> Tensor:
        """Score each piece as start and as end of the answer: (2, B, T), padding with -inf."""
        scores: Tensor = self.spans(self.bert(ids, segments, mask).states)
        scores = mask.unpack(scores) if isinstance(mask, Packing) else scores
        padding = (ids == self.bert.config.pad_id)[..., None]
        return scores.masked_fill(padding, -torch.inf).movedim(-1, 0)

    def loss(self, labels: Tensor, ids: Tensor, segments: Tensor, mask: Mask = None) -> Tensor:
        """Compute the mean surprise at starts and ends (2, B), in nats; (0, 0), at [CLS], is no answer."""
        start, end = wide(self(ids, segments, mask))
        return (cross_entropy(start, labels[0]) + cross_entropy(end, labels[1])) / 2


Head = BertForClassification | BertForTokens | BertForSpans

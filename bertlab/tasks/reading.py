"""A trunk that stays as it is: it reads each input once, and what it said of it is kept.

Only what stands above it is trained then. Nothing in the trunk changes from one epoch to the next, so there
is nothing to compute anew; dropout does not act in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from bertlab.nn.bert import BertModel, BertOutput
from bertlab.nn.bert_config import BertConfig
from bertlab.nn.packing import Packing
from bertlab.tasks.heads import BertForClassification
from bertlab.training.bfloat16 import InBfloat16


class ReadOnce(nn.Module):
    """Stand in for an encoder that is not trained: (B, T) ids in, what its last layer says out, as before.

    Parameters
    ----------
    bert : the encoder. Its pooler is trained, and so belongs to this module; its other weights do not.
    first_only : keep what [CLS] became, and nothing else.
    bf16 : read in bfloat16. What is kept has 32 bits.

    Examples
    --------
    >>> bert = BertModel(BertConfig.tiny(vocab_size=100)).eval()
    >>> once, ids = ReadOnce(bert), torch.tensor([[2, 7, 8, 3]])
    >>> bool(torch.equal(once(ids).pooled, bert(ids).pooled)), once.n_read, once(ids) and once.n_read
    (True, 1, 1)
    """

    def __init__(self, bert: BertModel, first_only: bool = False, bf16: bool = False) -> None:
        super().__init__()
        self.pooler, self.first_only = bert.pooler, first_only
        self.trunk = (bert,)  # in a tuple, so that its weights are none of this module's
        self.reader = (InBfloat16(bert) if bf16 else bert,)
        self.kept: dict[bytes, Tensor] = {}  # by ids and segments: (t, D), or (1, D) of [CLS]

    @property
    def config(self) -> BertConfig:
        """Sizes and choices of the encoder."""
        return self.trunk[0].config

    @property
    def n_read(self) -> int:
        """Count the inputs that were read."""
        return len(self.kept)

    def forward(self, ids: Tensor, segments: Tensor | None = None, mask: Any = None) -> BertOutput:
        """See `BertModel.forward`; of the layers there is the last one, with `first_only` its first column.

        Padding must be at the end of each row, and is all that may be hidden.
        """
        segments = torch.zeros_like(ids) if segments is None else segments
        lengths = (ids != self.config.pad_id).sum(1).tolist()
        rows = [torch.stack(pair) for pair in zip(ids.cpu(), segments.cpu(), strict=True)]  # of (2, T)
        keys = [row[:, :t].numpy().tobytes() for row, t in zip(rows, lengths, strict=True)]
        new = list({key: place for place, key in enumerate(keys) if key not in self.kept}.items())
        if new:
            self._read(new, ids, segments, lengths)
        states = pad_sequence([self.kept[key] for key in keys], batch_first=True)  # (B, T or 1, D)
        if not self.first_only:  # the longest row of a batch need not be the last to have padding
            states = nn.functional.pad(states, (0, 0, 0, ids.shape[1] - states.shape[1]))
        pooled = None if self.pooler is None else self.pooler(states[:, 0]).tanh()
        packs = isinstance(mask, Packing) and not self.first_only
        return BertOutput((mask.pack(states) if packs else states,), pooled, None)

    @torch.no_grad()
    def _read(self, new: list[tuple[bytes, int]], ids: Tensor, segments: Tensor, lengths: list[int]) -> None:
        """Read some rows of a batch, and keep what the last layer says of them."""
        self.trunk[0].eval()
        places = [place for _, place in new]
        longest = max(lengths[place] for place in places)
        some, theirs = ids[places, :longest], segments[places, :longest]
        packing = Packing.where_it_pays(some != self.config.pad_id)
        states = self.reader[0](some, theirs, packing).states.float()
        states = packing.unpack(states) if packing else states
        for (key, place), said in zip(new, states, strict=True):
            self.kept[key] = said[: 1 if self.first_only else lengths[place]].clone()


@contextmanager
def trunk_read_once(model: Any, bf16: bool = False) -> Iterator[None]:
    """Keep embeddings and encoder of a head as they are for a while; the pooler is above them.

    Parameters
    ----------
    model : one of `bertlab.tasks.heads`; its parameters are those above the trunk, for so long.
    bf16 : as in `ReadOnce`.

    Raises
    ------
    ValueError
        If the model has no trunk.
    """
    bert = getattr(model, "bert", None)
    if not isinstance(bert, BertModel):
        raise ValueError(
            f"{type(model).__name__} has no encoder to keep as it is: train it with frozen=False"
        )
    model.bert = cast(BertModel, ReadOnce(bert, isinstance(model, BertForClassification), bf16))
    try:
        yield
    finally:
        model.bert = bert


def trunk_fingerprint(model: Any) -> str:
    """Tell the weights of a head's trunk from all others, as a run must know that keeps them nowhere."""
    found = hashlib.sha256()
    for name, weight in model.bert.state_dict().items():
        if not name.startswith("pooler."):
            found.update(weight.detach().cpu().numpy().tobytes())
    return found.hexdigest()[:16]

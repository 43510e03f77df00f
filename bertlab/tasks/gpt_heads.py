"""What stands on GPT in fine-tuning: one layer for whole inputs, and three tokens that tell it where it is.

A GPT reads from left to right, so only the last position has seen all of a text. There stands the extract
token, and what it became is classified. The language model's loss on the same texts is learnt beside it.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from bertlab.nn.bert_heads import at
from bertlab.nn.dropout import Dropout
from bertlab.nn.gpt import GPT, begin
from bertlab.nn.language_model import shift_left
from bertlab.nn.losses import cross_entropy
from bertlab.nn.packing import Packing
from bertlab.tasks.heads import Head, wide
from bertlab.text.inputs import Marks


class GPTForClassification(nn.Module):
    """One answer for a text, or for a pair of texts: a layer on what the extract token became.

    Inputs are "start, text, extract" or "start, text, delimiter, second text, extract": `join_texts` of
    `bertlab.text.inputs` makes them with the `marks` of this head.

    Parameters
    ----------
    gpt : the pre-trained language model. It gets three new tokens, behind those that it has.
    n_classes : number of answers C.
    dropout : probability of dropping a number before the layer.
    lm_weight : λ, what the language model's loss counts beside that of the answers.

    References
    ----------
    Radford et al. 2018, sec. 3.2, eq. (3) to (5), and 3.3; λ = 0.5 and dropout of 0.1: sec. 4.1. The bias is
    of the authors' code.

    Examples
    --------
    >>> from bertlab.nn import GPTConfig
    >>> model = GPTForClassification(GPT(GPTConfig.tiny(vocab_size=100)), n_classes=3)
    >>> model.marks
    Marks(first=100, between=101, last=102)
    >>> model(torch.tensor([[100, 7, 8, 102]])).shape
    torch.Size([1, 3])
    """

    def __init__(self, gpt: GPT, n_classes: int, dropout: float = 0.1, lm_weight: float = 0.5) -> None:
        super().__init__()
        if lm_weight < 0:
            raise ValueError(f"lm_weight={lm_weight}: choose 0 or more, 0.5 in the paper")
        self.marks = Marks(*new_tokens(gpt, len(Marks._fields)))
        self.gpt, self.dropout, self.lm_weight = gpt, Dropout(dropout), lm_weight
        self.classifier = nn.Linear(gpt.config.d_model, n_classes).apply(begin)

    def forward(self, ids: Tensor, packing: Packing | None = None) -> Tensor:
        """Score the answers to (B, T) ids: (B, C). Parameters as of `GPT.read`."""
        return self._scores(self.gpt.read(ids, packing)[0][-1], self._last(ids), packing)

    def loss(self, labels: Tensor, ids: Tensor, packing: Packing | None = None) -> Tensor:
        """Compute the mean surprise at the right answers (B,), plus λ times that at each next token."""
        states, last = self.gpt.read(ids, packing)[0][-1], self._last(ids)
        loss = cross_entropy(wide(self._scores(states, last, packing)), labels)
        if not self.lm_weight:
            return loss
        columns = torch.arange(ids.shape[1], device=ids.device)  # (T,)
        real = columns <= (last % ids.shape[1])[:, None]  # (B, T): up to the extract token
        return loss + self.lm_weight * self.gpt.loss_of(states, shift_left(ids, real), packing)

    def _scores(self, states: Tensor, last: Tensor, packing: Packing | None) -> Tensor:
        """Map states of all positions, and where the extract tokens are (B,), to (B, C)."""
        chosen = at(states, packing.at(last) if packing else last)  # (B, D)
        scores: Tensor = self.classifier(self.dropout(chosen))
        return scores

    def _last(self, ids: Tensor) -> Tensor:
        """Find the extract token of each row: row * T + column (B,)."""
        is_last = ids == self.marks.last  # (B, T)
        counts = is_last.sum(1)
        if not torch.compiler.is_compiling() and (counts != 1).any():
            row = int((counts != 1).nonzero()[0])
            raise ValueError(
                f"row {row} has {int(counts[row])} extract tokens instead of 1: make inputs with the `marks` "
                "of the head"
            )
        rows = torch.arange(len(ids), device=ids.device)
        return rows * ids.shape[1] + is_last.int().argmax(1)


@torch.no_grad()
def new_tokens(gpt: GPT, n: int) -> range:
    """Give a GPT n more tokens, behind those that it has, with new embeddings; return their ids.

    References
    ----------
    Radford et al. 2018, sec. 3.3: "randomly initialized start and end tokens".
    """
    table, V = gpt.embeddings.token.weight, gpt.config.vocab_size
    more = torch.empty(n, table.shape[1], dtype=table.dtype, device=table.device)
    larger = torch.cat([table, nn.init.normal_(more, std=0.02)])  # (V + n, D)
    gpt.embeddings.token = nn.Embedding.from_pretrained(larger, freeze=False)
    gpt.config = replace(gpt.config, vocab_size=V + n)
    return range(V, V + n)


AnyHead = Head | GPTForClassification

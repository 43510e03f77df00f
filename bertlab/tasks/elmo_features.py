"""ELMo as a source of features: of each word, what each direction says where it has read the whole of it.

A word may be several pieces. Where BERT's layers are taken at the first piece, an LSTM from the left has not
yet seen the others there; it has at the last one. An LSTM from the right has read the whole word at its first
piece. So each half of a layer is taken where that direction leaves the word, and the embedding, which is no
direction's, is the mean over the pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from bertlab.tasks.entities import TaggedSentence, WordInputs, word_inputs
from bertlab.text.inputs import Truncation, pad_batch
from bertlab.text.wordpiece import WordPiece


@torch.no_grad()
def elmo_states(
    elmo: nn.Module,
    tokenizer: WordPiece,
    sentences: Sequence[TaggedSentence],
    max_length: int = 128,
    truncation: Truncation | None = "only_first",
    batch_size: int = 32,
) -> list[Tensor]:
    """Read sentences once with an ELMo of pieces, and keep what every layer says of each word.

    The result is what `FeatureTagger` and `FeatureEntities` take, with ``"scalar mix"`` or another choice, L
    of the model and a width of 2D.

    Parameters
    ----------
    elmo, tokenizer : the pre-trained model, an `ELMo` or a `SpelledELMo`; it is put into evaluation mode.
    sentences, max_length, truncation : as in `word_inputs`.
    batch_size : sentences read at a time.

    Returns
    -------
    for each sentence (L + 1, W, 2D) in float16, W the words that were not cut off.

    References
    ----------
    Peters et al. 2018, sec. 3.3: run the biLM, record all layers of each word, let the task mix them.
    """
    elmo.eval()
    words = [word_inputs(one.words, tokenizer, max_length, truncation) for one in sentences]
    found: list[Tensor] = [torch.empty(0)] * len(words)
    order = sorted(range(len(words)), key=lambda i: len(words[i].inputs.ids))
    device = next(elmo.parameters()).device
    for first in range(0, len(order), batch_size):
        some = order[first : first + batch_size]
        batch = pad_batch([words[i].inputs for i in some], tokenizer.pad_id)
        layers = torch.stack(elmo(torch.from_numpy(batch.ids).to(device)).layers)  # (L + 1, B, T, 2D)
        for place, i in enumerate(some):
            spans = word_spans(words[i])
            found[i] = span_states(layers[:, place], spans).to("cpu", torch.float16)
    return found


def word_spans(found: WordInputs) -> np.ndarray:
    """Give the first and the last piece of each word that was not cut off: (W, 2).

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> tokenizer = WordPiece([*SPECIAL, "ivo", "hart", "##well"])
    >>> word_spans(word_inputs(["Ivo", "Hartwell"], tokenizer)).tolist()
    [[1, 1], [2, 3]]
    """
    ends = np.append(found.firsts[1:], len(found.inputs.ids) - 1) - 1  # [SEP] is the last position
    return np.stack([found.firsts, ends[: len(found.firsts)]], axis=1)


def span_states(layers: Tensor, spans: np.ndarray) -> Tensor:
    """Take what the layers of a text say of some of its spans.

    Parameters
    ----------
    layers : (L + 1, T, 2D) float tensor, of one text: the embeddings, then layers of both directions.
    spans : (W, 2) first and last position of each span.

    Returns
    -------
    (L + 1, W, 2D) float tensor: from the left at the last position, from the right at the first one; of the
    embeddings the mean.
    """
    first, last = torch.from_numpy(spans).to(layers.device).T  # (W,) each
    ahead, back = layers.chunk(2, dim=-1)
    taken = torch.cat([ahead[:, last], back[:, first]], dim=-1)  # (L + 1, W, 2D)
    means = [layers[0, a : b + 1].mean(0) for a, b in spans.tolist()]
    if means:
        taken[0] = torch.stack(means)
    return taken

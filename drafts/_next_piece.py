"""How surprised left-to-right models are by text that none of them has read: a GPT, and counting.

Every piece is asked for, given those before it in its document. A GPT sees at most 126 of them: a document
is read in windows that overlap by half, and of each window only what no earlier one has asked for counts. So
each piece has at least 63 pieces before it, but at the beginning of a document. Counting sees three, and,
with a memory, which pieces the document has had so far (Kuhn & De Mori 1990).

Bits per piece compare models of one vocabulary alone: who cuts words into more pieces has easier ones. Bits
per word and per letter have the same sum of bits, and another number under it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from _bert_corpus import held_out_documents
from _comparison import Each, difference, each_of, interval, told
from _ngrams import KneserNey
from bertlab.datasets.documents import Document
from bertlab.nn import GPT
from bertlab.text import WordPiece
from bertlab.text.masked_lm import Ids

ROOM, STEP, AT_ONCE = 126, 63, 32  # pieces between [CLS] and [SEP]; from window to window; windows a batch
PIECES = 60_000  # of each held-out set, in whole documents
MEMORY = 0.1  # what the document's own pieces weigh beside the n-grams; fixed before anything was measured
ENDS = (1, 2, 4, 8, 16, 32, 64, 127)  # groups of places in a window: 0, 1, 2 to 3, 4 to 7 ...

Floats = NDArray[np.float64]
Chances = Callable[[Sequence[Ids]], list[Floats]]  # of each document, what each piece was given


class Text(NamedTuple):
    """A document in pieces, and what its bits are divided by."""

    ids: Ids
    words: int  # punctuation marks are words, too
    letters: int  # spaces between sentences and words counted


def held_out(tokenizer: WordPiece, n: int = PIECES, seed: int = 0) -> dict[str, list[Text]]:
    """Choose documents of each held-out set by chance, until there are so many pieces."""
    found = {}
    for name, documents in held_out_documents().items():
        chosen, total = list[Text](), 0
        for i in np.random.default_rng(seed).permutation(len(documents)):
            if total >= n:
                break
            chosen.append(in_pieces(documents[i], tokenizer))
            total += len(chosen[-1].ids)
        found[name] = chosen
    return found


def in_pieces(document: Document, tokenizer: WordPiece) -> Text:
    """Cut a document into pieces, and count its words and letters.

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> text = in_pieces(Document(["Ab a.", "b"], "letters"), WordPiece([*SPECIAL, "a", "##b", "b", "."]))
    >>> text.ids.tolist(), text.words, text.letters
    ([5, 6, 5, 8, 7], 4, 7)
    """
    ids = np.array([i for row in tokenizer.encode_batch(document.sentences) for i in row], np.int64)
    inside = sum(tokenizer.vocab[i].startswith("##") for i in ids)
    return Text(ids, len(ids) - inside, len(" ".join(document.sentences)))


def by_gpt(model: GPT, tokenizer: WordPiece, step: int = STEP) -> Chances:
    """Ask a GPT; with a step of `ROOM` windows do not overlap, and each begins without memory."""

    def chances(documents: Sequence[Ids]) -> list[Floats]:
        windows = [
            (number, start)
            for number, ids in enumerate(documents)
            for start in range(0, max(len(ids) - (ROOM - step), 1), step)
        ]
        windows.sort(key=lambda window: min(len(documents[window[0]]) - window[1], ROOM))
        found = [np.full(len(ids), np.nan) for ids in documents]
        for first in range(0, len(windows), AT_ONCE):
            some = windows[first : first + AT_ONCE]
            given = _read(model, tokenizer, [documents[number][start:][:ROOM] for number, start in some])
            for (number, start), p in zip(some, given, strict=True):
                new = 0 if start == 0 else ROOM - step
                found[number][start + new : start + len(p)] = p[new:]
        return found

    return chances


@torch.no_grad()
def _read(model: GPT, tokenizer: WordPiece, rows: Sequence[Ids]) -> list[Floats]:
    """Say what each piece of some windows is given by those before it."""
    ids = torch.zeros(len(rows), max(map(len, rows)) + 1, dtype=torch.int64)
    ids[:, 0] = tokenizer.cls_id
    for place, row in zip(ids, rows, strict=True):
        place[1 : len(row) + 1] = torch.from_numpy(row)
    log_p = model(ids[:, :-1]).logits.log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]  # (B, T)
    return [p[: len(row)] for p, row in zip(log_p.double().exp().numpy(), rows, strict=True)]


def by_counting(model: KneserNey, most: int = 3) -> Chances:
    """Ask n-grams, which see so many pieces at most."""

    def chances(documents: Sequence[Ids]) -> list[Floats]:
        return [np.concatenate([np.empty(0), *_counted(model, ids, most)]) for ids in documents]

    return chances


def _counted(model: KneserNey, ids: Ids, most: int, at_once: int = 512) -> list[Floats]:
    padded = np.concatenate([np.zeros(model.order - 1, np.int64), ids])
    near = np.stack([padded[model.order - 2 - i :][: len(ids)] for i in range(model.order - 1)], 1)
    known = np.minimum(np.arange(len(ids)), most)
    given = []
    for first in range(0, len(ids), at_once):
        part = slice(first, first + at_once)
        p, _ = model.predict(near[part], known[part])
        given.append(p[np.arange(len(p)), ids[part]].astype(np.float64))
    return given


def with_memory(given: Sequence[Floats], documents: Sequence[Ids], weight: float = MEMORY) -> list[Floats]:
    """Mix in how often each piece was in the document so far; at its first piece there is nothing yet."""
    found = []
    for ids, p in zip(documents, given, strict=True):
        seen, share = dict[int, int](), np.zeros(len(ids))
        for place, piece in enumerate(ids.tolist()):
            share[place] = seen.get(piece, 0) / max(place, 1)
            seen[piece] = seen.get(piece, 0) + 1
        weights = np.where(np.arange(len(ids)) > 0, weight, 0.0)
        found.append((1 - weights) * p + weights * share)
    return found


def halves(one: list[Floats], other: list[Floats]) -> list[Floats]:
    """Mix two models, half and half: better than both if each knows what the other does not."""
    return [(a + b) / 2 for a, b in zip(one, other, strict=True)]


def bits(given: Sequence[Floats]) -> list[float]:
    """Sum the surprise of each document, in bits."""
    return [-float(np.log2(p).sum()) for p in given]


def summary(texts: Sequence[Text], given: Mapping[str, Sequence[Floats]]) -> dict[str, Any]:
    """Give the surprise of each model by piece, word and letter, and that of each less the first one's.

    Documents, not pieces, are drawn anew for the intervals: a chapter is hard as a whole.
    """
    each = {name: _by_document(texts, p) for name, p in given.items()}
    reference = next(iter(each))
    words, letters = (sum(getattr(text, what) for text in texts) for what in ("words", "letters"))
    found: dict[str, Any] = {}
    for name, own in each.items():
        total = float(own[0, :, 0].sum())
        found[name] = {
            "bits_per_piece": round(total / float(own[0, :, 1].sum()), 4),
            "interval": [round(end, 4) for end in interval(own)],
            "bits_per_word": round(total / words, 4),
            "bits_per_letter": round(total / letters, 4),
        }
        if name != reference:
            found[name]["less_first"] = told(difference(own, each[reference]))
    n_pieces = int(each[reference][0, :, 1].sum())
    return {
        "documents": len(texts), "pieces": n_pieces, "words": words, "letters": letters, "models": found
    }  # fmt: skip


def _by_document(texts: Sequence[Text], given: Sequence[Floats]) -> Each:
    pairs = zip(bits(given), texts, strict=True)
    return each_of([[[total, float(len(text.ids))] for total, text in pairs]])


def by_place(given: Sequence[Floats], room: int = ROOM) -> list[float]:
    """Give the mean surprise in bits by how many pieces were seen: groups that end at `ENDS`.

    Parameters
    ----------
    given : of a model that reads windows of `room` pieces which do not overlap.
    """
    place = np.concatenate([np.arange(len(p)) % room for p in given])
    surprise = -np.log2(np.concatenate(list(given)))
    group = np.searchsorted(ENDS, place, side="right")
    sums, n = (np.bincount(group, w, minlength=len(ENDS)) for w in (surprise, np.ones(len(group))))
    return [
        round(float(total / count), 4) if count else math.nan for total, count in zip(sums, n, strict=True)
    ]


def windows_of(documents: Sequence[Ids], room: int = ROOM) -> list[Ids]:
    """Cut documents into windows, each a document of its own."""
    return [ids[start : start + room] for ids in documents for start in range(0, len(ids), room)]

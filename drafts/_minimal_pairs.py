"""Grammar by minimal pairs: of two sentences that differ in one word, does a model give the right one more?

Pairs are those of BLiMP (Warstadt et al. 2020), six of its 67 kinds, a thousand pairs each. A model scores a
sentence by the sum of the logarithms of its pieces' probabilities; equal scores are half right. Chance is
1/2, but counting single words is not: so n-grams of one, two and four pieces stand beside the models.

BERT has no probability of a sentence. It is asked for each piece with all others shown, and the logarithms
are added up (Salazar et al. 2020, "pseudo-log-likelihood").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import _next_piece
import numpy as np
import torch

from _comparison import Each, difference, each_of, interval, told
from bertlab import datasets
from bertlab.nn import BertForPreTraining
from bertlab.text import WordPiece
from bertlab.text.masked_lm import Ids

KINDS = {  # file: what differs, in a few words
    "anaphor_gender_agreement": "himself or herself",
    "determiner_noun_agreement_1": "this or these before a noun",
    "distractor_agreement_relational_noun": "verb behind another noun",
    "irregular_past_participle_verbs": "broke or broken",
    "npi_present_1": "ever without a negation",
    "regular_plural_subject_verb_agreement_1": "verb behind its noun",
}
AT_ONCE = 128  # rows that a model reads at a time

Pair = tuple[str, str]  # the right sentence, the wrong one
Scores = Callable[[Sequence[Ids]], list[float]]  # of each sentence, in nats


def pairs() -> dict[str, list[Pair]]:
    """Read all pairs, by their kind."""
    dataset = datasets.load("blimp")
    return {
        name: [(row["sentence_good"], row["sentence_bad"]) for row in dataset.records(f"{name}.jsonl")]
        for name in KINDS
    }


def by_chances(chances: _next_piece.Chances) -> Scores:
    """Score sentences by what each piece is given from the left: by a GPT, or by n-grams."""
    return lambda sentences: [float(np.log(p).sum()) for p in chances(sentences)]


def by_bert(model: BertForPreTraining, tokenizer: WordPiece) -> Scores:
    """Score sentences by what each piece is given when it alone is hidden."""

    def scores(sentences: Sequence[Ids]) -> list[float]:
        asked = [(number, place) for number, ids in enumerate(sentences) for place in range(len(ids))]
        asked.sort(key=lambda one: len(sentences[one[0]]))
        found = np.zeros(len(sentences))
        for first in range(0, len(asked), AT_ONCE):
            some = asked[first : first + AT_ONCE]
            log_p = _hidden(model, tokenizer, [(sentences[number], place) for number, place in some])
            np.add.at(found, [number for number, _ in some], log_p)
        return [float(total) for total in found]

    return scores


@torch.no_grad()
def _hidden(model: BertForPreTraining, tokenizer: WordPiece, asked: Sequence[tuple[Ids, int]]) -> np.ndarray:
    """Ask for one piece of each row, hidden: log p (N,)."""
    ids = torch.full((len(asked), max(len(row) for row, _ in asked) + 2), tokenizer.pad_id)
    for place, (row, hidden) in zip(ids, asked, strict=True):
        place[: len(row) + 2] = torch.tensor([tokenizer.cls_id, *row.tolist(), tokenizer.sep_id])
        place[hidden + 1] = tokenizer.mask_id
    positions = torch.tensor([i * ids.shape[1] + hidden + 1 for i, (_, hidden) in enumerate(asked)])
    right = torch.tensor([int(row[hidden]) for row, hidden in asked])
    log_p = model(ids, torch.zeros_like(ids), positions=positions).logits.log_softmax(-1)
    return np.asarray(log_p.gather(1, right[:, None])[:, 0].double())


def judged(some: Sequence[Pair], tokenizer: WordPiece, scores: Scores) -> list[list[float]]:
    """Say of each pair whether the right sentence has the higher score: 1, 0, or 1/2 if they are equal.

    Returns
    -------
    (what it brings, what it counts) of each pair, as `_comparison` wants it.
    """
    rows = [np.array(ids, np.int64) for ids in tokenizer.encode_batch([one for both in some for one in both])]
    given = scores(rows)
    return [[_better(a, b), 1.0] for a, b in zip(given[::2], given[1::2], strict=True)]


def _better(a: float, b: float) -> float:
    close = abs(a - b) < 1e-6 * max(abs(a), abs(b), 1.0)  # the same pieces, added up in another order
    return 0.5 if close else float(a > b)


def summary(found: dict[str, dict[str, list[list[float]]]], against: Sequence[Pair] = ()) -> dict[str, Any]:
    """Put models side by side, by kind and in all.

    Parameters
    ----------
    found : of each model, of each kind, from `judged`.
    against : pairs of models to compare on the same sentences.
    """
    result: dict[str, Any] = {"kinds": KINDS, "models": {}, "compared": []}
    for name, by_kind in found.items():
        each = _each(by_kind)
        result["models"][name] = {kind: _told(own) for kind, own in each.items()}
    for a, b in against:
        one, other = _each(found[a]), _each(found[b])
        result["compared"] += [
            {"a": a, "b": b, "kind": kind, **told(difference(one[kind], other[kind]))} for kind in one
        ]
    return result


def _each(by_kind: dict[str, list[list[float]]]) -> dict[str, Each]:
    each = {kind: each_of([rows]) for kind, rows in by_kind.items()}
    return {**each, "all": each_of([[pair for rows in by_kind.values() for pair in rows]])}


def _told(each: Each) -> dict[str, Any]:
    return {
        "pairs": each.shape[1],
        "accuracy": round(float(each[0, :, 0].mean()), 4),
        "interval": [round(end, 4) for end in interval(each)],
    }

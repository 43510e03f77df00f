"""What the arms of `fair_comparison` know of grammar, of word classes and of senses; nothing is fine-tuned.

Grammar: pairs of sentences of BLiMP, `_minimal_pairs`; a sentence is scored by the sum of what the arm gives
each of its pieces, in its own right way. For a GPT that is the likelihood of the sentence, for the others a
pseudo-likelihood. Two readers are also scored by both likelihoods added up.

Syntax and meaning: a probe for each homograph reads its states, `_homographs`. Syntax is asked for by those
whose readings differ in part of speech (wikipedia-homographs), meaning by nouns (CoarseWSD-20). The control
is what enters the first layer, where a word is always the same; and the same arm before training. Beside the
probe, its nearest occurrence in training, by cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from _arm_states import Text, choices, features
from _arms import Arm, TwoSidedArm
from _fair_text import SIZE, vocabulary, world
from _minimal_pairs import Scores, judged, pairs
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from _comparison import each_of, interval
from _homographs import Floats, Sentence, right_by_word, sentences, told_by_syntax
from _ngrams import KneserNey, one_row
from _readings import nouns
from bertlab.text import WordPiece
from bertlab.text.masked_lm import Ids
from sense_layers import nearest_is_right

PAIRS, AT_ONCE, REACH = 200, 64, 3  # of each kind; sentences scored at a time; pieces that n-grams look back
Row = dict[str, Any]


def by_arm(arm: Arm, vocab: WordPiece, added: bool = False) -> Scores:
    """Score sentences by an arm.

    Parameters
    ----------
    added : of two readers, add up what each gives a sentence as a language model.
    """

    @torch.no_grad()
    def scores(rows: Sequence[Ids]) -> list[float]:
        found, order = [0.0] * len(rows), sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            whole = [torch.tensor([vocab.cls_id, *rows[i].tolist(), vocab.sep_id]) for i in some]
            ids = pad_sequence(whole, True, vocab.pad_id)
            own = [(row, column) for row, i in enumerate(some) for column in range(1, len(rows[i]) + 1)]
            positions = torch.tensor([row * ids.shape[1] + column for row, column in own])
            given = _given(arm, ids, positions, added).double()
            total = torch.zeros(len(some), dtype=torch.float64)
            total.index_add_(0, torch.tensor([row for row, _ in own]), given)
            for i, value in zip(some, total.tolist(), strict=True):
                found[i] = value
        return found

    return scores


def by_counts() -> Scores:
    """Score sentences by n-grams from the left, counted on the training text."""
    model = KneserNey(one_row(world().corpus), len(vocabulary()), REACH + 1)

    def scores(rows: Sequence[Ids]) -> list[float]:
        found = []
        for row in rows:
            before = [row[max(0, i - REACH) : i][::-1] for i in range(len(row))]
            context = np.stack([np.pad(some, (0, REACH - len(some))) for some in before])
            p = model.predict(context, np.array([len(some) for some in before]))[0]
            found.append(float(np.log(p[np.arange(len(row)), row]).sum()))
        return found

    return scores


def _given(arm: Arm, ids: Tensor, positions: Tensor, added: bool) -> Tensor:
    """What an arm gives the pieces at some positions: (M,)."""
    right = ids.flatten()[positions]
    if added and isinstance(arm, TwoSidedArm):
        both = arm.opinions(ids, positions).gather(2, right.expand(2, -1)[..., None])
        return both[..., 0].sum(0)
    return arm.log_p(ids, positions).gather(1, right[:, None])[:, 0]


def grammar(scores: Scores, n: int = PAIRS) -> Row:
    """Ask for the better sentence of some pairs: accuracy by kind and in all, and each pair."""
    each = {kind: judged(some[:n], vocabulary(), scores) for kind, some in pairs().items()}
    every = [pair for some in each.values() for pair in some]
    return {
        "accuracy": round(float(np.mean([hit for hit, _ in every])), 4),
        "kinds": {kind: round(float(np.mean([hit for hit, _ in some])), 4) for kind, some in each.items()},
        "each": every,
    }


@cache
def homographs() -> dict[str, dict[str, list[Sentence]]]:
    """Read the occurrences of both kinds, to learn from and to ask about, cut where a model ends."""
    vocab = vocabulary(fast=True)
    found: dict[str, dict[str, list[Sentence]]] = {"syntax": {}, "meaning": {}}
    for part, split in (("train", "train"), ("test", "eval")):
        some = sentences(vocab, split, SIZE.length)
        found["syntax"][part] = [one for one in some if one.word in told_by_syntax()]
        found["meaning"][part] = [
            one._replace(ids=[*one.ids[: SIZE.length - 1], vocab.sep_id])
            if len(one.ids) > SIZE.length
            else one
            for one in nouns(vocab, part)
            if one.pieces.stop < SIZE.length
        ]
    return found


def senses(arm: Arm) -> Row:
    """Probe homographs of both kinds by layer, and of all layers side by side."""
    found = {}
    for kind, parts in homographs().items():
        train, test = parts["train"], parts["test"]
        texts = [as_text(one) for one in (*train, *test)]
        row: Row = {"n": len(test), "words": len({one.word for one in train})}
        for name, x in choices(features(arm, texts, words=True)).items():
            row[name], row["majority"] = _probed(x[: len(train)], x[len(train) :], train, test)
        found[kind] = row
    return found


def as_text(one: Sentence) -> Text:
    """A sentence with its homograph as the only word that is asked for."""
    return Text(one.ids, [0] * len(one.ids), [(one.pieces.start, one.pieces.stop - 1)])


def _probed(
    x: Floats, asked: Floats, train: Sequence[Sentence], test: Sequence[Sentence]
) -> tuple[Row, float]:
    """What probe and neighbours say of some states; and how often the usual reading is right."""
    by_word = {word: one for word, one in right_by_word(x, asked, train, test).items() if one.n}
    hits = [[float(one.right), float(one.n)] for one in by_word.values()]
    near = nearest_is_right(train, test, torch.from_numpy(x), torch.from_numpy(asked))
    right, n = np.sum(hits, 0)
    return {
        "accuracy": round(float(right / n), 4),
        "interval": [round(end, 4) for end in interval(each_of([hits]))],
        "nearest": round(float(near.double().mean()), 4),
        "each": hits,
    }, round(sum(one.usual for one in by_word.values()) / n, 4)

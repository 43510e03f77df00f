"""Each check of notebook 09 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest

from bertlab.classroom.pretraining import _texts, check_counts, check_fill_in_turn, check_mask_pieces
from bertlab.text import SPECIAL, WordPiece
from bertlab.text.masked_lm import mask_tokens


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


COUNTS = {
    "not of all 500 pieces": [75, 400, 50, 50],
    "these are percent: asked": [15, 80, 10, 10],
    "these are shares": [0.15, 0.8, 0.1, 0.1],
    "these are percent of all": [15, 12, 1.5, 1.5],
    "60 is 80 % of what is asked for": [60, 48, 6, 6],
    "those that stay are asked for, too": [67.5, 60, 7.5, 7.5],
    "count only those that stay": [75, 60, 7.5, 425],
    "that is 15 % of 512": [76.8, 61.44, 7.68, 7.68],
    "that is 15 % of 509": [76.35, 61.08, 7.635, 7.635],  # padding not taken off
    "that is 15 % of 503": [75.45, 60.36, 7.545, 7.545],  # [CLS] and [SEP] not taken off
    "their order is not": [75, 7.5, 7.5, 60],
    "80 are asked for?": [80, 64, 8, 8],
    "do not round": [75, 60, 8, 7],
    "the last three sum to 67.5": [75, 60, 7.5, 0],
    "of these 80 % read [MASK]": [75, 55, 10, 10],
    "write a list of four numbers": [75],
    "without names": {"asked for": 75},
    "not tried yet": ...,
}


@pytest.mark.parametrize("sentence", COUNTS)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_counts, COUNTS[sentence], capsys)


def mask_pieces(ids, special_ids, mask_id, n_pieces, rng):
    ordinary = np.setdiff1d(np.arange(n_pieces), special_ids)
    chosen = (rng.random(ids.shape) < 0.15) & ~np.isin(ids, special_ids)
    action = rng.random(ids.shape)
    corrupted = ids.copy()
    corrupted[chosen & (action < 0.8)] = mask_id
    random = chosen & (action >= 0.8) & (action < 0.9)
    corrupted[random] = rng.choice(ordinary, random.sum())
    return corrupted, np.where(chosen, ids, -100)


def variant(
    choose=lambda ids, rng: rng.random(ids.shape) < 0.15,
    special=lambda ids, special_ids: np.isin(ids, special_ids),
    act=lambda ids, rng: rng.random(ids.shape),
    masked=0.8,
    changed=0.9,
    pieces=lambda ids, special_ids, n, rng: rng.choice(
        np.setdiff1d(np.arange(n), special_ids), size=ids.shape
    ),
    labels=lambda ids, corrupted, chosen: np.where(chosen, ids, -100),
):
    """Make the right solution, but for the parts that are handed in."""

    def answer(ids, special_ids, mask_id, n_pieces, rng):
        chosen, action = choose(ids, rng) & ~special(ids, special_ids), act(ids, rng)
        instead = np.where(action < masked, mask_id, pieces(ids, special_ids, n_pieces, rng))
        corrupted = np.where(chosen & (action < changed), instead, ids)
        return corrupted, labels(ids, corrupted, chosen)

    return answer


def in_place(ids, *others):
    ids[:], labels = mask_pieces(ids, *others)
    return ids, labels


def of_all(*args):
    """80/10/10 of every piece, labels for 15 %."""
    everything = variant(choose=lambda ids, rng: np.full(ids.shape, True))
    return everything(*args)[0], mask_pieces(*args)[1]


def one_draw(ids, *others):
    """The number that chooses a piece decides what happens, too."""
    draw = np.random.default_rng(3).random(ids.shape)
    return variant(choose=lambda ids, rng: draw < 0.15, act=lambda ids, rng: draw)(ids, *others)


def so_many_a_text(share_of):
    """Make a solution that chooses a fixed number in each text: 15 % of `share_of(row, ordinary)`."""

    def choose(ids, rng):
        chosen = np.zeros(ids.shape, dtype=bool)
        for row, text in enumerate(ids):
            ordinary = np.flatnonzero(~np.isin(text, [0, 100, 101, 102, 103]))
            n = round(0.15 * share_of(text, ordinary))
            chosen[row, rng.choice(ordinary, n, replace=False)] = True
        return chosen

    return variant(choose=choose)


PIECES = {
    "you changed `ids` in place": in_place,
    "[PAD], [UNK], [CLS], [SEP]: chosen, though": variant(special=lambda ids, s: np.zeros(ids.shape, bool)),
    "[PAD]: chosen, though special": variant(special=lambda ids, s: np.isin(ids, s[1:])),
    "[PAD], [UNK], [CLS], [SEP]: put in as": variant(
        pieces=lambda ids, s, n, rng: rng.integers(n, size=ids.shape)
    ),
    "80% of all pieces read [MASK]": of_all,
    "every piece has a label": variant(labels=lambda ids, corrupted, chosen: ids.copy()),
    "give -100 to all that are not": variant(labels=lambda i, c, m: np.where(np.isin(i, [0, 101]), -100, i)),
    "your label is 0 where nothing": variant(labels=lambda ids, corrupted, chosen: np.where(chosen, ids, 0)),
    "what the model reads, [MASK] among": variant(labels=lambda i, c, chosen: np.where(chosen, c, -100)),
    "a label is another id": variant(labels=lambda i, c, chosen: np.where(chosen, i + 1, -100)),
    "nothing is asked for": variant(choose=lambda ids, rng: np.zeros(ids.shape, bool)),
    "for a whole column at once, alike": variant(choose=lambda ids, rng: rng.random(ids.shape[1]) < 0.15),
    "for a whole row at once": variant(choose=lambda i, rng: (rng.random((len(i), 1)) < 0.15) | (i < 0)),
    "what happens for a whole column": variant(act=lambda i, rng: np.tile(rng.random(200), (len(i), 1))),
    "what happens for a whole row": variant(act=lambda i, rng: np.tile(rng.random((len(i), 1)), 200)),
    "below 0.15, so it is below 0.8 as well": one_draw,
    "all you ask for read [MASK]": variant(masked=1.0, changed=1.0),
    "fare alike": variant(masked=0.0, changed=1.0),
    "two calls give the same mask": lambda *args: mask_pieces(*args[:4], np.random.default_rng(0)),
    "two different masks": lambda *args: mask_pieces(*args[:4], np.random.default_rng()),
    "nothing that you ask for stays": variant(labels=lambda i, c, chosen: np.where(c != i, i, -100)),
    "pieces are changed but not asked": variant(labels=lambda i, c, m: np.where(c == 103, i, -100)),
    "has dtype float64": variant(labels=lambda i, c, chosen: np.where(chosen, i, np.nan)),
    "`labels` has dtype bool": variant(labels=lambda i, c, chosen: chosen),
    "85 % of the pieces": variant(choose=lambda ids, rng: rng.random(ids.shape) > 0.15),
    "15 % of all positions, special": so_many_a_text(lambda text, ordinary: len(text)),
    "chosen, wanted are 15 %": variant(choose=lambda ids, rng: rng.random(ids.shape) < 0.2),
    "your second draw sees the 20 %": variant(changed=0.82),
    "50% read [MASK], 40% a random": variant(masked=0.5),
    "only 1 different random": variant(pieces=lambda i, s, n, rng: np.full(i.shape, rng.choice([5, 7]))),
    "all ordinary ids": variant(pieces=lambda i, s, n, rng: rng.permuted(np.where(np.isin(i, s), 5, i))),
    "is no id of the vocabulary": variant(pieces=lambda i, s, n, rng: rng.integers(105, n + 5, size=i.shape)),
    "`labels` has shape (120000,)": variant(labels=lambda i, c, chosen: np.where(chosen, i, -100).ravel()),
    "return that first, then the labels": lambda *args: mask_pieces(*args)[::-1],
    "return two arrays": lambda *args: mask_pieces(*args)[0],
    "not tried yet": lambda *args: ...,
}


@pytest.mark.parametrize("sentence", PIECES)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_mask_pieces, PIECES[sentence], capsys)


def by_loop(ids, special_ids, mask_id, n_pieces, rng):
    """A loop over positions that draws with Python's own lists."""
    ordinary = [piece for piece in range(n_pieces) if piece not in special_ids]
    corrupted, labels = ids.tolist(), np.full(ids.shape, -100).tolist()
    for b, row in enumerate(ids.tolist()):
        for t, piece in enumerate(row):
            if piece not in special_ids and rng.random() < 0.15:
                labels[b][t] = piece
                if rng.random() < 0.8:
                    corrupted[b][t] = mask_id
                elif rng.random() < 0.5:
                    corrupted[b][t] = ordinary[rng.integers(len(ordinary))]
    return corrupted, labels


def ours(ids, special_ids, mask_id, n_pieces, rng):
    """Do what training does, with a vocabulary that has the special tokens at the same ids."""
    names = dict(zip(special_ids, SPECIAL, strict=True))
    vocab = WordPiece([names.get(piece, f"w{piece}") for piece in range(n_pieces)])
    return mask_tokens(ids, vocab, rng)


RIGHT = [mask_pieces, variant(), by_loop, so_many_a_text(lambda text, ordinary: len(ordinary)), ours]


@pytest.mark.parametrize("answer", RIGHT)
def test_exercise_2_lets_every_right_way_pass(answer, capsys):
    assert "✓" in said(check_mask_pieces, answer, capsys)


@pytest.mark.parametrize("seed", range(5))
def test_exercise_2_judges_a_right_answer_the_same_whatever_chance_brings(seed, capsys):
    def moved(ids, special_ids, mask_id, n_pieces, rng):
        return mask_pieces(ids, special_ids, mask_id, n_pieces, np.random.default_rng([seed, *rng.bytes(4)]))

    assert "✓" in said(check_mask_pieces, moved, capsys)


def test_exercise_2_tolerates_more_than_six_standard_deviations():
    ordinary = int((~np.isin(_texts(), [0, 100, 101, 102, 103])).sum())
    assert 6 * np.sqrt(0.15 * 0.85 / ordinary) < 0.01
    assert 6 * np.sqrt(0.8 * 0.2 / (0.15 * ordinary)) < 0.025


def fill_in_turn(ids, mask_id, log_probabilities):
    filled = np.array(ids)
    while (blanks := np.flatnonzero(filled == mask_id)).size:
        best = log_probabilities(filled)[blanks]
        surest = best.max(axis=-1).argmax()
        filled[blanks[surest]] = best[surest].argmax()
    return filled


def in_order(pick, ask=lambda start, filled: filled):
    """Make a solution that fills the blank `pick(blanks, sureness)`; what it asks about is `ask`."""

    def answer(ids, mask_id, model):
        filled = np.array(ids)
        while (blanks := np.flatnonzero(filled == mask_id)).size:
            logs = model(ask(ids, filled))
            t = pick(blanks, logs[blanks].max(-1))
            filled[t] = logs[t].argmax()
        return filled

    return answer


def at_once(ids, mask_id, model):
    return np.where(ids == mask_id, model(ids).argmax(-1), ids)


def everywhere(ids, mask_id, model):
    return model(fill_in_turn(ids, mask_id, model)).argmax(-1)


def order_of_the_start(ids, mask_id, model):
    filled = np.array(ids)
    logs = model(filled)
    for t in sorted(np.flatnonzero(filled == mask_id), key=lambda t: -logs[t].max()):
        logs = logs if (filled == ids).all() else model(filled)
        filled[t] = logs[t].argmax()
    return filled


def anywhere(ids, mask_id, model):
    filled = np.array(ids)
    while (filled == mask_id).any():
        logs = model(filled)
        t = logs.max(-1).argmax()
        filled[t] = logs[t].argmax()
    return filled


def ask_once_more(ids, mask_id, model):
    model(filled := fill_in_turn(ids, mask_id, model))
    return filled


FILLS = {
    "all at once gives 'i love new city .'": at_once,
    "you fill from left to right": in_order(lambda blanks, sure: blanks[0]),
    "you filled the right blank first": in_order(lambda blanks, sure: blanks[-1]),
    "where the best piece has 40 %": in_order(lambda blanks, sure: blanks[sure.argmin()]),
    "twice about the same text": in_order(lambda b, sure: b[sure.argmax()], ask=lambda start, filled: start),
    "you settle the order before": order_of_the_start,
    "you changed `ids` in place": lambda ids, *others: np.copyto(ids, fill_in_turn(ids, *others)) or ids,
    "'.' was no blank": everywhere,
    "among the blanks alone": anywhere,
    "you asked 3 times for 2 blanks": ask_once_more,
    "a [MASK] is left": lambda ids, mask_id, model: ids.copy(),
    "you returned float64 of shape (5,)": lambda *args: fill_in_turn(*args).astype(float),
    "you returned int64 of shape (1, 5)": lambda *args: fill_in_turn(*args)[None],
    "it reads one text: (5,)": lambda ids, mask_id, model: model(ids[None]),
    "expected 'i love new york .'": lambda *args: np.maximum(fill_in_turn(*args) - (args[0] == 0), 1),
    "expected 'i love mexico city .'": lambda *args: np.where((f := fill_in_turn(*args)) == 8, 6, f),
    "expected 'the old dog sleeps .'": lambda *args: np.where((f := fill_in_turn(*args)) == 12, 3, f),
    "not tried yet": lambda *args: ...,
}


@pytest.mark.parametrize("sentence", FILLS)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_fill_in_turn, FILLS[sentence], capsys)


def with_lists(ids, mask_id, log_probabilities):
    filled = ids.tolist()
    for _ in range(filled.count(mask_id)):
        logs = log_probabilities(filled)
        _, t = max((logs[t].max(), t) for t, piece in enumerate(filled) if piece == mask_id)
        filled[t] = int(logs[t].argmax())
    return filled


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_counts, [75, 60, 7.5, 7.5]),
        (check_counts, (0.15 * 500, 0.8 * 75, 0.1 * 75, 0.1 * 75)),
        (check_fill_in_turn, fill_in_turn),
        (check_fill_in_turn, with_lists),
    ],
)
def test_a_right_answer_is_called_right(check, answer, capsys):
    assert said(check, answer, capsys).startswith("✓")

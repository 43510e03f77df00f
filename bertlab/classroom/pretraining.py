"""Checks for the exercises of notebook 09, BERT's pre-training: count, hide pieces, fill in the blanks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertlab.classroom.checks import close, exercise, expect

Ids = NDArray[np.int64]
Bools = NDArray[np.bool_]
MaskPieces = Callable[[Ids, list[int], int, int, np.random.Generator], Any]
Model = Callable[[ArrayLike], NDArray[np.float64]]
FillInTurn = Callable[[Ids, int, Model], ArrayLike]

IGNORE, MASK, N_PIECES = -100, 103, 200
SPECIAL = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", MASK: "[MASK]"}

# Of two blanks, the left one is surer in the first text, the right one in the second.
LEFT = {"new york": 0.33, "new jersey": 0.27, "mexico city": 0.22, "kansas city": 0.18}
RIGHT = {"mexico city": 0.33, "kansas city": 0.27, "new york": 0.22, "new jersey": 0.18}
# At first 'small' is surer than 'sleeps' (61.5 % against 38.5 %); behind 'dog' it is the other way round.
TURNING = {"small dog barks": 0.175, "small dog runs": 0.14, "old dog sleeps": 0.21}
TURNING |= {"lazy dog sleeps": 0.175, "small cat purrs": 0.15, "small bird sings": 0.15}


@exercise("Exercise 1 (by hand)")
def check_counts(answer: Sequence[float]) -> None:
    """Check how many of 512 positions, 12 of them special, are asked for, hidden, replaced, and left."""
    expect(not isinstance(answer, Mapping), "write a list of four numbers, without names")
    given = np.asarray(answer, dtype=float)
    expect(given.shape == (4,), f"your answer has shape {given.shape}: write a list of four numbers")
    mistakes: list[tuple[Sequence[float], str]] = [
        ([75, 400, 50, 50], "80, 10 and 10 % are of the 75 that are asked for, not of all 500 pieces"),
        ([15, 80, 10, 10], "these are percent: asked are counts, the first 15 % of the pieces"),
        ([0.15, 0.8, 0.1, 0.1], "these are shares: asked are counts, the first 15 % of the pieces"),
        ([15, 12, 1.5, 1.5], "these are percent of all pieces: asked are counts, the first 15 % of them"),
        ([60, 48, 6, 6], "60 is 80 % of what is asked for: the first number is all that is asked for"),
        ([67.5, 60, 7.5, 7.5], "those that stay are asked for, too: they belong in the first number"),
        ([75, 60, 7.5, 425], "count only those that stay *and* are asked for; of the others none is asked"),
    ]
    for wrong, sentence in mistakes:
        expect(not close(given, wrong), sentence)
    for n in (512, 511, 510, 509, 503, 502, 501):  # some of [CLS], the two [SEP] and nine [PAD] not taken off
        expect(
            not close(given[0], 0.15 * n),
            f"that is 15 % of {n}: [CLS], both [SEP] and all nine [PAD] are never chosen, which leaves 500",
        )
    right = [75, 60, 7.5, 7.5]
    expect(
        close(given, right) or not close(np.sort(given), np.sort(right)),
        "the numbers are right, their order is not: asked for, [MASK], a random piece, as it was",
    )
    expect(close(given[0], 75), f"{given[0]:g} are asked for? Take 15 % of those that may be chosen, 500")
    rounded = close(given, right, 0.6) and close(given, given.round())
    expect(not rounded, "on average it need not be a whole number: do not round 7.5")
    expect(
        close(given[1:].sum(), 75),
        f"the last three sum to {given[1:].sum():g}: each of the 75 fares in one of the three ways",
    )
    expect(close(given, right), "75 are asked for: of these 80 % read [MASK], 10 % a random piece, 10 % stay")


@exercise("Exercise 2 (mask pieces)")
def check_mask_pieces(mask_pieces: MaskPieces) -> None:
    """Check a function of ids (B, T), the special ids, the id of [MASK], how many ids there are, and an rng.

    It returns what the model reads (B, T), and the labels (B, T), -100 where nothing is asked. Every share is
    judged on so many pieces that chance moves it by less than a seventh of what is tolerated.
    """
    ids = _texts()
    corrupted, labels = _masked(mask_pieces, ids, np.random.default_rng(1))
    ordinary = ~np.isin(ids, list(SPECIAL))
    _check_where(ids, corrupted, labels, ordinary)
    asked = labels != IGNORE
    _check_one_for_all(asked, ordinary, "choose")
    _check_random_pieces(corrupted[asked & (corrupted != ids) & (corrupted != MASK)])
    _check_shares(ids, corrupted, asked, ordinary)
    few, rng = ids[:8], np.random.default_rng(2)
    first, second = (_masked(mask_pieces, few, rng) for _ in range(2))
    expect(
        not np.array_equal(first, second),
        "two calls give the same mask: draw from the `rng` that is handed in, not from one with its own seed",
    )
    again = _masked(mask_pieces, few, np.random.default_rng(2))
    expect(
        np.array_equal(first, again),
        "the same seed gives two different masks: draw everything from `rng`, nothing from np.random",
    )


def _texts() -> Ids:
    """Make 600 texts of up to 200 pieces, in pairs; they use the odd half of the ordinary ids."""
    rng = np.random.default_rng(0)
    used = np.setdiff1d(np.arange(1, N_PIECES, 2), list(SPECIAL))
    ids = rng.choice(used, size=(600, 200))
    ids[rng.random(ids.shape) < 0.02] = 100  # [UNK]
    ids[:, 0] = 101  # [CLS]
    for row, length in zip(ids, rng.integers(100, 201, size=len(ids)), strict=True):
        row[[length // 2, length - 1]] = 102  # [SEP]
        row[length:] = 0  # [PAD]
    return ids


def _masked(mask_pieces: MaskPieces, ids: Ids, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Call the student's function, and see whether it returns two arrays of ids and leaves its own alone."""
    handed: Ids = ids.copy()
    answer = mask_pieces(handed, list(SPECIAL), MASK, N_PIECES, rng)
    two = isinstance(answer, tuple | list) and len(answer) == 2
    expect(two, "return two arrays: what the model reads, and the labels")
    corrupted, labels = (np.asarray(part) for part in answer)
    expect(np.array_equal(handed, ids), "you changed `ids` in place: begin with a copy, ids.copy()")
    for name, part in (("corrupted", corrupted), ("labels", labels)):
        expect(part.shape == ids.shape, f"`{name}` has shape {part.shape}, expected {ids.shape}, as `ids`")
        expect(part.dtype.kind == "i", f"`{name}` has dtype {part.dtype}: give whole numbers, ids or -100")
    swapped = bool((corrupted == IGNORE).any())
    expect(not swapped, "-100 stands in what the model reads: return that first, then the labels")
    return corrupted, labels


def _names(pieces: Ids) -> str:
    """Name the special ones among some pieces."""
    return ", ".join(SPECIAL[piece] for piece in np.unique(pieces).tolist() if piece in SPECIAL)


def _check_where(ids: Ids, corrupted: Ids, labels: Ids, ordinary: Bools) -> None:
    """See where something is asked for or changed, and what the labels are there."""
    asked, changed, hidden = labels != IGNORE, corrupted != ids, (corrupted == MASK)[ordinary].mean()
    expect(abs(asked[ordinary].mean() - 0.85) > 0.01, "85 % of the pieces are chosen: turn `<` or `>` round")
    expect(hidden < 0.5, f"{hidden:.0%} of all pieces read [MASK]: 80/10/10 % are of the chosen 15 % alone")
    values, counts = np.unique(labels, return_counts=True)
    usual = values[counts.argmax()]
    expect(
        bool((labels == IGNORE).any()) or counts.max() < 0.5 * ids.size,
        f"your label is {usual} where nothing is asked: write -100 there, which the loss leaves out",
    )
    expect(asked[ordinary].mean() < 0.99, "every piece has a label: give -100 to all that are not chosen")
    special = _names(ids[~ordinary & (asked | changed)])
    expect(not special, f"{special}: chosen, though special; leave out what is in `special_ids`")
    unasked = int((changed & ~asked).sum())
    expect(unasked == 0, f"{unasked:,} pieces are changed but not asked for: what you replace gets a label")
    expect(bool(asked.any()), "nothing is asked for: every label is -100")
    expect(
        not np.array_equal(labels[asked], corrupted[asked]) or np.array_equal(corrupted[asked], ids[asked]),
        "your labels are what the model reads, [MASK] among them: a label is what stood there, so take `ids`",
    )
    expect(np.array_equal(labels[asked], ids[asked]), "a label is another id than stood there: take `ids`")


def _check_one_for_all(values: NDArray[Any], among: Bools, to_do: str) -> None:
    """Find out draws that hold for a whole row or column: alike in most of those with two pieces or more."""
    for axis, line, others in ((0, "column", "rows"), (1, "row", "columns")):
        low, high = np.where(among, values, 9).min(axis), np.where(among, values, -1).max(axis)
        several = among.sum(axis) > 1
        expect(
            not several.any() or (low == high)[several].mean() < 0.8,
            f"you {to_do} for a whole {line} at once, alike in all {others}: one draw for each piece, "
            "rng.random(ids.shape)",
        )


def _check_random_pieces(pieces: Ids) -> None:
    """See whether random pieces come from the whole vocabulary and from no special id; 1,300 are expected."""
    special = _names(pieces)
    expect(not special, f"{special}: put in as a random piece; draw from ids not in `special_ids`")
    inside = bool(((pieces >= 0) & (pieces < N_PIECES)).all())
    expect(inside, "a random piece is no id of the vocabulary: they go from 0 to n_pieces - 1")
    different = len(np.unique(pieces))
    expect(
        pieces.size < 500 or different > 150,
        f"only {different} different random pieces come up: draw one for each position, size=ids.shape, from "
        "all ordinary ids of the vocabulary",
    )


def _check_shares(ids: Ids, corrupted: Ids, asked: Bools, ordinary: Bools) -> None:
    """See how many are chosen, and how these fare: about 87,000 pieces, 13,000 of them chosen."""
    fate = np.where(corrupted == MASK, 0, np.where(corrupted == ids, 2, 1))
    shares = np.bincount(fate[asked], minlength=3) / asked.sum()
    expect(
        shares[0] < 0.99,
        "all you ask for read [MASK]: draw what happens anew, for each piece (the number that chose it is "
        "below 0.15, so it is below 0.8 as well)",
    )
    expect(shares.max() < 0.99, "all you ask for fare alike: draw what happens for each piece by itself")
    expect(
        shares[2] > 0.005,
        "nothing that you ask for stays as it was: 10 % of the chosen do, and get a label like the others",
    )
    rate = asked[ordinary].mean()  # tolerated: 0.01, a standard deviation is 0.0012
    expect(
        abs(rate - 0.15 / ordinary.mean()) > 0.01,
        f"{rate:.1%} of the ordinary pieces are chosen: that is 15 % of all positions, special ones too",
    )
    expect(abs(rate - 0.15) < 0.01, f"{rate:.1%} of the ordinary pieces are chosen, wanted are 15 %")
    _check_one_for_all(fate, asked, "decide what happens")
    expect(  # tolerated: 0.025, a standard deviation is 0.0035
        not close(shares, [0.8, 0.02, 0.18], 0.025),
        "a random piece comes up in 2 % only: your second draw sees the 20 % left over, so take half of them",
    )
    expect(
        close(shares, [0.8, 0.1, 0.1], 0.025),
        f"of the chosen {shares[0]:.0%} read [MASK], {shares[1]:.0%} a random piece, {shares[2]:.0%} stay: "
        "wanted are 80, 10 and 10 %",
    )


@exercise("Exercise 3 (fill in turn)")
def check_fill_in_turn(fill_in_turn: FillInTurn) -> None:
    """Check a function of ids (T,), the id of [MASK] and a model that fills one blank after the other.

    The model maps ids (T,) to the natural logarithms of probabilities (T, V).
    """
    text = _filled(fill_in_turn, "i love {} .", LEFT)
    expect(
        text != "i love mexico city .",
        "you filled the right blank first, where the best piece has 40 %; the surest is the left, with 60 %",
    )
    expect(text == "i love new york .", f"{text!r}, expected 'i love new york .': 'new' (60 %), then 'york'")
    text = _filled(fill_in_turn, "i love {} .", RIGHT)
    expect(
        text != "i love new york .",
        "you fill from left to right: here the right blank is surer, 'city' with 60 %, so it comes first",
    )
    expect(text == "i love mexico city .", f"{text!r}, expected 'i love mexico city .': first 'city'")
    text = _filled(fill_in_turn, "the {} .", TURNING)
    expect(
        text != "the small dog barks .",
        "you settle the order before the first blank is filled: behind 'dog' the model is surer of 'sleeps' "
        "than of 'small', so look for the surest blank anew",
    )
    expect(text == "the old dog sleeps .", f"{text!r}, expected 'the old dog sleeps .'")


def _filled(fill_in_turn: FillInTurn, frame: str, phrases: Mapping[str, float]) -> str:
    """Have a text filled in, and see whether the blanks, and only they, were filled one by one."""
    model = _Model(frame, phrases)
    handed: Ids = model.text.copy()
    answer = np.asarray(fill_in_turn(handed, 0, model))
    expect(np.array_equal(handed, model.text), "you changed `ids` in place: begin with a copy, ids.copy()")
    expect(
        answer.shape == handed.shape and answer.dtype.kind in "iu",
        f"you returned {answer.dtype} of shape {answer.shape}: return whole numbers {handed.shape}, the ids",
    )
    blanks = handed == 0
    for was in handed[~blanks & (answer != handed)]:
        expect(False, f"{model.words[was]!r} was no blank, but you changed it: fill only where [MASK] stands")
    expect(bool((answer != 0).all()), "a [MASK] is left: go on until every blank is filled")
    text = " ".join(model.words[piece] for piece in answer)
    expect(
        len(model.asked) > 1,
        f"all at once gives {text!r}: no blank knows of the other; fill the surest, then ask the model anew",
    )
    expect(
        all(not np.array_equal(one, two) for one, two in itertools.pairwise(model.asked)),
        "you asked the model twice about the same text: hand over what is filled in so far, once a blank",
    )
    expect(
        len(model.asked) == blanks.sum(),
        f"you asked {len(model.asked)} times for {blanks.sum()} blanks: once a blank, each is a run of BERT",
    )
    return text


class _Model:
    """A model that knows a few sentences by heart; remembers what it was asked."""

    MOST = 20

    def __init__(self, frame: str, phrases: Mapping[str, float]) -> None:
        sentences = [frame.format(phrase).split() for phrase in phrases]
        self.words = ["[MASK]", "!", *sorted(set(itertools.chain(*sentences)))]
        self.sentences = np.array([[self.words.index(word) for word in words] for words in sentences])
        self.probabilities = np.array(list(phrases.values()))
        same = (self.sentences == self.sentences[0]).all(0)
        self.text: Ids = np.where(same, self.sentences[0], 0)  # a blank where the sentences differ
        self.asked: list[Ids] = []

    def __call__(self, ids: ArrayLike) -> NDArray[np.float64]:
        given = np.array(ids)
        expect(
            given.shape == self.text.shape,
            f"the model was given ids of shape {given.shape}, it reads one text: {self.text.shape}",
        )
        self.asked.append(given)
        expect(
            len(self.asked) <= self.MOST,
            f"you asked the model {self.MOST} times and go on: look for the surest among the blanks alone",
        )
        fits = ((self.text != 0) | (given == 0) | (given == self.sentences)).all(axis=1)
        weights = self.probabilities * (fits if fits.any() else 1)
        seen = np.tensordot(weights, np.eye(len(self.words))[self.sentences], axes=1)  # (T, V)
        seen[-1, 1] = 20  # of '!' at the end, which is no blank, it is surer than of anything
        return np.asarray(np.log((seen + 1e-6) / (seen + 1e-6).sum(axis=-1, keepdims=True)))

"""BERT's masked language model input: which tokens are chosen, what the model reads, what it must predict."""

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from numpy.typing import ArrayLike

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, PALE_TEAL, canvas, words
from bertlab.viz.payload import as_array
from bertlab.viz.style import BLUE, GREY, ORANGE, TEAL, WIDTH, even_lines, house_style, shown, text_width
from bertlab.viz.word_pieces import SPECIAL

MASK = "[MASK]"
SHARES = (0.8, 0.1, 0.1)  # of the chosen: [MASK], a random word, unchanged
KINDS = ("masked", "random", "unchanged")
NOT_CHOSEN = -1


class Masked(NamedTuple):
    """One draw: what the model reads, and why."""

    read: list[str]
    kinds: list[int]  # a place in KINDS, or -1 where a token is not chosen, reads as it was, and has no loss


def check_rate(rate: float) -> float:
    """Give back `rate`, or raise ValueError if it is no share of tokens."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate={rate}: give the share of tokens to choose, from 0 to 1, in BERT 0.15")
    return rate


def check_shares(shares: Sequence[float]) -> tuple[float, ...]:
    """Give back `shares` as a tuple, or raise ValueError if they are not three that sum to 1."""
    given = tuple(float(share) for share in shares)
    if len(given) != len(KINDS) or min(given) < 0 or not math.isclose(sum(given), 1.0, abs_tol=1e-9):
        raise ValueError(
            f"shares={given}: give three that sum to 1, of [MASK], random words, unchanged; in BERT {SHARES}"
        )
    return given


def n_chosen(rate: float, n_maskable: int) -> int:
    """How many tokens are chosen: the rounded share, and at least one.

    BERT's own code also rounds and takes at least one, but counts [CLS] and [SEP] in the length, and stops at
    a set maximum.

    Examples
    --------
    >>> n_chosen(0.15, 13), n_chosen(0.15, 2), n_chosen(0.5, 5)
    (2, 1, 3)
    """
    return min(n_maskable, max(1, math.floor(rate * n_maskable + 0.5)))


def at_least_one(rate: float, n_maskable: int) -> bool:
    """Whether a token is chosen only because one always is."""
    return math.floor(rate * n_maskable + 0.5) < 1


def maskable(tokens: Sequence[str], special: Collection[str]) -> np.ndarray:
    """Which tokens may be chosen: all but the special ones.

    Raises
    ------
    ValueError
        If none may.
    """
    free = np.array([token not in special for token in tokens], dtype=bool)
    if not free.any():
        raise ValueError(f"no token can be chosen: all {len(tokens)} of them are special")
    return free


def random_words(vocabulary: Sequence[str], special: Collection[str], mask_token: str) -> list[str]:
    """Words that may come instead of a chosen one: none of the special ones.

    BERT's own code draws from the whole vocabulary.

    Raises
    ------
    ValueError
        If there is none.
    """
    plain = [word for word in vocabulary if word not in special and word != mask_token]
    if isinstance(vocabulary, str) or not plain:
        raise ValueError(f"a vocabulary of {len(vocabulary)} has no plain word: give a list of words")
    return plain


def chosen_kinds(uniforms: ArrayLike, free: np.ndarray, rate: float, shares: Sequence[float]) -> np.ndarray:
    """What happens to each token in each draw.

    Parameters
    ----------
    uniforms : (..., T, 3) array
        Between 0 and 1: who is chosen first, what happens to it, and which word comes instead.
    free : (T,) bool array
        Who may be chosen.
    rate : float
    shares : three floats

    Returns
    -------
    (..., T) int array
        A place in KINDS, or -1 where a token is not chosen.
    """
    draws = as_array(uniforms)
    order = np.where(free, draws[..., 0], np.inf).argsort(axis=-1, kind="stable")
    # Those that come first are chosen: a higher rate adds tokens, and takes none away.
    chosen = order.argsort(axis=-1) < n_chosen(rate, int(free.sum()))
    masked, random, _ = check_shares(shares)
    kinds = np.where(draws[..., 1] < masked, 0, np.where(draws[..., 1] < masked + random, 1, 2))
    return np.where(chosen, kinds, NOT_CHOSEN)


def masked(
    tokens: Sequence[str],
    uniforms: ArrayLike,
    rate: float,
    shares: Sequence[float],
    vocabulary: Sequence[str],
    special: Collection[str] = SPECIAL,
    mask_token: str = MASK,
) -> Masked:
    """One draw of what BERT reads in pre-training.

    Parameters
    ----------
    tokens : sequence of T strings
    uniforms : (T, 3) array
        Between 0 and 1, see `chosen_kinds`.
    rate : float
        The share of tokens that are chosen; at least one is.
    shares : three floats
        Of the chosen: replaced by [MASK], by a random word, unchanged.
    vocabulary : sequence of strings
        Where random words come from. One of them may by chance be the word itself.
    special : collection of strings
        Never chosen, and never a random word.
    mask_token : str

    Returns
    -------
    Masked

    References
    ----------
    Devlin et al. 2019, sec. 3.1 and appendix A.1.

    Examples
    --------
    >>> masked(["[CLS]", "my", "dog"], [[0, 0, 0], [0.1, 0.85, 0.9], [0.2, 0.1, 0]], 1.0, SHARES, ["a", "b"])
    Masked(read=['[CLS]', 'b', '[MASK]'], kinds=[-1, 1, 0])
    """
    draw = as_array(uniforms)
    kinds = chosen_kinds(draw, maskable(tokens, special), rate, shares).tolist()
    plain = random_words(vocabulary, special, mask_token)
    instead = [plain[math.floor(u * len(plain))] for u in draw[:, 2]]
    read = [
        {0: mask_token, 1: word}.get(kind, token)
        for token, kind, word in zip(tokens, kinds, instead, strict=True)
    ]
    return Masked(read, kinds)


class Counts(NamedTuple):
    """Of many draws: the share of tokens that were chosen, and of the chosen, the share of each kind."""

    chosen: float
    kinds: tuple[float, ...]


def counts(kinds: np.ndarray, free: np.ndarray) -> Counts:
    """Count the kinds of many draws.

    Parameters
    ----------
    kinds : (draws, T) int array
    free : (T,) bool array
    """
    of_kind = np.array([(kinds == kind).sum() for kind in range(len(KINDS))])
    total = int(of_kind.sum())
    return Counts(total / (len(kinds) * int(free.sum())), tuple(float(n) for n in of_kind / total))


# ------------------------------------------------------------------------------------------ the picture

LABELS, LINE = 1.2, 1.24  # inches: names of the rows, three rows
MOST, LINES = 20, 3  # tokens, and lines of them, that are drawn
SIGNS = ("■", "⇄", "=")
LOOKS: tuple[dict[str, Any], ...] = (
    {"edgecolor": BLUE, "facecolor": PALE_BLUE, "linestyle": "-"},
    {"edgecolor": ORANGE, "facecolor": PALE_ORANGE, "linestyle": (0, (4, 2))},
    {"edgecolor": TEAL, "facecolor": PALE_TEAL, "linestyle": (0, (1, 1.5))},
)


@house_style
def masked_tokens(
    tokens: Sequence[str], read: Sequence[str], kinds: Sequence[int], title: str, note: str = ""
) -> Figure:
    """Draw a sentence as it is, as the model reads it, and what it must predict.

    Parameters
    ----------
    tokens, read : sequences of T strings
        At most 20 neighbours are drawn, those with the most chosen ones among them; which, is said.
    kinds : sequence of T ints
        0 replaced by [MASK], 1 by a random word, 2 unchanged; -1 not chosen.
    title : str
        What is to be seen, as a sentence.
    note : str
        A line below.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If the three are not equally long.
    """
    if not len(tokens) == len(read) == len(kinds):
        raise ValueError(
            f"{len(tokens)} tokens, {len(read)} read, {len(kinds)} kinds: give one of each a token"
        )
    longest = max(text_width(shown(token), 12.0) for token in [*tokens, *read])
    room = min(1.45, max(0.7, longest + 0.42))
    a_line = int((WIDTH - LABELS) / room)
    n = min(len(tokens), MOST, LINES * a_line)
    start = _start(kinds, n)
    lines = [range(i, min(i + a_line, start + n)) for i in range(start, start + n, a_line)]
    below = even_lines(_part_said(kinds, start, n) + note, 88) if note or n < len(tokens) else ""
    bottom = 0.3 + 0.24 * (below.count("\n") + bool(below))
    fig, ax = canvas(title, LINE * len(lines) + bottom + 0.4)
    for number, places in enumerate(lines):
        top = LINE * (len(lines) - number) + bottom + 0.35
        for y, name in zip(_rows(top), ("original", "model reads", "must predict"), strict=True):
            ax.text(0.12, y, name, fontsize=12, va="center_baseline", color=GREY)
        for column, i in enumerate(places):
            _token(ax, LABELS + room * (column + 0.5), top, room, (tokens[i], read[i], kinds[i]))
    _legend(ax, bottom + 0.1)
    ax.text(0.12, bottom - 0.2, below, fontsize=12, va="top", color=GREY, parse_math=False)
    return fig


def _start(kinds: Sequence[int], n: int) -> int:
    """Where those `n` neighbours begin that have the most chosen ones among them; the first such place."""
    before = np.cumsum([0, *(kind != NOT_CHOSEN for kind in kinds)])
    return int((before[n:] - before[:-n]).argmax())


def _part_said(kinds: Sequence[int], start: int, n: int) -> str:
    if n == len(kinds):
        return ""
    here, all_of_them = (
        sum(kind != NOT_CHOSEN for kind in part) for part in (kinds[start : start + n], kinds)
    )
    return (
        f"Tokens {start}–{start + n - 1} of {len(kinds)}, counted from 0, with {here} of the {all_of_them} "
        "that are chosen. "
    )


def _rows(top: float) -> tuple[float, float, float]:
    return top - 0.2, top - 0.58, top - 0.96


def _token(ax: Axes, x: float, top: float, room: float, token: tuple[str, str, int]) -> None:
    (original, read, kind), (first, second, third) = token, _rows(top)
    words(ax, [x], first, [original], room - 0.1)
    if kind == NOT_CHOSEN:
        words(ax, [x], second, [read], room - 0.1)
        ax.text(x, third, "no loss", fontsize=10, ha="center", va="center_baseline", color=GREY)
        return
    _box(ax, x, second, room - 0.06, kind)
    words(ax, [x], second, [f"{SIGNS[kind]} {shown(read)}"], room - 0.2)
    words(ax, [x], third, [original], room - 0.1, bold=True)


def _box(ax: Axes, x: float, y: float, width: float, kind: int) -> None:
    style = "round,pad=0,rounding_size=0.06"
    ax.add_patch(FancyBboxPatch((x - width / 2, y - 0.16), width, 0.32, style, linewidth=2, **LOOKS[kind]))


def _legend(ax: Axes, y: float) -> None:
    names = (f"replaced by {MASK}", "replaced by a random word", "unchanged, yet predicted")
    for kind, (name, x) in enumerate(zip(names, (0.3, 2.75, 5.75), strict=True)):
        _box(ax, x, y, 0.36, kind)
        ax.text(x, y, SIGNS[kind], fontsize=12, ha="center", va="center_baseline")
        ax.text(x + 0.26, y, name, fontsize=12, va="center_baseline")

"""Dates as people write them, in many languages, and the same dates as machines do: 2031-03-04.

A translation set with exact answers, endless and embedded in the package. Each language has its own words and
its own order, which Babel knows. What goes where is known, too: the month's word becomes the month's digits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date as Date
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from babel.dates import format_date, get_date_format, tokenize_pattern

LOCALES = {
    "en": "English, American order",
    "en_GB": "English, British order",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "nl": "Dutch",
    "id": "Indonesian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
STYLES = ("full", "long")  # with the day of the week, and without
FIRST, LAST = Date(1900, 1, 1), Date(2099, 12, 31)
HELD_OUT_SHARE = 0.1  # of all days

Style = Literal["full", "long"]
Part = Literal["year", "month", "day"]

_PARTS: dict[str, Part] = {"y": "year", "M": "month", "d": "day"}  # by the letter of the field in a pattern
_PLACES: dict[Part, range] = {"year": range(4), "month": range(5, 7), "day": range(8, 10)}  # in the target


class Example(NamedTuple):
    """A date, said and written."""

    source: list[str]  # words, single digits and marks
    target: list[str]  # ten characters, year first
    links: list[tuple[int, int, Part]]  # (target place, source place, what it is), in the order of the target
    locale: str


def spell(date: Date, locale: str, style: Style = "full") -> str:
    """Write a date in words, as Babel does.

    Parameters
    ----------
    date : from `FIRST` to `LAST`, so that every year has four digits.
    locale : one of `LOCALES`.
    style : "full", with the day of the week, or "long", without.

    Raises
    ------
    ValueError
        If the date, the locale or the style is not among them.

    Examples
    --------
    >>> spell(Date(2031, 3, 4), "de")
    'Dienstag, 4. März 2031'
    """
    _check(date, locale, style)
    return format_date(date, style, locale)


def example(date: Date, locale: str, style: Style = "full") -> Example:
    """Write a date in words and in digits, and tell what became of what.

    The links leave out what has no counterpart: the marks, the day of the week, and a 0 that only fills up.

    Parameters
    ----------
    date, locale, style : see `spell`, which also names the errors.

    Examples
    --------
    >>> shown = example(Date(2031, 3, 4), "de", "long")
    >>> shown.source
    ['4', '.', 'März', '2', '0', '3', '1']
    >>> "".join(shown.target)
    '2031-03-04'
    >>> [(shown.target[t], shown.source[s], part) for t, s, part in shown.links if part != "year"]
    [('0', 'März', 'month'), ('3', 'März', 'month'), ('4', '4', 'day')]
    """
    _check(date, locale, style)
    source: list[str] = []
    stands: dict[Part, list[int]] = {
        "year": [],
        "month": [],
        "day": [],
    }  # where each part stands in the source
    for kind, value in _pattern(locale, style):
        said = format_date(date, value, locale) if kind == "field" else value
        pieces = re.findall(r"\d|[^\W\d]+(?:-[^\W\d]+)*|[^\w\s]", said)
        if kind == "field" and value[0] in _PARTS:
            stands[_PARTS[value[0]]] = list(range(len(source), len(source) + len(pieces)))
        source += pieces
    return Example(source, list(date.isoformat()), _links(source, stands), locale)


def _links(source: list[str], stands: dict[Part, list[int]]) -> list[tuple[int, int, Part]]:
    """Link digits to digits from the right, and every digit of a month in words to its word."""
    links: list[tuple[int, int, Part]] = []
    for part, places in _PLACES.items():
        digits = [i for i in stands[part] if source[i].isdigit()]
        if digits:
            pairs = list(zip(reversed(places), reversed(digits), strict=False))[::-1]
        else:
            pairs = [(t, stands[part][0]) for t in places]
        links += [(t, s, part) for t, s in pairs]
    return links


@lru_cache
def _pattern(locale: str, style: Style) -> list[tuple[str, str]]:
    """Take a pattern such as "d MMMM y" apart: fields, and what stands between them."""
    return [
        (kind, value if isinstance(value, str) else value[0] * value[1])
        for kind, value in tokenize_pattern(get_date_format(style, locale).pattern)
    ]


def is_held_out(dates: Sequence[Date]) -> np.ndarray:
    """Tell which days are kept for testing, for ever and on every machine: a tenth, scattered evenly.

    Parameters
    ----------
    dates : B dates.

    Returns
    -------
    (B,) bool array.

    References
    ----------
    Knuth, "The Art of Computer Programming", vol. 3, sec. 6.4: multiplicative hashing with the golden ratio.

    Examples
    --------
    >>> is_held_out([Date(2031, 3, 4), Date(2031, 3, 10)])
    array([False,  True])
    """
    return _held_out(np.array([date.toordinal() for date in dates], dtype=np.int64))


def _held_out(ordinals: np.ndarray) -> np.ndarray:
    hashed = ordinals.astype(np.uint64) * np.uint64(2_654_435_769) % np.uint64(2**32)
    held_out: np.ndarray = hashed < np.uint64(int(HELD_OUT_SHARE * 2**32))
    return held_out


def sample_dates(rng: np.random.Generator, n: int, held_out: bool = False) -> list[Date]:
    """Draw days evenly from the ones for training, or from the ones held out for testing.

    Examples
    --------
    >>> bool(is_held_out(sample_dates(np.random.default_rng(0), 100)).any())
    False
    """
    return [Date.fromordinal(day) for day in rng.choice(_allowed(held_out), size=n).tolist()]


@lru_cache
def _allowed(held_out: bool) -> np.ndarray:
    """List the days to draw from."""
    days = np.arange(FIRST.toordinal(), LAST.toordinal() + 1)
    allowed: np.ndarray = days[_held_out(days) == held_out]
    return allowed


def sample_examples(
    rng: np.random.Generator, n: int, locales: Sequence[str] = tuple(LOCALES), held_out: bool = False
) -> list[Example]:
    """Draw dates, each said in one of the locales, with or without its day of the week.

    Parameters
    ----------
    rng : source of chance.
    n : how many examples.
    locales : some of `LOCALES`, which come equally often.
    held_out : draw from the test days; no test day is ever in a training example, in no locale.

    Returns
    -------
    n examples.

    Raises
    ------
    ValueError
        If a locale is unknown, or there is none.

    Examples
    --------
    >>> len(sample_examples(np.random.default_rng(0), 3, ["fr"])[0].target)
    10
    """
    if not locales:
        raise ValueError("locales is empty: give at least one of " + ", ".join(LOCALES))
    dates = sample_dates(rng, n, held_out)
    which = rng.integers(len(locales), size=n).tolist()
    style: list[Style] = rng.choice(STYLES, size=n).tolist()
    return [example(date, locales[i], s) for date, i, s in zip(dates, which, style, strict=True)]


def _check(date: Date, locale: str, style: str) -> None:
    """Refuse what is not offered."""
    if not FIRST <= date <= LAST:
        raise ValueError(f"{date.isoformat()} is out of range: choose a day from {FIRST} to {LAST}")
    if locale not in LOCALES:
        raise ValueError(f"locale {locale!r} is not offered: choose one of {', '.join(LOCALES)}")
    if style not in STYLES:
        raise ValueError(f"style {style!r} is not offered: choose one of {', '.join(STYLES)}")

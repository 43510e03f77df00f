"""Number words in many languages: an endless translation set with exact answers, embedded in the package.

German says the unit before the ten (45 = five-and-forty), so an alignment with English is not a diagonal.
German and Dutch write a number as one long word. Whole words would be far too many and letters too long, so
the compound is cut into its pieces: acht|hundert|fünf|und|achtzig, a first taste of WordPiece.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from num2words import num2words

LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "nl": "Dutch",
    "id": "Indonesian",
    "vi": "Vietnamese",
}
LIMIT = 1_000_000  # numbers below this one
BETWEEN = ","  # stands between the numbers of a list
HELD_OUT_SHARE = 0.1  # of all numbers

# Pieces of compounds besides the words for 0-19 and the tens.
_SEAMS = {"de": {"ein", "und", "hundert", "tausend"}, "nl": {"een", "en", "ën", "honderd", "duizend"}}

Pair = tuple[list[str], list[str]]


def spell(number: int, language: str) -> str:
    """Write a number in words, as num2words does.

    Parameters
    ----------
    number : from 0 up to, not including, one million.
    language : one of `LANGUAGES`.

    Raises
    ------
    ValueError
        If the number or the language is not among them.

    Examples
    --------
    >>> spell(885, "de")
    'achthundertfünfundachtzig'
    """
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r} is not offered: choose one of {', '.join(LANGUAGES)}")
    if not 0 <= number < LIMIT:
        raise ValueError(f"number {number} is out of range: choose one from 0 to {LIMIT - 1}")
    return str(num2words(number, lang=language))


def pieces(number: int, language: str) -> list[str]:
    """Write a number as the list of its words, compounds cut into their parts.

    Parameters
    ----------
    number, language : see `spell`, which also names the errors.

    Examples
    --------
    >>> pieces(885, "de")
    ['acht', 'hundert', 'fünf', 'und', 'achtzig']
    >>> pieces(885, "en")
    ['eight', 'hundred', 'and', 'eighty', 'five']
    """
    thousands, rest = divmod(number, 1000)
    if not thousands or not rest:
        return list(_split(number, language))
    # Spelling takes 0.1 ms a number. What stands after the thousands is the same for each of them, so 2,000
    # spellings give a million numbers; a test compares with num2words.
    one_thousand = len(_split(1000, language))
    return [*_split(1000 * thousands, language), *_split(1000 + rest, language)[one_thousand:]]


@lru_cache(maxsize=20_000)
def _split(number: int, language: str) -> tuple[str, ...]:
    """Spell a number and cut it at spaces, hyphens and the seams of compounds."""
    words = re.findall(r"[^\s,-]+", spell(number, language))
    if language not in _SEAMS:
        return tuple(words)
    return tuple(piece for word in words for piece in _compound_pattern(language).findall(word))


@lru_cache
def _compound_pattern(language: str) -> re.Pattern[str]:
    """Match the next piece of a compound, the longest first: "hundert" before the "und" inside it."""
    words = {spell(number, language) for number in (*range(20), *range(20, 100, 10))} | _SEAMS[language]
    return re.compile("|".join(sorted(words, key=lambda word: (-len(word), word))))


def is_held_out(numbers: np.ndarray) -> np.ndarray:
    """Tell which numbers are kept for testing, for ever and on every machine: a tenth, scattered evenly.

    Zero is never among them: its word stands in no other number, so nothing else could teach it.

    Parameters
    ----------
    numbers : (...) array of integers.

    Returns
    -------
    (...) bool array.

    References
    ----------
    Knuth, "The Art of Computer Programming", vol. 3, sec. 6.4: multiplicative hashing with the golden ratio.

    Examples
    --------
    >>> int(is_held_out(np.arange(LIMIT)).sum())
    99999
    """
    hashed = numbers.astype(np.uint64) * np.uint64(2_654_435_769) % np.uint64(2**32)
    held_out: np.ndarray = (hashed < np.uint64(int(HELD_OUT_SHARE * 2**32))) & (numbers != 0)
    return held_out


def sample_numbers(
    rng: np.random.Generator, shape: tuple[int, ...], held_out: bool, below: int = LIMIT
) -> np.ndarray:
    """Draw numbers evenly from the ones for training, or from the ones held out for testing.

    Parameters
    ----------
    rng : source of chance.
    shape : shape of the result.
    held_out : draw test numbers.
    below : draw numbers below this one only.

    Returns
    -------
    int64 array of that shape.

    Raises
    ------
    ValueError
        If `below` is under 100 or over one million.
    """
    if not 100 <= below <= LIMIT:
        raise ValueError(
            f"below={below} leaves too few numbers or too large ones: choose from 100 to {LIMIT}"
        )
    return rng.choice(_allowed(held_out, below), size=shape)


@lru_cache
def _allowed(held_out: bool, below: int) -> np.ndarray:
    """List the numbers to draw from; kept, since a training draws from the same million at every step."""
    return np.flatnonzero(is_held_out(np.arange(below)) == held_out)


def sample_pairs(
    rng: np.random.Generator,
    n: int,
    source: str = "en",
    target: str = "de",
    held_out: bool = False,
    list_length: int = 1,
    below: int = LIMIT,
) -> list[Pair]:
    """Draw sentence pairs: the same number, or list of numbers, in two languages.

    Parameters
    ----------
    rng : source of chance.
    n : how many pairs.
    source, target : languages of `LANGUAGES`.
    held_out : draw from the test numbers; no test number is ever in a training pair.
    list_length : numbers in each sentence. One alone is too short to overflow the state of an encoder.
    below : draw numbers below this one only.

    Returns
    -------
    n pairs (source pieces, target pieces).

    Raises
    ------
    ValueError
        If a language is unknown, `list_length` is below 1, or `below` is out of range.

    Examples
    --------
    >>> sample_pairs(np.random.default_rng(0), 1, list_length=2)[0][0]  # doctest: +ELLIPSIS
    [..., ',', ...]
    """
    if list_length < 1:
        raise ValueError(f"list_length={list_length}: a sentence needs at least 1 number")
    rows = sample_numbers(rng, (n, list_length), held_out, below).tolist()
    return [(join_numbers(row, source), join_numbers(row, target)) for row in rows]


def join_numbers(numbers: list[int], language: str) -> list[str]:
    """Write a list of numbers as one sentence.

    Examples
    --------
    >>> join_numbers([7, 20], "en")
    ['seven', ',', 'twenty']
    """
    sentence = pieces(numbers[0], language)
    for number in numbers[1:]:
        sentence += [BETWEEN, *pieces(number, language)]
    return sentence


def alignment(source: list[str], target: list[str], languages: tuple[str, str]) -> list[tuple[int, int, int]]:
    """Tell which piece of one sentence means which piece of the other, where a single piece means a number.

    Parameters
    ----------
    source, target : pieces of the same number, or list of numbers, in two languages.
    languages : of the source and of the target.

    Returns
    -------
    a list of (target position, source position, value) in the order of the target; the value is 1 to 19, a
    ten, 100 or 1000. Pieces without a counterpart, such as "und", are left out.

    Examples
    --------
    >>> alignment(["forty", "seven"], ["sieben", "und", "vierzig"], ("en", "de"))
    [(0, 1, 7), (2, 0, 40)]
    """
    places: dict[int, list[int]] = {}  # where each value stands in the source, in order
    for i, piece in enumerate(source):
        places.setdefault(_values(languages[0]).get(piece, 0), []).append(i)
    links = []
    for t, piece in enumerate(target):
        value = _values(languages[1]).get(piece, 0)
        if value and places.get(value):
            links.append((t, places[value].pop(0), value))
    return links


@lru_cache
def _values(language: str) -> dict[str, int]:
    """Map each piece that means a number by itself to that number; "ein" before "hundert" is a one, too."""
    values = {pieces(number, language)[0]: number for number in (*range(1, 20), *range(20, 100, 10))}
    values |= {pieces(number, language)[-1]: number for number in (100, 1000)}
    return values | {piece: 1 for piece in _SEAMS.get(language, ()) if piece in ("ein", "een")}

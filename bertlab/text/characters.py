"""Words as characters: the bytes of their spelling, between a mark of the beginning and one of the end.

No word is unknown: all 256 bytes have a number, so any spelling in any script has one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NONE = 0  # where a word has ended; [PAD] has nothing else
BEGIN_TEXT, END_TEXT, BEGIN_WORD, END_WORD = 257, 258, 259, 260  # byte b is b + 1
N_CHARACTERS = 261
MARKS = {"[CLS]": BEGIN_TEXT, "[SEP]": END_TEXT}  # tokens that are no words


def word_characters(words: Sequence[str], most: int = 50, cut: bool = False) -> NDArray[np.int64]:
    """Spell words in numbers.

    Parameters
    ----------
    words : n of them. [CLS] and [SEP], which begin and end a text, have a character of their own; [PAD] has
        none.
    most : characters a word may have, both marks counted; 50 in ELMo.
    cut : spell longer words up to there, instead of refusing them.

    Returns
    -------
    (n, C) int64, C of the longest; 0 behind the end of a word.

    Raises
    ------
    ValueError
        If a word is empty, or too long and may not be cut.

    References
    ----------
    Peters et al. 2018, sec. 3.4; the numbers are those of allenai/bilm-tf (data.py), plus 1.

    Examples
    --------
    >>> word_characters(["at", "[PAD]"]).tolist()  # begin, a, t, end
    [[259, 98, 117, 260], [0, 0, 0, 0]]
    >>> word_characters(["é"]).shape  # two bytes and the marks
    (1, 4)
    """
    spelled = [_spelled(word, most, cut) for word in words]
    found = np.zeros((len(spelled), max(map(len, spelled), default=0)), np.int64)
    for row, numbers in zip(found, spelled, strict=True):
        row[: len(numbers)] = numbers
    return found


def _spelled(word: str, most: int, cut: bool) -> list[int]:
    if word == "[PAD]":
        return []
    if word in MARKS:
        return [BEGIN_WORD, MARKS[word], END_WORD]
    if not word:
        raise ValueError("a word has no character: leave empty words out, or write [PAD] for none")
    letters = word.encode()
    if len(letters) > most - 2 and not cut:
        raise ValueError(
            f"{word[:20]!r}… has {len(letters)} bytes, of most = {most} characters {most - 2} are left for "
            "them: choose more, or cut=True"
        )
    return [BEGIN_WORD, *(byte + 1 for byte in letters[: most - 2]), END_WORD]

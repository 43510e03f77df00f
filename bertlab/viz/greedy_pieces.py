"""Words cut into the longest pieces of a vocabulary, with every try: the same rule in greedy_pieces.js.

It is BERT's rule, in few lines. Characters are classed by the tables of whoever runs it, Python or browser:
those that came into Unicode lately may be classed differently.
"""

import string
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

# The CJK blocks whose characters are words of their own.
CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
PUNCTUATION = frozenset(string.punctuation)


class Piece(NamedTuple):
    """A piece of a word, and the characters of the text that it stands for: from start to before end."""

    piece: str
    id: int
    start: int
    end: int


class Word(NamedTuple):
    """A clean word, what it is cut into, and every piece that was looked up, in order."""

    word: str
    pieces: list[Piece]
    tries: list[str]


def greedy_pieces(
    text: str, ids: Mapping[str, int], unknown: str = "[UNK]", lowercase: bool = True, longest: int = 100
) -> list[Word]:
    """Clean a text, cut it into words, and each word into the longest pieces from the left.

    Parameters
    ----------
    text : str
    ids : mapping of piece to id
        "##" begins a piece that goes on inside a word.
    unknown : str
        The piece for a word that cannot be cut; one of `ids`.
    lowercase : bool
        Accents go, too.
    longest : int
        A longer word is unknown.

    Returns
    -------
    list of Word

    Examples
    --------
    >>> for word in greedy_pieces("Unable, no", {"[UNK]": 0, "un": 1, "##able": 2, ",": 3}):
    ...     print(word.word, [piece.piece for piece in word.pieces], len(word.tries))
    unable ['un', '##able'] 6
    , [','] 1
    no ['[UNK]'] 2
    """
    return [_cut(letters, ids, unknown, longest) for letters in clean_words(text, lowercase)]


def clean_words(text: str, lowercase: bool) -> list[list[tuple[str, int]]]:
    """Words of a text, as letters with the places they come from.

    Examples
    --------
    >>> clean_words("É!", lowercase=True)
    [[('e', 0)], [('!', 1)]]
    """
    words: list[list[tuple[str, int]]] = [[]]
    for place, char in enumerate(text):
        kind = unicodedata.category(char)
        if char in "\t\n\r" or kind[0] == "Z":
            words.append([])
        elif char != "\ufffd" and kind not in ("Cc", "Cf", "Co", "Cs"):
            for letter in _letters(char) if lowercase else char:
                if _stands_alone(letter):
                    words += [[(letter, place)], []]
                else:
                    words[-1].append((letter, place))
    return [word for word in words if word]


def _letters(char: str) -> str:
    parts = unicodedata.normalize("NFD", char)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn").lower()


def _stands_alone(letter: str) -> bool:
    is_mark = letter in PUNCTUATION or unicodedata.category(letter)[0] == "P"
    return is_mark or any(first <= ord(letter) <= last for first, last in CHINESE)


def _cut(letters: list[tuple[str, int]], ids: Mapping[str, int], unknown: str, longest: int) -> Word:
    word = "".join(letter for letter, _ in letters)
    lost = [Piece(unknown, ids[unknown], letters[0][1], letters[-1][1] + 1)]
    pieces: list[Piece] = []
    tries: list[str] = []
    if len(word) > longest:
        return Word(word, lost, tries)
    start, end = 0, len(word)
    while start < end:
        piece = "##" * (start > 0) + word[start:end]
        tries.append(piece)
        if piece in ids:
            pieces.append(Piece(piece, ids[piece], letters[start][1], letters[end - 1][1] + 1))
            start, end = end, len(word)
        else:
            end -= 1
            if start == end:
                return Word(word, lost, tries)
    return Word(word, pieces, tries)

"""Raw text to words as BERT cuts them: each character becomes a short string, whatever its neighbours are.

`CharacterTable` holds that string for every character: "" for a control character, " " for white space,
" 我 " for a Chinese character and " ! " for punctuation, which both stand alone, and "e" for "É" in an
uncased model. So `str.translate` cleans a text, and splitting at the spaces gives its words.

The rules are those of the Rust library `tokenizers`, which everyone uses now. The original release differs:

- A private-use character is removed. The original keeps it, and its word becomes [UNK].
- "Σ" is "σ" everywhere. The original lower-cases whole words, where a final "Σ" is "ς".
- Chinese means the CJK blocks, without the kana, and without U+2B820 to U+2B91F, which the library forgot.
- Characters are classed as in Unicode 8, the tables of the library. The original takes Python's own.

What Unicode recomposes is never recomposed here: in a cased model "é" and "e" + U+0301 stay different.
"""

from __future__ import annotations

import re
import string
import unicodedata

# No word reaches beyond white space or punctuation, so a text may be cut there before anything else is done.
# ASCII's will do: what is not cut here is cut by `split_words`.
CHUNK = r"[^ \t\n\r!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]"

PUNCTUATION = frozenset(string.punctuation)  # "$", "+" and the like too, which Unicode calls symbols

# Blocks whose characters are words of their own.
CHINESE = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)

# Marks, punctuation and format characters that came after Unicode 8: ordinary letters to the library.
_NEWER = """
05C8-05C9 061D 07FD 0890-08E2 09FD-09FE 0A76 0AFA-0AFF 0B53-0B55 0C04-0C3C 0C77 0C84 0D00 0D3B-0D3C 0D81
0EBA 0ECE 180F 1885-1886 1ABF-1AF0 1B4E-1B4F 1B7D-1B7F 1DF6-1DFB 2E43-2E63 A82C A8C5 A8FF A9BD 105C9 105E4
10D24-10D27 10D69-10D6E 10EAB-10EFF 10F46-10F89 11070-11074 110C2-110CD 111CF 1123E-11241 1133B 11383-113E2
11438-1145E 11660-1166C 116B9 1182F-1183B 11938-11946 119D4-11AA2 11B00-11B09 11B60-11B66 11BE1 11C30-11CB6
11D31-11D47 11D90-11D97 11DF0 11EF3-11F5A 11FFF 12FF1-12FF2 13430-13455 1611E-1612F 16D68-16D6F 16E97-16E9A
16F4F 16FE2-16FE4 1CF00-1CF46 1D127-1D128 1D25B-1D25C 1E000-1E02A 1E08F 1E130-1E136 1E2AE-1E2EF 1E4EC-1E4EF
1E5EE-1E5FF 1E6E3-1E6F5 1E944-1E95F"""
NEWER = re.compile(f"[{''.join(re.sub(r'[0-9A-F]+', lambda code: chr(int(code[0], 16)), _NEWER).split())}]")
RECLASSED = {"\u166d": "Po", "\U000111c9": "Po", "\u1734": "Mn"}  # and as what Unicode 8 had them


def category(char: str) -> str:
    """Unicode's general category of a character, such as "Mn" for an accent, as of Unicode 8.

    Examples
    --------
    >>> category("\u0301"), category("…"), category("\u200b")
    ('Mn', 'Po', 'Cf')
    """
    if NEWER.match(char):
        return "Cn"  # not assigned
    return RECLASSED.get(char) or unicodedata.category(char)


def is_space(char: str) -> bool:
    """Whether a character separates words: Unicode's separators, tab and line ends."""
    return char in "\t\n\r" or category(char).startswith("Z")


def is_removed(char: str) -> bool:
    """Whether a character leaves no trace: control, format, private use, surrogates and U+FFFD."""
    return char == "\ufffd" or category(char) in ("Cc", "Cf", "Co", "Cs")


def is_punctuation(char: str) -> bool:
    """Whether a character is a word of its own, as punctuation is."""
    return char in PUNCTUATION or category(char).startswith("P")


class CharacterTable(dict[int, str]):
    """What each character of a text becomes, by its code point, for `str.translate`; filled as text is seen.

    Parameters
    ----------
    lowercase : as uncased models do.
    strip_accents : take the marks off their letters; as `lowercase` if not set apart.

    Examples
    --------
    >>> "Crème, 我爱NLP".translate(CharacterTable())
    'creme ,   我  爱 nlp'
    >>> "Crème, 我爱NLP".translate(CharacterTable(lowercase=False))
    'Crème ,   我  爱 NLP'
    """

    def __init__(self, lowercase: bool = True, strip_accents: bool | None = None) -> None:
        super().__init__()
        self.lowercase = lowercase
        self.strip_accents = lowercase if strip_accents is None else strip_accents

    def __missing__(self, code: int) -> str:
        self[code] = self._replacement(chr(code))
        return self[code]

    def _replacement(self, char: str) -> str:
        if is_space(char):
            return " "
        if is_removed(char):
            return ""
        letters = without_marks(char) if self.strip_accents else char
        if self.lowercase:
            letters = letters.lower()
        if CHINESE.match(char):
            return f" {letters} "
        return "".join(f" {letter} " if is_punctuation(letter) else letter for letter in letters)


def without_marks(char: str) -> str:
    """Take a character apart and leave out the marks: "é" becomes "e", and a mark alone "".

    Marks go with more than accents: Japanese loses its voicing, "ご" becomes "こ".

    Examples
    --------
    >>> without_marks("É"), without_marks("ご"), without_marks("\u0301"), without_marks("ø")
    ('E', 'こ', '', 'ø')
    """
    if NEWER.match(char):
        return char
    return "".join(part for part in unicodedata.normalize("NFD", char) if category(part) != "Mn")


def split_words(text: str, table: CharacterTable) -> list[tuple[str, list[int]]]:
    """Clean a text and cut it into words, keeping where each of their characters stood.

    Parameters
    ----------
    text : raw.
    table : what its characters become.

    Returns
    -------
    words in order, each with the position in `text` that every one of its characters comes from.

    Examples
    --------
    >>> split_words("Ça va?", CharacterTable())
    [('ca', [0, 1]), ('va', [3, 4]), ('?', [5])]
    """
    origins = [i for i, char in enumerate(text) for _ in table[ord(char)]]
    words = re.finditer("[^ ]+", text.translate(table))
    return [(word[0], origins[word.start() : word.end()]) for word in words]

"""WordPiece, BERT's tokenizer: each word is cut into the longest pieces that the vocabulary has.

Greedy and from the left: the longest piece that the word begins with, then the longest that the rest begins
with, and so on. A piece that goes on inside a word is written with "##". If a rest begins with no piece, the
whole word becomes [UNK].

Exact: same ids and offsets as the Rust library `tokenizers`. Where that one departs from the original
release, bertlab.text.normalisation lists it; and the word limit is 100 characters there, 200 in the original.

Fast: a text repeats its words, so their ids are kept. A regular expression finds the words, a dictionary has
their ids, and both are C. This is why Python is ahead of Rust here, which cuts every word anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from bertlab.text.normalisation import CHUNK, CharacterTable, split_words
from bertlab.text.rust import for_rust, rust_tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

Piece = tuple[int, int, int]  # id, start, end


@dataclass(frozen=True)
class Encoding:
    """A text in pieces, without [CLS] and [SEP]; a piece stands for `text[start:end]` of the raw text."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]


class WordPiece:
    """BERT's tokenizer with its vocabulary.

    Parameters
    ----------
    vocab : the pieces in the order of their ids, the five special tokens among them.
    lowercase : as uncased models do.
    strip_accents : take marks off their letters; as `lowercase` if not set apart.
    max_word_length : a longer word, counted after cleaning, becomes [UNK].
    recognise_special : a special token typed in a text becomes its id. Otherwise it is plain text, and no
        text whatever can give the id of a special token other than [UNK].
    fast : let the Rust library encode. Same result; faster where offsets are asked for, or words are rare.

    Attributes
    ----------
    vocab, ids : the pieces as a list, and piece to id.
    pad_id, unk_id, cls_id, sep_id, mask_id, special_ids : ids of the special tokens, and all five as a set.

    Raises
    ------
    ValueError
        If a piece stands in the vocabulary twice, or a special token is missing.

    References
    ----------
    Devlin et al. 2019, sec. 3; google-research/bert, tokenization.py. WordPiece: Wu et al. 2016, sec. 4.1.

    Examples
    --------
    >>> tokenizer = WordPiece([*SPECIAL, "un", "##aff", "##able", "!"])
    >>> tokenizer.encode("Unaffable!")
    Encoding(ids=[5, 6, 7, 8], tokens=['un', '##aff', '##able', '!'],
             offsets=[(0, 2), (2, 5), (5, 9), (9, 10)])
    """

    def __init__(
        self,
        vocab: Sequence[str],
        lowercase: bool = True,
        strip_accents: bool | None = None,
        max_word_length: int = 100,
        recognise_special: bool = False,
        fast: bool = False,
    ) -> None:
        self.vocab, self.ids = list(vocab), {piece: i for i, piece in enumerate(vocab)}
        _check(self.vocab, self.ids)
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = (self.ids[s] for s in SPECIAL)
        self.special_ids = frozenset(self.ids[token] for token in SPECIAL)
        self.lowercase, self.strip_accents = lowercase, strip_accents
        self.max_word_length = max_word_length
        self._recognised = SPECIAL if recognise_special else ()
        self._table = CharacterTable(lowercase, strip_accents)
        self._longest_piece = max(map(len, self.vocab))
        self._chunks = re.compile("|".join([*map(re.escape, self._recognised), CHUNK]))
        self._cache = _Cache(self)
        settings = (lowercase, strip_accents, max_word_length, self._recognised)
        self._rust = rust_tokenizer(self.ids, *settings) if fast else None

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        max_word_length: int = 100,
        recognise_special: bool = False,
        fast: bool = False,
    ) -> WordPiece:
        """Read a vocabulary as published with every BERT: `vocab.txt`, a piece a line.

        Raises
        ------
        ValueError
            If a piece stands in the vocabulary twice, or a special token is missing.
        """
        lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        return cls(lines, lowercase, strip_accents, max_word_length, recognise_special, fast)

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as `from_file` reads it."""
        Path(path).write_text("\n".join(self.vocab) + "\n", encoding="utf-8", newline="\n")

    def __len__(self) -> int:
        return len(self.vocab)

    def encode(self, text: str) -> Encoding:
        """Cut a text into pieces, and say where each stands in it.

        Pieces out of one character share its place: cleaning takes Hangul apart into its letters.
        """
        if self._rust is not None:
            encoding = self._rust.encode(for_rust(text), add_special_tokens=False)
            return Encoding(encoding.ids, encoding.tokens, encoding.offsets)
        pieces = [
            (i, chunk.start() + start, chunk.start() + end)
            for chunk in self._chunks.finditer(text)
            for i, start, end in self.chunk_pieces(chunk[0])
        ]
        return Encoding(
            [i for i, _, _ in pieces],
            [self.vocab[i] for i, _, _ in pieces],
            [(start, end) for _, start, end in pieces],
        )

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Encode many texts into ids alone.

        Examples
        --------
        >>> WordPiece([*SPECIAL, "a", "b"]).encode_batch(["a b", "", "B"])
        [[5, 6], [], [6]]
        """
        if self._rust is not None:
            encodings = self._rust.encode_batch_fast([*map(for_rust, texts)], add_special_tokens=False)
            return [encoding.ids for encoding in encodings]
        ids_of, chunks = self._cache.__getitem__, self._chunks.findall
        return [list(chain.from_iterable(map(ids_of, chunks(text)))) for text in texts]

    def chunk_ids(self, chunk: str) -> tuple[int, ...]:
        """Ids of a stretch of raw text that no word reaches beyond, as `CHUNK` finds it."""
        if chunk in self._recognised:
            return (self.ids[chunk],)
        words = chunk.translate(self._table).split()
        return tuple(i for word in words for i, _, _ in self.longest_matches(word))

    def chunk_pieces(self, chunk: str) -> list[Piece]:
        """Ids and places of such a stretch; places count from its start."""
        if chunk in self._recognised:
            return [(self.ids[chunk], 0, len(chunk))]
        return [
            (i, origins[start], origins[end - 1] + 1)
            for word, origins in split_words(chunk, self._table)
            for i, start, end in self.longest_matches(word)
        ]

    def longest_matches(self, word: str) -> list[Piece]:
        """Cut a clean word into the longest pieces there are; [UNK] as a whole if that fails.

        Examples
        --------
        >>> tokenizer = WordPiece([*SPECIAL, "un", "##aff", "##able"])
        >>> tokenizer.longest_matches("unable"), tokenizer.longest_matches("unknown")
        ([(5, 0, 2), (7, 2, 6)], [(1, 0, 7)])
        """
        unknown = [(self.unk_id, 0, len(word))]
        if len(word) > self.max_word_length:
            return unknown
        found: list[Piece] = []
        start = 0
        while start < len(word):
            before = "##" if start else ""
            for end in range(min(len(word), start + self._longest_piece), start, -1):
                if (i := self.ids.get(before + word[start:end])) is not None:
                    break
            else:
                return unknown
            found.append((i, start, end))
            start = end
        return found

    def decode(self, ids: Iterable[int]) -> str:
        """Put pieces together to words, with a space between words.

        What cleaning took is gone, and every punctuation mark stands alone.

        Examples
        --------
        >>> WordPiece([*SPECIAL, "un", "##aff", "##able", "!"]).decode([2, 5, 6, 7, 8])
        '[CLS] unaffable !'
        """
        return " ".join(self.vocab[i] for i in ids).replace(" ##", "")


class _Cache(dict[str, tuple[int, ...]]):
    """Ids of the chunks of text seen so far. Full, it starts anew: frequent words are back at once."""

    MOST = 500_000  # entries, about 100 MB
    LONGEST = 50  # characters; what is longer hardly comes again

    def __init__(self, tokenizer: WordPiece) -> None:
        super().__init__()
        self.tokenizer = tokenizer

    def __missing__(self, chunk: str) -> tuple[int, ...]:
        ids = self.tokenizer.chunk_ids(chunk)
        if len(chunk) <= self.LONGEST:
            if len(self) >= self.MOST:
                self.clear()
            self[chunk] = ids
        return ids


def _check(vocab: list[str], ids: dict[str, int]) -> None:
    if len(ids) < len(vocab):
        twice = next(piece for piece, count in Counter(vocab).items() if count > 1)
        raise ValueError(f"the piece {twice!r} stands in the vocabulary twice: give each piece once")
    if missing := [token for token in SPECIAL if token not in ids]:
        raise ValueError(
            f"the vocabulary lacks {', '.join(missing)}: add the special tokens {', '.join(SPECIAL)}"
        )

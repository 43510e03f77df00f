"""Byte-pair encoding, GPT's tokenizer, by the Rust library `tokenizers`.

WordPiece cuts off the longest piece it finds. Byte-pair encoding puts together instead: a word begins as
single letters, and neighbours are joined, pair after pair, in the order in which the pairs were learnt.

GPT-1 cleans and lower-cases a text as uncased BERTs do, and marks the end of each word by "</w>". GPT-2
takes every text as it is: its letters are the 256 bytes, so that nothing is unknown, and a space belongs to
the word behind it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from bertlab.text.rust import for_rust
from bertlab.text.wordpiece import Encoding

WORD_END, UNKNOWN = "</w>", "<unk>"  # of GPT-1


class BytePair:
    """A byte-pair tokenizer, with the methods of `WordPiece`.

    Parameters
    ----------
    rust : the library's tokenizer; a copy is kept.
    recognise_special : a special token typed in a text becomes its id. Otherwise it is plain text.

    Attributes
    ----------
    rust : the copy.
    ids : piece to id.

    Raises
    ------
    ValueError
        If the tokenizer is of another kind than byte-pair encoding.

    References
    ----------
    Sennrich et al. 2016, sec. 3.2; of bytes: Radford et al. 2019, sec. 2.2.

    Examples
    --------
    >>> vocab = {"<unk>": 0, "l": 1, "o": 2, "w</w>": 3, "lo": 4, "low</w>": 5}
    >>> tokenizer = BytePair.gpt1(vocab, [("l", "o"), ("lo", "w</w>")])
    >>> tokenizer.encode("Low lol")
    Encoding(ids=[5, 4, 0], tokens=['low</w>', 'lo', '<unk>'], offsets=[(0, 3), (4, 6), (6, 7)])
    """

    def __init__(self, rust: Tokenizer, recognise_special: bool = False) -> None:
        if not isinstance(rust.model, models.BPE):
            kind = type(rust.model).__name__
            raise ValueError(f"a tokenizer of kind {kind} is no byte-pair encoding: BytePair reads BPE alone")
        self.rust = Tokenizer.from_str(rust.to_str())
        self.rust.encode_special_tokens = not recognise_special
        self.rust.no_padding()
        self.rust.no_truncation()  # nothing is cut unasked
        self.ids: dict[str, int] = self.rust.get_vocab(with_added_tokens=True)

    @classmethod
    def gpt1(
        cls,
        vocab: Mapping[str, int],
        merges: Sequence[tuple[str, str]],
        recognise_special: bool = False,
    ) -> BytePair:
        """Make GPT-1's tokenizer of pieces with their ids, and of pairs in the order of their joining.

        References
        ----------
        Radford et al. 2018, sec. 4.1. The authors' code cuts words by spaCy, which splits a few of them
        otherwise than the cleaning of BERT that published checkpoints come with.
        """
        rust = Tokenizer(
            models.BPE(dict(vocab), list(merges), unk_token=UNKNOWN, end_of_word_suffix=WORD_END)
        )
        rust.normalizer = normalizers.BertNormalizer(lowercase=True)
        rust.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        rust.decoder = decoders.BPEDecoder(suffix=WORD_END)
        return cls(_with_special(rust, UNKNOWN), recognise_special)

    @classmethod
    def gpt2(
        cls,
        vocab: Mapping[str, int],
        merges: Sequence[tuple[str, str]],
        recognise_special: bool = False,
    ) -> BytePair:
        """Make GPT-2's tokenizer of pieces with their ids, and of pairs in the order of their joining.

        References
        ----------
        Radford et al. 2019, sec. 2.2.
        """
        rust = Tokenizer(models.BPE(dict(vocab), list(merges)))
        rust.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        rust.decoder = decoders.ByteLevel()
        return cls(_with_special(rust, "<|endoftext|>"), recognise_special)

    @classmethod
    def from_files(
        cls, vocab: str | Path, merges: str | Path, kind: str, recognise_special: bool = False
    ) -> BytePair:
        """Read the two files that every published GPT has: `vocab.json` and `merges.txt`.

        Parameters
        ----------
        vocab, merges : the files.
        kind : "openai-gpt" for GPT-1's, "gpt2" for GPT-2's; the files do not say it.
        recognise_special : see `BytePair`.

        Raises
        ------
        ValueError
            If the kind is another one, or a file is not what its name says.
        """
        kinds = {"openai-gpt": cls.gpt1, "gpt2": cls.gpt2}
        if kind not in kinds:
            raise ValueError(f"kind={kind!r} is unknown: choose one of {', '.join(kinds)}")
        try:
            pieces = json.loads(Path(vocab).read_text(encoding="utf-8"))
            lines = Path(merges).read_text(encoding="utf-8").split("\n")
            pairs = [_pair(line) for line in lines if line.strip() and not line.startswith("#version")]
            return kinds[kind](pieces, pairs, recognise_special)
        except OSError:
            raise
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(f"{vocab} and {merges} make no byte-pair tokenizer: {error}") from error

    def __len__(self) -> int:
        return int(self.rust.get_vocab_size(with_added_tokens=True))

    def encode(self, text: str) -> Encoding:
        """Cut a text into pieces, and say where each stands in it; no special tokens are added.

        Pieces out of one letter share its place: its bytes, or the parts into which cleaning takes Hangul.
        """
        found = self.rust.encode(for_rust(text), add_special_tokens=False)
        return Encoding(found.ids, found.tokens, found.offsets)

    def encode_batch(self, texts: Iterable[str]) -> list[list[int]]:
        """Encode many texts into ids alone."""
        found = self.rust.encode_batch_fast([*map(for_rust, texts)], add_special_tokens=False)
        return [encoding.ids for encoding in found]

    def decode(self, ids: Iterable[int]) -> str:
        """Put pieces together to a text."""
        return str(self.rust.decode(list(ids), skip_special_tokens=False))


def _pair(line: str) -> tuple[str, str]:
    left, right = line.split(" ")
    return left, right


def _with_special(rust: Tokenizer, token: str) -> Tokenizer:
    """Make a token special if the vocabulary has it; it would be added to it otherwise."""
    if rust.token_to_id(token) is not None:
        rust.add_special_tokens([token])
    return rust

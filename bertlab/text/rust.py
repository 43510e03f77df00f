"""The same tokenizer built of the Rust library `tokenizers`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

# Half a character: a string of Python may hold one, a string of Rust may not.
_SURROGATE = re.compile("[\ud800-\udfff]")


def rust_tokenizer(
    ids: Mapping[str, int],
    lowercase: bool,
    strip_accents: bool | None,
    max_word_length: int,
    recognised: Iterable[str] = (),
) -> Tokenizer:
    """Build BERT's tokenizer from the parts of the library, with no template for special tokens.

    Parameters
    ----------
    ids : piece to id.
    lowercase, strip_accents, max_word_length : see `bertlab.text.WordPiece`.
    recognised : special tokens that are taken for what they say where they stand in a text.

    Examples
    --------
    >>> ids = {"[UNK]": 0, "play": 1, "##ing": 2}
    >>> rust_tokenizer(ids, True, None, 100).encode("Playing!").ids
    [1, 2, 0]
    """
    tokenizer = Tokenizer(
        models.WordPiece(dict(ids), unk_token="[UNK]", max_input_chars_per_word=max_word_length)
    )
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=strip_accents, lowercase=lowercase
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(list(recognised))
    return tokenizer


def for_rust(text: str) -> str:
    r"""Put U+FFFD for halves of characters: both are removed, and all else keeps its place.

    Examples
    --------
    >>> for_rust("a\ud83db") == "a\ufffdb"
    True
    """
    return _SURROGATE.sub("\ufffd", text)

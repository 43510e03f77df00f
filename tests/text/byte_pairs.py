"""Two small byte-pair vocabularies: of letters as GPT-1 has them, and of bytes as GPT-2 has them."""

from __future__ import annotations

from tokenizers import pre_tokenizers

from bertlab.text import BytePair

Pieces = tuple[dict[str, int], list[tuple[str, str]]]


def _pieces(letters: list[str], merges: list[tuple[str, str]], special: str, first: bool) -> Pieces:
    pieces = [*letters, *("".join(pair) for pair in merges)]
    pieces = [special, *pieces] if first else [*pieces, special]
    return {piece: i for i, piece in enumerate(pieces)}, merges


_LETTERS = "abcdefghijklmnoprstuvwxy"  # no q, no z: something is unknown
GPT1 = _pieces(
    [*_LETTERS, *(f"{letter}</w>" for letter in _LETTERS), "!</w>"],
    [("l", "o"), ("e", "r</w>"), ("lo", "w</w>"), ("lo", "w"), ("t", "h"), ("th", "e</w>"), ("o", "w")],
    "<unk>",
    first=True,
)
GPT2 = _pieces(
    sorted(pre_tokenizers.ByteLevel.alphabet()),
    [("t", "h"), ("o", "w"), ("th", "e"), ("Ġ", "t"), ("ow", "e"), ("Ġt", "owe"), ("l", "owe")],
    "<|endoftext|>",
    first=False,
)


def byte_pairs(kind: str, recognise_special: bool = False) -> BytePair:
    make, pieces = {"openai-gpt": (BytePair.gpt1, GPT1), "gpt2": (BytePair.gpt2, GPT2)}[kind]
    return make(*pieces, recognise_special)

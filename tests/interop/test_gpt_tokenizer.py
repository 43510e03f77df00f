"""GPT's tokenizer is read from whichever files there are, and refused where they contradict each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertlab.interop.gpt_tokenizer import read_tokenizer, write_tokenizer
from bertlab.text import WordPiece
from tests.interop.small_bert import tokenizer as word_pieces
from tests.interop.small_gpt import KINDS, small_gpt, tokenizer
from tests.text.byte_pairs import GPT1, GPT2

Kinds = pytest.mark.parametrize("kind", KINDS)
TEXT = "Lower the tower!"


def two_files(folder: Path, kind: str) -> Path:
    """As the first releases had them."""
    vocab, merges = GPT1 if kind == "openai-gpt" else GPT2
    (folder / "vocab.json").write_text(json.dumps(vocab))
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges), ""]
    (folder / "merges.txt").write_text("\n".join(lines))
    return folder


@Kinds
def test_any_files_that_suffice_give_the_same_tokenizer(tmp_path: Path, kind: str) -> None:
    config, wanted = small_gpt(kind).config, tokenizer(kind).encode(TEXT)
    assert read_tokenizer(two_files(tmp_path, kind), config).encode(TEXT) == wanted
    write_tokenizer(tokenizer(kind), tmp_path, config)
    assert read_tokenizer(tmp_path, config).encode(TEXT) == wanted  # all three
    for file in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        (tmp_path / file).unlink()
    assert read_tokenizer(tmp_path, config).encode(TEXT) == wanted


def test_word_pieces_are_read_with_or_without_their_whole_file(tmp_path: Path) -> None:
    config = small_gpt("openai-gpt", vocab_size=100).config
    write_tokenizer(word_pieces(), tmp_path, config)
    for file in (None, "tokenizer.json"):
        if file:
            (tmp_path / file).unlink()
        found = read_tokenizer(tmp_path, config)
        assert isinstance(found, WordPiece)
        assert found.encode("The dogs!") == word_pieces().encode("The dogs!")
    (tmp_path / "tokenizer_config.json").unlink()
    assert not read_tokenizer(tmp_path, config, lowercase=False).lowercase


def test_no_tokenizer_at_all(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match=r"tokenizer.json, vocab.json and merges.txt, or vocab.txt"):
        read_tokenizer(tmp_path, small_gpt("gpt2").config)


def change_pieces(folder: Path) -> None:
    (folder / "vocab.json").write_text(json.dumps({"the": 0}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (change_pieces, "vocab.json and tokenizer.json have different pieces: take one of them away"),
        (lambda folder: (folder / "vocab.json").write_text("{"), "vocab.json is no JSON"),
        (lambda folder: (folder / "vocab.json").write_text("[]"), "vocab.json is no JSON object"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "tokenizer.json is no tokenizer"),
    ],
)
def test_files_that_are_unsound_or_contradict_each_other_are_named(
    tmp_path: Path, change: Any, sentence: str
) -> None:
    config = small_gpt("gpt2").config
    write_tokenizer(tokenizer("gpt2"), two_files(tmp_path, "gpt2"), config)
    change(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        read_tokenizer(tmp_path, config)

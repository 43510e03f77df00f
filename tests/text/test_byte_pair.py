"""Byte pairs by hand, and as the published tokenizers of GPT-1 and GPT-2 cut any text."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import transformers
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from bertlab.text import BytePair
from tests.text.byte_pairs import GPT1, GPT2, byte_pairs

Texts = st.text(st.characters(codec="utf-8"), max_size=20)
KINDS = pytest.mark.parametrize("kind", ["openai-gpt", "gpt2"])


def joined(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """The definition: join neighbours, the pair that was learnt first before all others."""
    letters = [*word[:-1], word[-1] + "</w>"]
    while pairs := [pair for pair in pairwise(letters) if pair in merges]:
        first = min(pairs, key=merges.index)
        i, new = 0, list[str]()
        while i < len(letters):
            both = tuple(letters[i : i + 2]) == first
            new.append("".join(first) if both else letters[i])
            i += 1 + both
        letters = new
    return letters


@given(words=st.lists(st.text("lowerabnt", min_size=1, max_size=8), min_size=1, max_size=4))
def test_pairs_are_joined_in_the_order_in_which_they_were_learnt(words: list[str]) -> None:
    tokenizer = BytePair.gpt1(*GPT1)
    wanted = [piece for word in words for piece in joined(word, GPT1[1])]
    known = [piece if piece in tokenizer.ids else "<unk>" for piece in wanted]
    found = tokenizer.encode(" ".join(words))
    assert found.tokens == known
    assert found.ids == [tokenizer.ids[piece] for piece in known]


@KINDS
@given(text=Texts)
@example(text="Lower THE tower, café! 東京\t\n ok <unk> <|endoftext|>")
def test_ids_are_those_of_the_published_tokenizer(kind: str, text: str) -> None:
    theirs = {
        "openai-gpt": lambda: transformers.OpenAIGPTTokenizer(dict(GPT1[0]), GPT1[1]),
        "gpt2": lambda: transformers.GPT2Tokenizer(dict(GPT2[0]), GPT2[1]),
    }[kind]()
    assert byte_pairs(kind, recognise_special=True).encode(text).ids == theirs(text)["input_ids"]


@given(text=Texts)
@example(text="  two  spaces\n\n")
def test_of_bytes_every_text_comes_back_to_the_letter(text: str) -> None:
    tokenizer = byte_pairs("gpt2")
    encoding = tokenizer.encode(text)
    assert tokenizer.decode(encoding.ids) == text
    assert tokenizer.ids["<|endoftext|>"] not in encoding.ids


def test_decoding_of_gpt1_puts_words_together() -> None:
    tokenizer = byte_pairs("openai-gpt")
    assert tokenizer.decode(tokenizer.encode("Lower  the tower").ids) == "lower the tower"


@KINDS
@given(text=Texts)
def test_D18_D21_no_text_raises_and_offsets_go_forward_within_it(kind: str, text: str) -> None:
    found, before = byte_pairs(kind).encode(text), (0, 0)
    for start, end in found.offsets:
        assert 0 <= start <= end <= len(text)
        assert start >= before[1] or (start, end) == before or kind == "gpt2"
        assert start >= before[0]  # a piece may begin with some of a letter's bytes
        before = start, end
    assert all(found.tokens)


def test_D21_a_space_belongs_to_the_word_behind_it() -> None:
    text = "the tower"
    found = byte_pairs("gpt2").encode(text)
    assert "".join(text[start:end] for start, end in found.offsets) == text
    assert found.tokens[1].startswith("Ġ")


def test_D19_a_special_token_in_a_text_is_an_option() -> None:
    text = "the tower<|endoftext|>"
    plain, special = (byte_pairs("gpt2", recognise_special=choice) for choice in (False, True))
    end = plain.ids["<|endoftext|>"]
    assert end not in plain.encode(text).ids
    assert special.encode(text).ids[-1] == end
    assert special.encode_batch([text])[0][-1] == end
    assert plain.decode([end]) == "<|endoftext|>"


@KINDS
def test_a_batch_has_the_ids_of_its_texts(kind: str) -> None:
    tokenizer = byte_pairs(kind)
    texts = ["Lower", "", "the tower\ud83d!"]
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text).ids for text in texts]


@KINDS
def test_the_two_published_files_are_read(kind: str, tmp_path: Path) -> None:
    vocab, merges = GPT1 if kind == "openai-gpt" else GPT2
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges), ""]
    (tmp_path / "merges.txt").write_text("\n".join(lines))
    again = BytePair.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt", kind)
    for text in ("Lower the tower", "new <unk> letters: ñ"):
        assert again.encode(text) == byte_pairs(kind).encode(text)
    assert len(again) == len(vocab)
    with pytest.raises(ValueError, match="kind='bert' is unknown: choose one of openai-gpt, gpt2"):
        BytePair.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt", "bert")
    (tmp_path / "merges.txt").write_text("l o\nthree words here\n")
    with pytest.raises(ValueError, match="make no byte-pair tokenizer"):
        BytePair.from_files(tmp_path / "vocab.json", tmp_path / "merges.txt", kind)


def test_nothing_is_cut_or_padded_whatever_a_file_says() -> None:
    rust = byte_pairs("gpt2").rust
    rust.enable_truncation(2)
    rust.enable_padding(length=9)
    assert BytePair(rust).encode("the tower").ids == byte_pairs("gpt2").encode("the tower").ids


def test_a_tokenizer_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="of kind WordPiece is no byte-pair encoding"):
        BytePair(Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]")))

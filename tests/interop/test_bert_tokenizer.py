"""BERT's tokenizer is read from whichever files there are, and refused where `WordPiece` would differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from bertlab.interop.bert_tokenizer import read_tokenizer, write_tokenizer
from tests.interop.small_bert import TEXTS, change_json, tokenizer


def written(folder: Path, *without: str, **options: Any) -> Path:
    write_tokenizer(tokenizer(**options), folder, 24)
    for file in without:
        (folder / file).unlink()
    return folder


FILES = [
    (),
    ("vocab.txt",),
    ("vocab.txt", "tokenizer_config.json"),
    ("tokenizer_config.json",),
    ("tokenizer.json",),
]


@pytest.mark.parametrize("without", FILES, ids=lambda files: f"without {', '.join(files)}")
@pytest.mark.parametrize("strip_accents", [None, True, False])
@pytest.mark.parametrize("lowercase", [True, False])
def test_any_files_that_suffice_give_the_same_tokenizer(
    tmp_path: Path, lowercase: bool, strip_accents: bool | None, without: tuple[str, ...]
) -> None:
    ours = tokenizer(lowercase, strip_accents=strip_accents)
    again = read_tokenizer(written(tmp_path, *without, lowercase=lowercase, strip_accents=strip_accents))
    assert again.vocab == ours.vocab
    for text in TEXTS:
        assert again.encode(text) == ours.encode(text)


def test_the_rust_library_reads_the_whole_file_by_itself(tmp_path: Path) -> None:
    ours, theirs = tokenizer(), Tokenizer.from_file(str(written(tmp_path) / "tokenizer.json"))
    first, second = ours.encode("The dogs").ids, ours.encode("playing!").ids
    pair = theirs.encode("The dogs", "playing!")
    assert pair.ids == [ours.cls_id, *first, ours.sep_id, *second, ours.sep_id]
    assert pair.type_ids == [0] * (len(first) + 2) + [1] * (len(second) + 1)
    assert theirs.encode("The dogs").ids == [ours.cls_id, *first, ours.sep_id]
    assert theirs.decode(pair.ids) == "the dogs playing!"


def test_the_longest_word_is_kept(tmp_path: Path) -> None:
    again = read_tokenizer(written(tmp_path, max_word_length=3))
    assert again.max_word_length == 3
    assert again.encode("aaa aaaa").tokens == ["a", "##a", "##a", "[UNK]"]


def test_special_tokens_in_a_text_are_an_option(tmp_path: Path) -> None:
    folder = written(tmp_path)
    assert 4 not in read_tokenizer(folder).encode("the [MASK]").ids
    assert read_tokenizer(folder, recognise_special=True).encode("the [MASK]").ids[-1] == 4


def test_whether_a_bare_vocabulary_is_uncased_must_be_said(tmp_path: Path) -> None:
    folder = written(tmp_path, "tokenizer.json", "tokenizer_config.json")
    with pytest.raises(ValueError, match="does not say whether its model is uncased: give lowercase=True or"):
        read_tokenizer(folder)
    assert read_tokenizer(folder, lowercase=False).encode("Dog").tokens == ["Dog"]
    assert read_tokenizer(folder, lowercase=True).encode("Dog").tokens == ["dog"]


def test_an_argument_may_not_contradict_the_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"lowercase=False, but .* says True"):
        read_tokenizer(written(tmp_path), lowercase=False)


def test_no_tokenizer_at_all(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no tokenizer: vocab.txt or tokenizer.json is needed"):
        read_tokenizer(tmp_path)


def test_two_vocabularies_that_differ_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path) / "vocab.txt"
    path.write_text(path.read_text().replace("play", "work"))
    with pytest.raises(ValueError, match=r"vocab.txt and tokenizer.json have different pieces"):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": {"type": "BPE"}}, r"is made of \('BPE', 'BertNormalizer', 'BertPreTokenizer'\)"),
        ({"normalizer": {"type": "NFC"}}, "is made of"),
        ({"normalizer": None}, "is made of"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "is made of"),
        ({"normalizer": {"handle_chinese_chars": False}}, "handle_chinese_chars=False"),
        ({"normalizer": {"clean_text": False}}, "clean_text=False"),
        ({"model": {"continuing_subword_prefix": "@@"}}, "continuing_subword_prefix='@@'"),
        ({"model": {"unk_token": "<unk>"}}, "unk_token='<unk>'"),
        ({"model": {"vocab": {"[PAD]": 0, "a": 2}}}, "leaves out an id"),
        ({"added_tokens": [{"content": "<user>", "id": 100}]}, "adds <user>: WordPiece has no tokens but"),
        ({"added_tokens": [{"content": "[MASK]", "id": 100}]}, r"adds \[MASK\]"),
    ],
)
def test_a_tokenizer_that_does_something_else_is_refused(tmp_path: Path, change: Any, sentence: str) -> None:
    path = written(tmp_path, "vocab.txt") / "tokenizer.json"
    raw = json.loads(path.read_text())
    for name, value in change.items():
        raw[name] = {**raw[name], **value} if isinstance(value, dict) else value
    path.write_text(json.dumps(raw))
    with pytest.raises(ValueError, match=sentence):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize("option", ["do_lower_case", "strip_accents"])
def test_two_files_that_disagree_on_letters_are_refused(tmp_path: Path, option: str) -> None:
    change_json(written(tmp_path) / "tokenizer_config.json", **{option: False})
    with pytest.raises(
        ValueError, match=r"tokenizer_config.json has lower case .* tokenizer.json \(True, True\)"
    ):
        read_tokenizer(tmp_path)


def test_the_option_for_chinese_counts_without_the_whole_file_too(tmp_path: Path) -> None:
    change_json(written(tmp_path, "tokenizer.json") / "tokenizer_config.json", tokenize_chinese_chars=False)
    with pytest.raises(ValueError, match="tokenize_chinese_chars=False"):
        read_tokenizer(tmp_path)


@pytest.mark.parametrize("file", ["tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_file_that_is_no_json_object_is_named(tmp_path: Path, file: str, text: str) -> None:
    (written(tmp_path) / file).write_text(text)
    with pytest.raises(ValueError, match=f"{file} is no JSON"):
        read_tokenizer(tmp_path)

"""Claims about WordPiece: the cases that tokenizers get wrong, and agreement with two independent ones."""

from __future__ import annotations

import pickle
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer
from transformers.models.bert.tokenization_bert_legacy import BasicTokenizer, WordpieceTokenizer

from bertlab.datasets.fables import fables
from bertlab.text import SPECIAL, WordPiece

WORDS = "the cat[MASK] [CLS] UNK ##ing Ünal naïve cafe\u0301s 我爱 hello\tworld don't x\u200by 한국 […] İΣ ≠"
texts = st.text(st.characters() | st.sampled_from(WORDS)) | st.lists(st.sampled_from(WORDS.split())).map(
    " ".join
)


def tokenizer(*pieces: str, **settings) -> WordPiece:
    return WordPiece([*SPECIAL, *pieces], **settings)


def tokens(text: str, *pieces: str, **settings) -> list[str]:
    return tokenizer(*pieces, **settings).encode(text).tokens


def library(ours: WordPiece, **settings) -> BertWordPieceTokenizer:
    """The library's own BERT tokenizer, not the one that `fast` builds; it knows special tokens in a text."""
    return BertWordPieceTokenizer(ours.ids, **settings)


def both(ours: WordPiece, **settings) -> tuple[WordPiece, WordPiece]:
    return WordPiece(ours.vocab, **settings), WordPiece(ours.vocab, fast=True, **settings)


def test_D19_plain_text_gives_no_special_id():
    plain = ("the", "[", "mask", "]", "sat")
    for text in ("the [MASK] sat", "the [mask] sat"):
        assert tokens(text, *plain) == ["the", "[", "mask", "]", "sat"]


def test_D19_recognised_special_tokens_are_one_piece_and_keep_their_case():
    given_pieces = ("the", "[", "mask", "]", "sat")
    found = tokenizer(*given_pieces, recognise_special=True).encode("the [MASK] sat, the[MASK]sat")
    assert found.tokens == ["the", "[MASK]", "sat", "[UNK]", "the", "[MASK]", "sat"]
    assert found.offsets[1] == (4, 10)
    assert tokens("the [mask] sat", *given_pieces, recognise_special=True) == list(given_pieces)


@given(texts)
def test_D19_no_text_whatever_gives_a_special_id(small, text):
    assert not set(small.encode(text).ids) & (small.special_ids - {small.unk_id})


def test_D20_a_word_of_100_characters_is_cut_and_a_longer_one_is_unknown():
    pieces = ("a", "##a")
    assert tokens("a" * 100, *pieces) == ["a"] + ["##a"] * 99
    assert tokens("a" * 101, *pieces) == ["[UNK]"]
    assert len(tokens("a" * 200, *pieces, max_word_length=200)) == 200  # as in the original release
    assert tokens("a\u200b" * 100, *pieces) == ["a"] + ["##a"] * 99  # counted after cleaning


def test_D20_a_word_with_an_unknown_rest_is_unknown_as_a_whole():
    pieces = ("un", "##aff", "##able")
    assert tokens("unaffable", *pieces) == ["un", "##aff", "##able"]
    assert tokens("unaffZ unaff", *pieces) == ["[UNK]", "un", "##aff"]


def test_D20_a_word_of_100000_characters_returns_quickly():
    ours = tokenizer("a", "##a", max_word_length=100_000)
    start = time.process_time()
    assert tokenizer("a", "##a").encode_batch(["a" * 100_000]) == [[1]]
    assert len(ours.encode_batch(["a" * 100_000])[0]) == 100_000
    assert time.process_time() - start < 5


@pytest.mark.parametrize("fast", [False, True])
def test_D21_offsets_are_places_in_the_raw_text(fast):
    text = "Naïve cafe\u0301s!"
    found = tokenizer("naive", "cafe", "##s", "!", fast=fast).encode(text)
    assert found.tokens == ["naive", "cafe", "##s", "!"]
    assert found.offsets == [(0, 5), (6, 10), (11, 12), (12, 13)]  # a mark that goes is not taken along
    assert [text[start:end] for start, end in found.offsets] == ["Naïve", "cafe", "s", "!"]


@given(texts)
def test_D21_offsets_never_decrease_and_never_overlap(small, text):
    """But for the letters that one Hangul syllable is taken apart into: they share its place."""
    offsets = small.encode(text).offsets
    assert all(0 <= start < end <= len(text) for start, end in offsets)
    for (a_start, a_end), (start, end) in pairwise(offsets):
        assert start >= a_end or (start, end) == (a_start, a_end) or "가" <= text[start] <= "힣"


@given(texts)
def test_offsets_cut_a_text_where_its_pieces_are_found_again(small, text):
    found = small.encode(text)
    for token, (start, end) in zip(found.tokens, found.offsets, strict=True):
        if token != "[UNK]" and text[start:end].isascii():
            assert text[start:end].lower() == token.removeprefix("##")


@given(texts, st.booleans(), st.booleans())
def test_ids_tokens_and_offsets_are_those_of_the_library(small, text, lowercase, recognise):
    readable, fast = both(small, lowercase=lowercase, recognise_special=recognise)
    found = readable.encode(text)
    assert found == fast.encode(text)
    if recognise:  # as the library's own does
        theirs = library(small, lowercase=lowercase).encode(text, add_special_tokens=False)
        assert (found.ids, found.tokens, found.offsets) == (theirs.ids, theirs.tokens, theirs.offsets)


@given(texts)
def test_strip_accents_can_be_set_apart_as_in_the_library(small, text):
    for lowercase, strip in ((True, False), (False, True)):
        readable, fast = both(small, lowercase=lowercase, strip_accents=strip)
        assert readable.encode(text) == fast.encode(text)


@given(st.lists(texts), st.booleans())
def test_a_batch_is_its_texts_one_by_one(small, batch, fast):
    ours = WordPiece(small.vocab, fast=fast)
    assert ours.encode_batch(batch) == [small.encode(text).ids for text in batch]
    assert ours.encode_batch(iter(batch)) == ours.encode_batch(batch)  # the second time from the cache


@given(st.text(st.characters(categories=None)))
def test_halves_of_characters_do_no_harm(small, text):
    _, fast = both(small)
    assert small.encode(text) == fast.encode(text)
    assert small.encode_batch([text]) == fast.encode_batch([text])


def independent_ids(ours: WordPiece, text: str) -> list[int]:
    """Tokenize by the Python code that came with the first BERT for PyTorch."""
    words = BasicTokenizer(do_lower_case=ours.lowercase).tokenize(text)
    cut = WordpieceTokenizer(ours.ids, unk_token="[UNK]")
    return [ours.ids[piece] for word in words for piece in cut.tokenize(word)]


def test_an_independent_tokenizer_gives_the_same_ids(small):
    for lowercase in (True, False):
        ours = WordPiece(small.vocab, lowercase=lowercase)
        for text in [*fables(), *WORDS.split()]:
            assert ours.encode(text).ids == independent_ids(ours, text), text


def test_the_published_vocabulary_gives_the_published_ids(published):
    ours = WordPiece(published)
    assert len(ours) == 30_522
    assert (ours.pad_id, ours.unk_id, ours.cls_id, ours.sep_id, ours.mask_id) == (0, 100, 101, 102, 103)
    assert ours.encode("Hello, my dog is cute").ids == [7592, 1010, 2026, 3899, 2003, 10140]
    assert ours.encode("unaffable").tokens == ["una", "##ffa", "##ble"]  # greedy: not un, ##aff, ##able


@pytest.mark.parametrize("lowercase", [True, False])
def test_real_lines_give_the_ids_of_both_others(mirror, published, lowercase):
    """A sample; experiments/tokenizer_agreement.py has every line."""
    readable = WordPiece(published, lowercase=lowercase)
    fast = WordPiece(published, lowercase=lowercase, fast=True)
    lines = mirror("books").lines("bram-stoker-dracula.md")[:400]
    lines += mirror("tatoeba-eng-cmn").lines("cmn-short.txt")[:400]
    for line in lines:
        assert readable.encode(line) == fast.encode(line)
        assert readable.encode(line).ids == independent_ids(readable, line)
    assert readable.encode_batch(lines) == fast.encode_batch(lines)


def test_a_full_cache_starts_anew_and_long_words_are_not_kept(small, monkeypatch):
    ours = WordPiece(small.vocab)
    monkeypatch.setattr(type(ours._cache), "MOST", 3)
    sentences = fables()[:20]
    assert ours.encode_batch(sentences) == [small.encode(sentence).ids for sentence in sentences]
    assert len(ours._cache) <= 3
    kept = dict(ours._cache)
    ours.encode_batch(["a" * 51])
    assert ours._cache == kept


def test_the_cache_tells_words_apart_that_begin_alike(small):
    words = [word[:end] for word in ("travellers", "shepherds", "fox") for end in range(len(word), 0, -1)]
    for order in (words, words[::-1]):
        ours = WordPiece(small.vocab)
        assert ours.encode_batch(order) == ours.encode_batch(order) == [small.encode(w).ids for w in order]


def test_decode_puts_words_together(small):
    text = "the lion , having eaten [MASK]"
    ours = WordPiece(small.vocab, recognise_special=True)
    assert ours.decode(ours.encode("The lion, having  eaten [MASK]").ids) == text


def test_a_vocabulary_comes_back_from_its_file(small, tmp_path):
    small.save(tmp_path / "vocab.txt")
    again = WordPiece.from_file(tmp_path / "vocab.txt", lowercase=False, max_word_length=7)
    assert again.vocab == small.vocab
    assert not again.lowercase
    assert again.encode("abcdefgh").ids == [again.unk_id]
    assert (tmp_path / "vocab.txt").read_bytes().endswith(b"\n")


def test_a_tokenizer_travels_to_other_processes(small):
    for ours in both(small):
        assert pickle.loads(pickle.dumps(ours)).encode("The lion") == small.encode("The lion")


def test_a_vocabulary_with_a_piece_twice_or_without_special_tokens_is_refused():
    with pytest.raises(ValueError, match="'a' stands in the vocabulary twice"):
        tokenizer("a", "b", "a")
    with pytest.raises(ValueError, match=r"lacks \[CLS\], \[MASK\]: add"):
        WordPiece(["[PAD]", "[UNK]", "[SEP]", "a"])

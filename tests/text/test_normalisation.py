"""Claims about cleaning: what each character becomes, and which rules the library has."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from bertlab.text.normalisation import CharacterTable, is_removed, split_words, without_marks

SETTINGS = [(True, None), (False, None), (True, False), (False, True)]
# All that Unicode has: beyond there are tags and private use alone, of which there are some here.
CODES = [*range(0xD800), *range(0xE000, 0x40000), *range(0xE0000, 0xE0200), *range(0xFFFF0, 0x100010)]

# Text as people write it, and characters that rules are about.
SPECIAL_CHARACTERS = (
    "aZé\u0301\u0323 \t\r\n\x00\x07\x0b\x1c\x85\u00a0\u200b\u2028\ufffd\ue000ΣςİßﬁÅ我\U00020000ごｱ한≠,—'¿$_"
)
texts = st.text(st.characters() | st.sampled_from(SPECIAL_CHARACTERS))


def words(text: str, lowercase: bool = True, strip_accents: bool | None = None) -> list[str]:
    return [word for word, _ in split_words(text, CharacterTable(lowercase, strip_accents))]


def library_words(text: str, lowercase: bool, strip_accents: bool | None) -> list[str]:
    normal = BertNormalizer(lowercase=lowercase, strip_accents=strip_accents).normalize_str(text)
    return [word for word, _ in BertPreTokenizer().pre_tokenize_str(normal)]


def test_D16_uncased_words_lose_case_and_accents():
    assert words("Crème BRÛLÉE à la Carte") == ["creme", "brulee", "a", "la", "carte"]
    assert words("Cafe\u0301") == words("Caf\u00e9") == ["cafe"]


def test_D16_cased_words_stay_as_they_are_and_are_not_composed():
    text = "Crème BRÛLÉE à la Carte"
    assert words(text, lowercase=False) == text.split()
    assert words("Cafe\u0301", lowercase=False) == ["Cafe\u0301"]
    assert words("Caf\u00e9", lowercase=False) == ["Caf\u00e9"]


def test_D16_accents_follow_case_unless_set_apart():
    assert words("Café", lowercase=True, strip_accents=False) == ["café"]
    assert words("Café", lowercase=False, strip_accents=True) == ["Cafe"]


def test_D17_every_chinese_character_is_a_word_and_kana_are_not():
    assert words("我爱NLP东京tower") == ["我", "爱", "nlp", "东", "京", "tower"]
    assert words("ごはんとパン") == ["こはんとハン"]
    assert words("ごはんとパン", lowercase=False) == ["ごはんとパン"]
    assert words("a\U00020000b") == ["a", "\U00020000", "b"]


def test_D18_control_characters_go_and_white_space_separates():
    text = "he\u200bl\x00lo wor\ufffdld\tok\r\nend\x07"
    assert words(text) == ["hello", "world", "ok", "end"]
    assert words("") == words(" \u3000\u2028\n") == []


@given(st.text(st.characters(categories=None) | st.sampled_from(SPECIAL_CHARACTERS)), st.booleans())
def test_D18_no_text_raises_or_gives_an_empty_word(text, lowercase):
    """Halves of characters (surrogates), which Python allows, are in it."""
    assert all(words(text, lowercase))


@given(texts, st.sampled_from(SETTINGS))
def test_words_are_those_of_the_library(text, settings):
    assert words(text, *settings) == library_words(text, *settings)


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS[:2])
def test_every_character_becomes_what_it_becomes_in_the_library(settings):
    """But for the case of letters that are newer than the Unicode of this Python."""
    joined = "|".join(f"a{chr(code)}b" for code in CODES)
    ours = " ".join(joined.translate(CharacterTable(*settings)).split()).split(" | ")
    theirs = " ".join(library_words(joined, *settings)).split(" | ")
    differ = {our for our, their in zip(ours, theirs, strict=True) if our != their}
    assert len(differ) < 100
    assert {category for word in differ for category in map(unicodedata.category, word[1:-1])} <= {"Cn"}


def test_the_library_removes_private_use_characters_and_knows_no_final_sigma():
    """Both unlike the original release."""
    assert is_removed("\ue000")
    assert words("ΟΔΟΣ") == ["οδοσ"] != ["ΟΔΟΣ".lower()]


def test_a_character_that_decomposes_into_punctuation_is_punctuation():
    assert words("a≠b") == ["a", "=", "b"]
    assert words("a≠b", lowercase=False) == ["a≠b"]


@given(texts, st.booleans())
def test_each_letter_knows_where_it_comes_from(text, lowercase):
    table = CharacterTable(lowercase)
    last = -1
    for word, origins in split_words(text, table):
        assert len(word) == len(origins)
        assert all(letter in table[ord(text[i])] for letter, i in zip(word, origins, strict=True))
        assert origins == sorted(origins)
        assert origins[0] >= last
        last = origins[-1]


@given(texts, st.booleans())
def test_words_are_the_same_with_their_places_and_without(text, lowercase):
    table = CharacterTable(lowercase)
    assert text.translate(table).split() == [word for word, _ in split_words(text, table)]


def test_a_character_is_taken_apart_on_its_own():
    """NFD would also put marks into canonical order, but they go anyway."""
    assert without_marks("ế") == "e"
    assert without_marks("한") == "\u1112\u1161\u11ab"

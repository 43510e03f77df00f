"""Claims about the embedded translation set of number words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bertlab.datasets.numbers import (
    LANGUAGES,
    LIMIT,
    alignment,
    is_held_out,
    join_numbers,
    pieces,
    sample_numbers,
    sample_pairs,
    spell,
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pieces_laid_together_are_the_words_of_num2words(language):
    random = np.random.default_rng(0).integers(0, LIMIT, size=1500).tolist()
    for number in [*range(1200), *range(1000, LIMIT, 1000 * 37), *random]:
        whole = re.sub(r"[\s,-]", "", spell(number, language))
        assert "".join(pieces(number, language)) == whole, number


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_few_dozen_pieces_write_a_million_numbers(language):
    rng = np.random.default_rng(0)
    seen = {piece for n in rng.integers(0, LIMIT, size=5000).tolist() for piece in pieces(n, language)}
    assert len(seen) <= 50


def test_german_says_the_unit_before_the_ten():
    assert pieces(885, "de") == ["acht", "hundert", "fünf", "und", "achtzig"]
    assert pieces(121_001, "de") == ["ein", "hundert", "ein", "und", "zwanzig", "tausend", "eins"]


def test_no_test_number_is_ever_in_a_training_pair():
    train = sample_numbers(np.random.default_rng(0), (20_000,), held_out=False)
    test = sample_numbers(np.random.default_rng(0), (20_000,), held_out=True)
    assert not set(train.tolist()) & set(test.tolist())
    assert is_held_out(test).all()
    assert not is_held_out(train).any()


def test_a_tenth_is_held_out_in_every_region():
    held_out = is_held_out(np.arange(LIMIT))
    assert held_out.mean() == pytest.approx(0.1, abs=1e-3)
    assert np.abs(held_out.reshape(100, -1).mean(axis=1) - 0.1).max() < 0.01


def test_every_word_of_a_held_out_number_occurs_in_training():
    held_out = is_held_out(np.arange(LIMIT))
    for language in LANGUAGES:
        words = [
            {piece for n in np.flatnonzero(held_out[:2000] == kept).tolist() for piece in pieces(n, language)}
            for kept in (True, False)
        ]
        assert words[0] <= words[1], language


def test_a_pair_says_the_same_numbers_in_both_languages():
    for source, target in sample_pairs(np.random.default_rng(1), 50, "fr", "nl", list_length=3):
        assert source.count(",") == target.count(",") == 2
    pair = sample_pairs(np.random.default_rng(2), 1, "en", "de", list_length=2, below=1000)[0]
    spelled = {" ".join(pieces(n, "en")): pieces(n, "de") for n in range(1000)}
    first = " ".join(pair[0]).split(" , ")
    assert [*spelled[first[0]], ",", *spelled[first[1]]] == pair[1]


def test_one_seed_gives_one_set():
    draw = [sample_pairs(np.random.default_rng(5), 10) for _ in range(2)]
    assert draw[0] == draw[1]


def test_a_list_is_one_sentence_with_commas():
    assert join_numbers([7, 20], "en") == ["seven", ",", "twenty"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: spell(1, "xx"), "'xx'.*en, de"),
        (lambda: spell(-1, "en"), "-1.*0 to 999999"),
        (lambda: pieces(LIMIT, "en"), "1000000.*999999"),
        (lambda: sample_pairs(np.random.default_rng(0), 1, list_length=0), "list_length=0"),
        (lambda: sample_pairs(np.random.default_rng(0), 1, below=7), "below=7"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_alignment_crosses_where_german_says_the_unit_first():
    source, target = join_numbers([47, 305_121], "en"), join_numbers([47, 305_121], "de")
    pairs = [(target[t], source[s]) for t, s, _ in alignment(source, target, ("en", "de"))]
    assert pairs == [
        ("sieben", "seven"), ("vierzig", "forty"), ("drei", "three"), ("hundert", "hundred"),
        ("fünf", "five"), ("tausend", "thousand"), ("ein", "one"), ("hundert", "hundred"),
        ("ein", "one"), ("zwanzig", "twenty"),
    ]  # fmt: skip


@pytest.mark.parametrize("target_language", ["de", "nl"])
def test_every_piece_but_the_joints_is_aligned_once_and_to_its_own_value(target_language):
    for source, target in sample_pairs(np.random.default_rng(3), 200, "en", target_language):
        links = alignment(source, target, ("en", target_language))
        assert len({s for _, s, _ in links}) == len(links)
        unlinked = {target[t] for t in range(len(target))} - {target[t] for t, _, _ in links}
        assert unlinked <= {"und", "en", "ën"}


def test_a_piece_that_stands_twice_is_aligned_in_order():
    source, target = join_numbers([121_121], "en"), join_numbers([121_121], "de")
    links = alignment(source, target, ("en", "de"))
    for value in (1, 20, 100):
        places = [s for _, s, v in links if v == value]
        assert len(places) >= 2
        assert places == sorted(places)

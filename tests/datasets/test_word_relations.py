"""Claims about our word lists: no word twice where that spoils a question, and every question well made."""

from __future__ import annotations

import pytest

from bertlab.datasets.word_relations import GRAMMAR, KINDS, MEANING, RELATIONS, questions


@pytest.mark.parametrize("name", RELATIONS)
def test_a_relation_has_about_twenty_pairs_of_different_words(name: str) -> None:
    relation = RELATIONS[name]
    assert len(relation) in (19, 20)
    words = [word for pair in relation for word in pair]
    assert len(set(words)) == len(words)
    assert all(word.isalpha() and word.islower() for word in words)


def test_each_relation_is_of_meaning_or_of_grammar() -> None:
    assert RELATIONS == {**MEANING, **GRAMMAR}
    assert len(RELATIONS) == len(MEANING) + len(GRAMMAR)


@pytest.mark.parametrize("name", RELATIONS)
def test_every_pair_is_asked_with_every_other_one_and_never_with_itself(name: str) -> None:
    n, asked = len(RELATIONS[name]), questions(RELATIONS[name])
    assert len(set(asked)) == len(asked) == n * (n - 1)
    assert all(len(set(question)) == 4 for question in asked)


def test_no_word_is_of_two_kinds_and_none_is_alone_in_its_kind() -> None:
    words = [word for kind in KINDS.values() for word in kind]
    assert len(set(words)) == len(words)
    assert min(map(len, KINDS.values())) >= 7

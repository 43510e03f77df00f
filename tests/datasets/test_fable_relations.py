"""Marked relations point at words, and look as English has them."""

from __future__ import annotations

from collections import Counter

import pytest

from bertlab.datasets.fable_relations import KINDS, WORD, fable_relations, find
from bertlab.datasets.fables import fables

RELATIONS = fable_relations()


def words_of(relation) -> tuple[str, str]:
    sentence = fables()[relation.sentence]
    return sentence[slice(*relation.dependent)], sentence[slice(*relation.head)]


def step(relation) -> int:
    """How many words the head stands to the right of what depends on it."""
    spans = [match.span() for match in WORD.finditer(fables()[relation.sentence])]
    return spans.index(relation.head) - spans.index(relation.dependent)


def test_there_are_hundreds_of_each_of_four_kinds_and_none_twice():
    counted = Counter(relation.kind for relation in RELATIONS)
    assert counted.keys() == KINDS.keys()
    assert min(counted.values()) > 130
    assert len(set(RELATIONS)) == len(RELATIONS) == 705


def test_a_word_has_one_head_of_a_kind():
    heads = Counter((relation.sentence, relation.dependent, relation.kind) for relation in RELATIONS)
    assert max(heads.values()) == 1


def test_a_determiner_stands_before_its_noun_and_a_preposition_before_its_object():
    assert all(step(relation) > 0 for relation in RELATIONS if relation.kind == "det")
    assert all(step(relation) < 0 for relation in RELATIONS if relation.kind == "pobj")


def test_determiners_and_prepositions_are_words_of_a_short_list():
    dets = {words_of(relation)[0].lower() for relation in RELATIONS if relation.kind == "det"}
    assert dets == {"a", "an", "every", "no", "some", "the", "these", "this"}
    prepositions = {words_of(relation)[1].lower() for relation in RELATIONS if relation.kind == "pobj"}
    assert prepositions <= {
        *("about", "against", "along", "among", "as", "at", "by", "during", "for", "from", "in", "into"),
        *("near", "of", "on", "over", "through", "to", "under", "upon", "with"),
    }


def test_subjects_stand_before_their_verb_but_in_quoted_speech():
    late = {words_of(relation)[1] for relation in RELATIONS if relation.kind == "subj" and step(relation) < 0}
    assert late == {"bleated", "exclaimed", "replied", "said"}


@pytest.mark.parametrize(("name", "times"), [("cat", 0), ("dog", 2), ("dog.3", 2), ("do", 0)])
def test_a_word_that_is_not_there_or_not_one_is_refused(name, times):
    with pytest.raises(ValueError, match=f"stands {times} times"):
        find(name, "A dog saw a dog")

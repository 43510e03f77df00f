"""Plain methods see what they should see, and their scores are those of what they say."""

from __future__ import annotations

import pytest

import _plain_baselines
from _comparison import each_of, score
from _plain_baselines import (
    baselines,
    both_texts,
    by_field,
    by_memory,
    features,
    linear,
    longest_new_span,
    shape,
)
from bertlab.tasks.classification import Example
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.squad import Question
from tests.experiments.small_tasks import small_parts, stand_in

TAGGED = [
    TaggedSentence(("Mr", "Ivo", "ran"), ("O", "B-PER", "O")),
    TaggedSentence(("Mr", "Hart", "sat"), ("O", "B-PER", "O")),
    TaggedSentence(("the", "mat", "ran"), ("O", "O", "O")),
] * 4


@pytest.mark.parametrize("task", ["sst2", "nli-wikipedia", "wikigold", "xquad"])
def test_what_each_example_brings_sums_to_the_score(task, monkeypatch):
    stand_in(monkeypatch, _plain_baselines)
    for row in baselines(task).values():
        main = "accuracy" if "accuracy" in row["test"] else "f1"
        assert score(each_of([row["each"]])) == pytest.approx(row["test"][main], abs=1e-4)


def test_a_rule_of_single_words_is_learnt():
    parts, labels = small_parts("sst2", {"train": 200, "val": 50, "test": 50})
    said = linear(both_texts, parts["train"], parts["val"], parts["test"], labels)
    assert [labels[i] for i in said] == [example.label for example in parts["test"]]


def test_of_a_pair_the_words_are_told_apart_and_compared():
    assert (
        both_texts(Example("The dog ran.", "A dog sat."))
        == "a_the a_dog a_ran a dog sat new_a both_dog new_sat"
    )
    assert both_texts(Example("The dog.")) == "The dog."


def test_a_word_has_its_most_frequent_label_and_a_new_one_none():
    assert by_memory(TAGGED)(["Ivo", "mat", "Skarn"]) == ["B-PER", "O", "O"]


def test_a_field_knows_a_new_name_by_what_stands_before_it():
    assert by_field(TAGGED)(["Mr", "Skarn", "ran"]) == ["O", "B-PER", "O"]


def test_a_field_is_whole_after_its_file_is_gone_and_its_memory_might_be_used_again():
    tagger = by_field(TAGGED)
    filled = [b"\xff" * n for n in (1 << k for k in range(6, 20)) for _ in range(20)]
    assert tagger(["Mr", "Skarn", "ran"]) == ["O", "B-PER", "O"]
    assert filled


def test_features_tell_the_word_its_shape_and_its_neighbours():
    first, second = features(["Mr", "McDonald"])
    assert {"-1:none", "0:mr", "1:mcdonald", "1:shape=AaAa"} <= set(first)
    assert {"-1:mr", "end=ald", "begin=mcd", "2:none"} <= set(second)
    assert shape("U.S.") == "A.A."


def test_the_longest_run_that_the_question_does_not_have():
    passage = "It rained. The old dog of Ivo slept near the red door. Nobody came."
    assert longest_new_span(Question("q", "Where near the door slept the dog?", passage)) == "of Ivo"
    assert longest_new_span(Question("q", "Where slept the old dog of Ivo?", passage)) == "red door"

"""Claims about labels: which entities they say, in both schemes and both readings, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB1, IOB2, Entities

from bertlab.tasks.bio import Entity, bio_labels, find_entities, split_label, to_bio

KINDS = ("PER", "LOC", "creative-work")
any_labels = st.lists(st.sampled_from(bio_labels(KINDS)), max_size=12)


@st.composite
def any_entities(draw):
    """The entities of a sentence, and its length: some of them touch, also such of one type."""
    entities, place = [], 0
    for kind in draw(st.lists(st.sampled_from(KINDS), max_size=4)):
        start = place + draw(st.integers(0, 2))
        place = start + draw(st.integers(1, 3))
        entities.append(Entity(kind, start, place))
    return entities, place + draw(st.integers(0, 2))


def written(entities, length, scheme):
    """Labels as the definition of the scheme says, word by word."""
    labels = ["O"] * length
    for i, (kind, start, end) in enumerate(entities):
        touches = i > 0 and entities[i - 1].kind == kind and entities[i - 1].end == start
        begins = "B" if scheme == "BIO" or touches else "I"
        labels[start:end] = [f"{begins}-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return labels


@given(any_entities())
def test_entities_written_in_either_scheme_are_read_again(found):
    entities, length = found
    bio, iob1 = (written(entities, length, scheme) for scheme in ("BIO", "IOB1"))
    assert find_entities(bio) == find_entities(bio, "strict") == find_entities(iob1) == entities
    assert to_bio(iob1, "IOB1") == to_bio(bio, "BIO") == bio


@given(any_labels)
def test_the_lenient_reading_is_that_of_seqeval_which_follows_conlleval(labels):
    theirs = [Entity(kind, start, end + 1) for kind, start, end in get_entities(labels)]
    assert find_entities(labels, "lenient") == theirs


@given(any_labels)
def test_the_strict_reading_is_that_of_seqeval_in_iob2(labels):
    theirs = [Entity(e.tag, e.start, e.end) for s in Entities([labels], IOB2).entities for e in s]
    assert find_entities(labels, "strict") == theirs


@given(any_entities())
def test_seqeval_reads_the_same_entities_in_iob1(found):
    entities, length = found
    assume(length)
    read = Entities([written(entities, length, "IOB1")], IOB1).entities[0]
    assert [Entity(e.tag, e.start, e.end) for e in read] == entities


@given(any_labels)
def test_what_is_repaired_is_sound_and_has_the_entities_of_the_lenient_reading(labels):
    for scheme in ("BIO", "IOB1"):
        sound = to_bio(labels, scheme, broken="repair")
        assert find_entities(sound, "strict") == find_entities(labels, "lenient")
        assert to_bio(sound) == sound


@given(any_labels)
def test_bio_is_refused_where_and_only_where_it_needs_repair(labels):
    repaired = to_bio(labels, broken="repair")
    if repaired == labels:
        assert to_bio(labels) == labels
    else:
        first = next(i for i, (a, b) in enumerate(zip(labels, repaired, strict=True)) if a != b)
        with pytest.raises(
            ValueError, match=f"label {first + 1} is {labels[first]} but .* BIO does not allow"
        ):
            to_bio(labels)


@pytest.mark.parametrize(
    ("labels", "scheme", "sentence"),
    [
        (["I-PER"], "BIO", "label 1 is I-PER but is the first, which BIO does not allow: read it as IOB1"),
        (["B-PER", "I-LOC"], "BIO", "label 2 is I-LOC but follows B-PER, which BIO does not allow"),
        (["O", "B-PER"], "IOB1", "label 2 is B-PER but follows O, which IOB1 does not allow: read it as BIO"),
        (["I-LOC", "B-PER"], "IOB1", "label 2 is B-PER but follows I-LOC"),
    ],
)
def test_what_breaks_the_scheme_is_named_with_its_place(labels, scheme, sentence):
    with pytest.raises(ValueError, match=sentence):
        to_bio(labels, scheme)


@pytest.mark.parametrize("label", ["", "B", "B-", "I-", "X-PER", "PER", "o", "O-PER", "b-PER", "S-PER", "-"])
def test_a_label_that_is_none_is_refused(label):
    with pytest.raises(ValueError, match=f"label {label!r} is neither O nor B-TYPE nor I-TYPE"):
        split_label(label)
    with pytest.raises(ValueError, match="is neither O nor"):
        find_entities(["O", label])


def test_unknown_choices_are_refused():
    with pytest.raises(ValueError, match=r"reading='soft' is unknown: choose one of \('lenient', 'strict'\)"):
        find_entities(["O"], "soft")
    with pytest.raises(ValueError, match="scheme='BILOU' is unknown"):
        to_bio(["O"], "BILOU")
    with pytest.raises(ValueError, match="broken='drop' is unknown"):
        to_bio(["O"], broken="drop")


def test_the_labels_of_some_types_are_both_of_each_and_o_first():
    assert bio_labels(["b", "a", "b"]) == ("O", "B-a", "I-a", "B-b", "I-b")

"""Claims about texts with a class: tables that are read or refused, what is cut, and both scores."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from bertlab.tasks.classification import (
    Example,
    accuracy,
    class_ids,
    class_names,
    example_inputs,
    macro_f1,
    read_table,
)
from bertlab.text import SPECIAL, WordPiece, pair_inputs

TOKENIZER = WordPiece([*SPECIAL, "good", "bad", "film"])


@pytest.fixture
def table(tmp_path):
    """Write a table, and read it."""

    def read(content, name="x.tsv", **options):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(tmp_path / name, **options)

    return read


def test_a_table_is_read_by_the_names_of_its_columns(table):
    content = "label\tid\ttext\npos\t1\tA good film.\nneg\t2\tBad.\n"
    expected = [Example("A good film.", None, "pos"), Example("Bad.", None, "neg")]
    for written in (
        content,
        content.rstrip("\n"),
        content.replace("\n", "\r\n"),
        "\ufeff" + content,
        content + "\n",
    ):
        assert table(written) == expected


def test_pairs_other_names_and_no_label_are_read_where_asked_for(table):
    content = "premise,hypothesis,gold\nIt rains.,It is wet.,yes\n"
    columns = {"text": "premise", "text_b": "hypothesis"}
    assert table(content, "x.csv", **columns, label="gold") == [Example("It rains.", "It is wet.", "yes")]
    assert table(content, "x.csv", **columns, label=None) == [Example("It rains.", "It is wet.", None)]


def test_commas_line_ends_and_quotes_of_a_quoted_cell_are_its_text(table):
    assert table('text,label\n"A ""good"", old\nfilm",pos\n', "x.csv")[0].text == 'A "good", old\nfilm'
    assert table('"text"\t"label"\n"a\tb"\t"pos"\n')[0].text == "a\tb"


def test_a_quotation_mark_in_a_tsv_is_part_of_the_text(table):
    assert table('text\tlabel\n"Hi\tpos\nHo"\tneg\n') == [
        Example('"Hi', None, "pos"),
        Example('Ho"', None, "neg"),
    ]


@pytest.mark.parametrize(
    ("content", "name", "options", "sentence"),
    [
        ("", "x.tsv", {}, "x.tsv has nothing in it: give a header and at least one example"),
        ("\n\n", "x.csv", {}, "x.csv has nothing in it"),
        ("text\tlabel\n", "x.tsv", {}, "x.tsv has a header and no row below it"),
        ("text\tclass\na\tb\n", "x.tsv", {}, "x.tsv has no column 'label', but 'text', 'class' between tabs"),
        ("text;label\na;b\n", "x.csv", {}, "x.csv has no column 'text', but 'text;label' between commas"),
        ("text\tlabel\na\tb\n", "x.tsv", {"text_b": "b"}, "x.tsv has no column 'b'"),
        ("text\tlabel\ttext\na\tb\tc\n", "x.tsv", {}, "x.tsv has 2 columns 'text'"),
        ("text\tlabel\na\tpos\nb\n", "x.tsv", {}, "x.tsv, line 3 has 1 columns, the header 2"),
        ("text\tlabel\na\tpos\n\nb\tneg\tc\n", "x.tsv", {}, "x.tsv, line 4 has 3 columns, the header 2"),
        ("text\tlabel\n \tpos\n", "x.tsv", {}, "x.tsv, line 2: 'text' is empty"),
        ("text\tlabel\na\t\n", "x.tsv", {}, "x.tsv, line 2: 'label' is empty"),
        (
            "text\tlabel\na\tpos\nb\tgood\n",
            "x.tsv",
            {"labels": ("neg", "pos")},
            "x.tsv, line 3: label 'good' is unknown: choose one of neg, pos",
        ),
        ('text,label\n"a,pos\nb,neg\n', "x.csv", {}, "x.csv is no sound table (unexpected end of data)"),
        (
            b"text\tlabel\ncaf\xe9\tpos\n",
            "x.tsv",
            {},
            "x.tsv is not UTF-8 (invalid continuation byte, byte 14)",
        ),
        (
            "text\tlabel\na\tpos\n",
            "x.txt",
            {},
            "x.txt is of no known kind: give a .tsv (tabs) or a .csv (commas)",
        ),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_by_its_place(table, content, name, options, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        table(content, name, **options)


def test_classes_are_numbered_by_the_names_given():
    examples = [Example("a", label="pos"), Example("b", label="neg"), Example("c", label="pos")]
    assert class_names(examples) == ("neg", "pos")
    ids = class_ids(examples, ("pos", "neg"))
    assert ids.tolist() == [0, 1, 0]
    assert ids.dtype == np.int64
    assert class_ids([], ("pos", "neg")).shape == (0,)


def test_a_class_that_is_unknown_or_alone_is_refused():
    with pytest.raises(
        ValueError, match="example 1 has label 'so-so', which is unknown: choose one of neg, pos"
    ):
        class_ids([Example("a", label="pos"), Example("b", label="so-so")], ("neg", "pos"))
    with pytest.raises(ValueError, match="example 0 has label None"):
        class_ids([Example("a")], ("neg", "pos"))
    with pytest.raises(ValueError, match=r"1 classes \('pos',\): give examples of two or more"):
        class_names([Example("a", label="pos"), Example("b", label="pos"), Example("c")])


@pytest.mark.parametrize("truncation", [None, "longest_first", "only_first", "only_second"])
def test_examples_become_the_inputs_of_their_pieces(truncation):
    examples = [Example("Good film"), Example("film", "bad"), Example("bad", ""), Example("")]
    made = example_inputs(examples, TOKENIZER, 8, truncation)
    for example, one in zip(examples, made, strict=True):
        a = TOKENIZER.encode(example.text).ids
        b = None if example.text_b is None else TOKENIZER.encode(example.text_b).ids
        expected = pair_inputs(a, b, TOKENIZER, 8)
        assert (one.ids.tolist(), one.cut) == (expected.ids.tolist(), 0)
        assert one.segments.tolist() == expected.segments.tolist()


def test_D26_what_does_not_fit_is_cut_where_the_caller_says_and_told_else_refused():
    pairs = [Example("film"), Example("good " * 10, "bad " * 3)]
    with pytest.raises(ValueError, match=r"example 1: 10 \+ 3 pieces do not fit into max_length=11"):
        example_inputs(pairs, TOKENIZER, max_length=11)
    kept = {}
    for truncation in ("longest_first", "only_first"):
        one = example_inputs(pairs, TOKENIZER, 11, truncation)[1]
        kept[truncation] = (one.ids.tolist().count(5), one.ids.tolist().count(6), one.cut)
    assert kept == {"longest_first": (5, 3, 5), "only_first": (5, 3, 5)}
    with pytest.raises(ValueError, match="truncation='only_second'"):
        example_inputs(pairs, TOKENIZER, 11, "only_second")


@pytest.mark.parametrize(
    ("gold", "predicted", "n_classes", "right", "f1"),
    [
        ([0, 1, 1, 2], [0, 1, 2, 2], 3, 3 / 4, (1 + 2 / 3 + 2 / 3) / 3),
        ([0, 0, 0, 0, 1], [0, 0, 0, 0, 0], 2, 4 / 5, (8 / 9 + 0) / 2),  # only the frequent class is ever said
        ([0, 1], [1, 0], 2, 0.0, 0.0),
        ([0, 1], [0, 1], 4, 1.0, 2 / 4),  # two classes that are not there count 0
    ],
)
def test_the_scores_of_vectors_counted_by_hand(gold, predicted, n_classes, right, f1):
    assert accuracy(gold, predicted) == pytest.approx(right, abs=1e-15)
    assert macro_f1(gold, predicted, n_classes) == pytest.approx(f1, abs=1e-15)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
def test_both_scores_are_those_of_scikit_learn(pairs):
    gold, predicted = (np.array(column) for column in zip(*pairs, strict=True))
    assert accuracy(gold, predicted) == pytest.approx(accuracy_score(gold, predicted), abs=1e-12)
    theirs = f1_score(gold, predicted, labels=range(5), average="macro", zero_division=0)
    assert macro_f1(gold, predicted, n_classes=5) == pytest.approx(theirs, abs=1e-12)


def test_scores_of_nothing_of_unequal_lengths_or_of_classes_out_of_range_are_refused():
    for score in (accuracy, lambda gold, predicted: macro_f1(gold, predicted, 2)):
        with pytest.raises(ValueError, match=r"gold has shape \(0,\), predicted \(0,\)"):
            score([], [])
        with pytest.raises(ValueError, match=r"gold has shape \(2,\), predicted \(3,\)"):
            score([0, 1], [0, 1, 1])
        with pytest.raises(ValueError, match=r"predicted \(2, 2\)"):
            score([0, 1], [[0, 1], [1, 1]])
    with pytest.raises(ValueError, match="class 2 in predicted is not among the 2 classes"):
        macro_f1([0, 1], [0, 2], 2)
    with pytest.raises(ValueError, match="class -100 in gold is not among the 2 classes"):
        macro_f1([0, -100], [0, 1], 2)

"""Claims about entity scores: conlleval's counts, where the two readings differ, no division by zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score
from seqeval.scheme import IOB2

from bertlab.tasks.bio import bio_labels, find_entities
from bertlab.tasks.entities import word_inputs, word_labels
from bertlab.tasks.entity_metrics import Scores, entity_scores
from bertlab.text import SPECIAL, WordPiece

NAMES = bio_labels(["LOC", "PER", "creative-work"])


@st.composite
def scored(draw):
    """Gold and predicted labels of one to four sentences; predictions are often right, often broken."""
    gold, predicted = [], []
    for length in draw(st.lists(st.integers(1, 8), min_size=1, max_size=4)):
        right = draw(st.lists(st.sampled_from(NAMES), min_size=length, max_size=length))
        kept = draw(st.lists(st.integers(0, 3), min_size=length, max_size=length))
        other = draw(st.lists(st.sampled_from(NAMES), min_size=length, max_size=length))
        gold.append(right)
        predicted.append([b if k == 0 else a for a, b, k in zip(right, other, kept, strict=True)])
    return gold, predicted


def test_D30_nine_words_in_ten_right_and_half_of_the_entities():
    gold = ["B-PER", "I-PER", *["O"] * 6, "B-LOC", "O"]
    predicted = ["B-PER", "O", *["O"] * 6, "B-LOC", "O"]
    for reading in ("lenient", "strict"):
        scores = entity_scores([gold], [predicted], reading)
        assert scores.word_accuracy == 0.9
        assert scores.overall == Scores(n_gold=2, n_predicted=2, n_correct=1)
        assert scores.overall.f1 == scores.overall.precision == scores.overall.recall == 0.5
        assert scores.by_type == {"LOC": Scores(1, 1, 1), "PER": Scores(1, 1, 0)}


def test_D30_an_entity_that_begins_with_i_is_right_in_the_lenient_reading_alone():
    gold, predicted = [["O", "B-LOC", "I-LOC", "O"]], [["O", "I-LOC", "I-LOC", "O"]]
    assert entity_scores(gold, predicted).overall.f1 == 1.0
    assert entity_scores(gold, predicted, "strict").overall == Scores(n_gold=1, n_predicted=0, n_correct=0)
    assert entity_scores(gold, predicted, "strict").overall.f1 == 0.0


def test_D30_no_entity_at_all_is_a_score_of_0_and_no_division_by_zero():
    scores = entity_scores([["O", "O"]], [["O", "O"]])
    assert scores.overall.precision == scores.overall.recall == scores.overall.f1 == 0.0
    assert scores.by_type == {}
    assert scores.word_accuracy == 1.0
    assert entity_scores([["B-PER"]], [["O"]]).by_type["PER"].precision == 0.0
    assert entity_scores([["O"]], [["B-PER"]]).by_type["PER"].recall == 0.0
    assert entity_scores([[]], [[]]).word_accuracy == 0.0


def test_D30_what_is_predicted_at_ignored_positions_does_not_count():
    tokenizer = WordPiece([*SPECIAL, "ska", "##ry", "##n", "is"])
    words, gold, names = ["Skaryn", "is"], ["B-PER", "O"], ["O", "B-PER", "I-PER"]
    found = word_inputs(words, tokenizer)
    for noise in range(3):  # at [CLS], at both other pieces of the first word, at [SEP], and on padding
        labels = word_labels([noise, 1, noise, noise, 0, noise, noise, noise], found, names)
        assert entity_scores([gold], [labels]).overall == Scores(1, 1, 1)


@pytest.mark.parametrize(
    ("gold", "predicted", "counts"),
    [  # gold, predicted and correct entities, counted by conlleval's rules on paper
        ("B-X I-X O", "B-X I-X O", (1, 1, 1)),
        ("B-X I-X I-X", "B-X I-X O", (1, 1, 0)),  # cut short
        ("B-X I-X I-X", "B-X B-X I-X", (1, 2, 0)),  # a name in two
        ("B-X I-X", "B-Y I-Y", (1, 1, 0)),  # right place, wrong type
        ("B-X I-X", "B-X I-Y", (1, 2, 0)),  # another type begins another entity
        ("B-X B-X", "B-X I-X", (2, 1, 0)),  # two that touch, taken for one
        ("I-X I-X O I-X", "B-X I-X O B-X", (2, 2, 2)),
        ("I-X I-Y", "B-X B-Y", (2, 2, 2)),
        ("O O B-X", "O B-X I-X", (1, 1, 0)),  # begins too early
        ("O O O", "I-X O I-X", (0, 2, 0)),
    ],
)
def test_the_lenient_counts_are_those_of_conlleval(gold, predicted, counts):
    assert entity_scores([gold.split()], [predicted.split()]).overall == Scores(*counts)


def test_precision_recall_and_f1_are_what_the_counts_say():
    scores = Scores(n_gold=4, n_predicted=5, n_correct=3)
    assert (scores.precision, scores.recall) == (3 / 5, 3 / 4)
    assert scores.f1 == pytest.approx(2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4), abs=1e-15)


@given(scored())
def test_the_lenient_scores_are_those_of_seqeval(pair):
    compare(*pair, "lenient", {})


@given(scored())
def test_the_strict_scores_are_those_of_seqeval_in_iob2(pair):
    compare(*pair, "strict", {"mode": "strict", "scheme": IOB2})


def compare(gold, predicted, reading, options):
    ours = entity_scores(gold, predicted, reading)
    if not any(find_entities(labels, reading) for labels in gold + predicted):
        assert ours.overall == Scores(0, 0, 0)  # seqeval's report has nothing to report on then
        return
    measures = (precision_score, recall_score, f1_score)
    shares = [measure(gold, predicted, zero_division=0, **options) for measure in measures]
    assert [ours.overall.precision, ours.overall.recall, ours.overall.f1] == pytest.approx(shares, abs=1e-12)
    report = classification_report(gold, predicted, output_dict=True, zero_division=0, **options)
    theirs = {kind: row for kind, row in report.items() if not kind.endswith(" avg")}
    assert ours.by_type.keys() == theirs.keys()
    for kind, row in theirs.items():
        one = ours.by_type[kind]
        shares = [row["precision"], row["recall"], row["f1-score"], row["support"]]
        assert [one.precision, one.recall, one.f1, one.n_gold] == pytest.approx(shares, abs=1e-12)


@given(scored())
def test_entities_of_two_sentences_are_never_joined(pair):
    gold, predicted = pair
    whole = entity_scores(gold, predicted).overall
    parts = [entity_scores([a], [b]).overall for a, b in zip(gold, predicted, strict=True)]
    for count in ("n_gold", "n_predicted", "n_correct"):
        assert getattr(whole, count) == sum(getattr(part, count) for part in parts)


def test_sentences_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="0 sentences to score"):
        entity_scores([], [])
    with pytest.raises(ValueError, match="2 sentences of gold, 1 predicted"):
        entity_scores([["O"], ["O"]], [["O"]])
    with pytest.raises(ValueError, match="sentence 1 has 2 labels in gold, 1 predicted"):
        entity_scores([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="'X' is neither O nor"):
        entity_scores([["O"]], [["X"]])

"""Claims about the answer that is given: the best of all spans, of all windows, or none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.tasks.best_span import Candidate, Span, best_spans, predict_answer
from bertlab.tasks.question_answering import WindowedQuestion, windowed
from bertlab.tasks.squad import Question
from bertlab.text import SPECIAL, WordPiece

# D28: [CLS] q [SEP] c0 c1 c2 [SEP]
START, END = np.array([1, 6, 0, 2, 0.5, 4, 0]), np.array([0.5, 0, 5, 3.5, 3.6, 0.4, 2])
TOKENIZER = WordPiece([*SPECIAL, "q", *(f"c{n}" for n in range(30))])


def asked(n_pieces: int, room: int = 30, step: int = 1) -> WindowedQuestion:
    """A question of one piece about the passage c0 c1 …, in windows."""
    passage = " ".join(f"c{n}" for n in range(n_pieces))
    [question] = windowed([Question("q", "q", passage)], TOKENIZER, max_length=room + 4, step=step)
    return question


def test_D28_the_best_span_lies_in_the_passage_and_does_not_run_backwards():
    assert best_spans(START, END, 3, 3) == [Span(3, 4, 5.6)]
    assert best_spans(START, END, 3, 3, max_pieces=1) == [Span(3, 3, 5.5)]
    assert (START.argmax(), END.argmax()) == (1, 2)  # the maxima apart: question and [SEP]
    assert (3 + START[3:6].argmax(), 3 + END[3:6].argmax()) == (5, 4)  # and within the passage: backwards


def test_D28_no_answer_is_said_where_its_lead_is_above_the_threshold():
    question = asked(3)
    at = {t: predict_answer(question, [START], [END], threshold=t) for t in (None, 0, -4, -4.2, -5)}
    assert at[0].null_score == 1.5
    assert at[0].difference == pytest.approx(-4.1, abs=1e-12)
    assert {threshold: said.text for threshold, said in at.items()} == {
        None: "c0 c1", 0: "c0 c1", -4: "c0 c1", -4.2: "", -5: ""
    }  # fmt: skip
    assert at[-5].candidates == at[0].candidates  # what else might have been said is told all the same
    least = at[0].difference
    assert predict_answer(question, [START], [END], threshold=least).text == "c0 c1"  # not above: kept


def all_pairs(start, end, first, n_pieces, max_pieces) -> list[Span]:
    """Every span there is, best first, of equal ones the earlier start, then the shorter."""
    places = range(first, first + n_pieces)
    spans = [
        Span(i, j, float(start[i]) + float(end[j])) for i in places for j in places if i <= j < i + max_pieces
    ]
    return sorted(spans, key=lambda span: (-span.score, span.start, span.end))


@given(st.data(), st.integers(0, 4), st.integers(1, 12), st.integers(0, 3), st.integers(1, 15))
def test_the_best_spans_are_those_of_a_search_over_all_pairs(data, first, n_pieces, behind, max_pieces):
    T = first + n_pieces + behind
    logits = st.lists(st.sampled_from([-3.0, -0.5, 0.0, 1.0, 2.5, -np.inf]), min_size=T, max_size=T)
    start, end = np.array(data.draw(logits)), np.array(data.draw(logits))
    n_best = data.draw(st.integers(1, 100))
    everything = all_pairs(start, end, first, n_pieces, max_pieces)
    assert best_spans(start, end, first, n_pieces, max_pieces, n_best) == everything[:n_best]


def test_the_best_spans_of_real_numbers_are_those_of_a_search_over_all_pairs(rng):
    for dtype in (np.float32, np.float64):
        start, end = rng.normal(size=(2, 60)).astype(dtype)
        assert best_spans(start, end, 9, 50, 30, 10**6) == all_pairs(start, end, 9, 50, 30)


@given(st.data(), st.integers(1, 25), st.integers(2, 8), st.integers(1, 6))
def test_the_answer_is_the_best_of_every_window(data, n_pieces, room, max_pieces):
    question = asked(n_pieces, room, data.draw(st.integers(1, room)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    W, T = len(question.windows), room + 4
    start, end = rng.normal(size=(2, W, T))
    said = predict_answer(question, start, end, max_pieces, n_best=10**6)
    words = question.question.passage.split()
    best: dict[str, float] = {}
    for w, window in enumerate(question.windows):
        for span in all_pairs(start[w], end[w], window.first, window.n_pieces, max_pieces):
            i, j = (place - window.first + window.begin for place in (span.start, span.end))
            text = " ".join(words[i : j + 1])
            best[text] = max(best.get(text, -np.inf), span.score)
    assert {one.text: one.score for one in said.candidates} == best  # each text once
    assert said.text == max(best, key=best.__getitem__) == said.candidates[0].text
    scores = [one.score for one in said.candidates]
    assert scores == sorted(scores, reverse=True)
    assert said.null_score == min(start[w, 0] + end[w, 0] for w in range(W))
    few = predict_answer(question, start, end, max_pieces, n_best=3)
    assert few.candidates[0] == said.candidates[0]
    assert len(few.candidates) <= 3


def test_candidates_are_told_up_to_n_best_and_a_text_at_two_places_once():
    [question] = windowed([Question("q", "q", "C1 c2 C1")], TOKENIZER)
    start, end = np.array([0, 0, 0, 5, 0, 4, 0.0]), np.array([0, 0, 0, 5, 1, 4, 0.0])
    said = predict_answer(question, [start], [end], max_pieces=1, n_best=3)
    assert said.candidates == (Candidate("C1", 10.0), Candidate("c2", 1.0))
    assert [c.text for c in predict_answer(question, [start], [end], n_best=2).candidates] == [
        "C1",
        "C1 c2 C1",
    ]


def test_what_stands_on_padding_counts_for_nothing():
    question = asked(5, room=3, step=3)  # the second window has two pieces
    start, end = np.zeros((2, 7)), np.zeros((2, 7))
    start[1, 5:], end[1, 5:] = 100, 100  # its [SEP] and what is behind
    start[1, 6:], end[1, 6:] = np.nan, np.nan
    assert question.windows[1].n_pieces == 2
    said = predict_answer(question, start, end)
    assert {one.score for one in said.candidates} == {0.0}


@pytest.mark.parametrize("broken", [0, 3, 5])
def test_a_logit_that_is_no_number_is_refused(broken):
    start = START.copy()
    start[broken] = np.nan
    with pytest.raises(ValueError, match="a logit is NaN"):
        predict_answer(asked(3), [start], [END])
    with pytest.raises(ValueError, match="a logit is NaN"):
        predict_answer(asked(3), [START], [start])


def test_logits_that_do_not_belong_to_the_windows_are_refused():
    with pytest.raises(ValueError, match=r"1 windows with 2 arrays of start logits and 1 of end logits"):
        predict_answer(asked(3), [START, START], [END])
    with pytest.raises(ValueError, match=r"4 pieces from position 4 on, with logits of shapes \(7,\) and"):
        best_spans(START, END, 4, 4)
    with pytest.raises(ValueError, match=r"give logits \(T,\)"):
        best_spans(START[None], END[None], 3, 3)
    with pytest.raises(ValueError, match=r"0 pieces from position 3 on"):
        best_spans(START, END, 3, 0)


def test_a_length_or_a_number_of_answers_below_1_is_refused():
    with pytest.raises(ValueError, match=r"max_pieces=0, n_best=1: neither can be below 1"):
        best_spans(START, END, 3, 3, max_pieces=0)
    with pytest.raises(ValueError, match=r"max_pieces=30, n_best=0: neither can be below 1"):
        predict_answer(asked(3), [START], [END], n_best=0)

"""What the search task counts, and how sure one can be of it."""

from __future__ import annotations

import pytest
import torch

from _search import Search, interval


def test_each_question_counts_as_in_the_mean():
    search = Search.__new__(Search)
    search.answers = torch.tensor([0, 2, 0])
    questions = torch.tensor([[0.9, 0.1, 0.0], [0.5, 0.4, 0.3], [0.1, 0.2, 0.15]])
    embeddings = torch.cat([questions, torch.eye(3)])
    each = search.each(embeddings)
    assert each["first"].tolist() == [100.0, 0.0, 0.0]
    measured = search.measure(embeddings)
    for name in ("first", "surprise"):
        assert each[name].mean().item() == pytest.approx(measured[name], abs=1e-3)


def test_questions_about_one_paragraph_are_drawn_together():
    costs, paragraphs = torch.tensor([0.0, 100.0, 100.0, 100.0]), torch.tensor([0, 1, 1, 1])
    assert interval(costs, paragraphs) == [
        0.0,
        100.0,
    ]  # a quarter of the draws has only the one, or only the other


def test_where_all_paragraphs_cost_the_same_the_interval_is_a_point():
    costs, paragraphs = torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0, 0, 1])
    assert interval(costs, paragraphs) == [2.0, 2.0]


def test_more_paragraphs_make_a_narrower_interval():
    few, many = (interval(torch.tensor([0.0, 1.0] * n), torch.arange(2 * n)) for n in (8, 200))
    assert few[0] < many[0] < 0.5 < many[1] < few[1]

"""Each check of notebook 14 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.classroom.gpt import check_positions, check_surprise, check_top_p
from bertlab.nn.sampling import next_token_probabilities


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


def test_exercise_1_lets_the_right_answer_pass(capsys):
    assert "right." in said(check_positions, 735, capsys)


POSITIONS = {
    "*with* a cache": 39,
    "tokens the text has in the end": 40,
    "every step reads 10": 300,
    "every step reads 40": 1200,
    "you begin with 11": 765,
    "one step too many": 775,
    "the first step reads, too": 725,
    "step 1 reads 10 tokens": 123,
    "not tried yet": ...,
}


@pytest.mark.parametrize("sentence", POSITIONS)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_positions, POSITIONS[sentence], capsys)


def top_p(p, share):
    order = np.argsort(-p, kind="stable")
    before = np.cumsum(p[order]) - p[order]
    kept = np.zeros_like(p)
    kept[order] = np.where(before < share, p[order], 0)
    return kept / kept.sum()


def of_the_package(p, share):
    return next_token_probabilities(torch.from_numpy(p).log(), top_p=share)


@pytest.mark.parametrize("answer", [top_p, of_the_package])
def test_exercise_2_lets_right_answers_pass(answer, capsys):
    assert "right." in said(check_top_p, answer, capsys)


def variant(keep, norm=True):
    """Keep what a rule on (sorted p, share) says."""

    def answer(p, share):
        order = np.argsort(-p, kind="stable")
        kept = np.zeros_like(p)
        kept[order] = np.where(keep(p[order], share), p[order], 0)
        return kept / kept.sum() if norm else kept

    return answer


def before(p):
    return np.cumsum(p) - p


def in_place(p, share):
    p[:] = top_p(p, share)
    return p


def in_order_of_size(p, share):
    return np.sort(top_p(p, share))[::-1]


def only_large(p, share):
    """Right for the small arrays, wrong beyond."""
    return top_p(p, share) if len(p) < 9 else np.ones_like(p) / len(p)


TOPS = {
    "they sum to 0.9": variant(lambda p, share: before(p) < share, norm=False),
    "less than 0.8": variant(lambda p, share: np.cumsum(p) < share),
    "in the order of size": in_order_of_size,
    "nothing is cut off": lambda p, share: p.copy(),
    "so it is enough": variant(lambda p, share: before(p) <= share),
    "that token is still kept": lambda p, share: top_p(p, max(share, 0.5)) if share > 0.2 else p.copy(),
    "you changed `p` in place": in_place,
    "expected (4,)": lambda p, share: top_p(p, share)[:2],
    "is no number": lambda p, share: p * np.nan,
    "you made": variant(lambda p, share: np.arange(len(p)) < 1),
    "with share 0.3 you made": only_large,
    "your code stopped with IndexError": lambda p, share: p[99],
    "not tried yet": lambda p, share: ...,
}


@pytest.mark.parametrize("sentence", TOPS)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_top_p, TOPS[sentence], capsys)


def picked(log_p, ids):
    return -np.take_along_axis(log_p, ids[..., None], axis=2)[..., 0]


def surprise(log_p, ids):
    return picked(log_p[:, :-1], ids[:, 1:])[ids[:, 1:] != 0].mean()


def by_rows(log_p, ids):
    at, asked = picked(log_p[:, :-1], ids[:, 1:]), ids[:, 1:] != 0
    return np.mean([row[mask].mean() for row, mask in zip(at, asked, strict=True)])


SURPRISES = {
    "there is no shift: position t": lambda log_p, ids: picked(log_p, ids)[ids != 0].mean(),
    "there is no shift, and padding": lambda log_p, ids: picked(log_p, ids).mean(),
    "the wrong way": lambda log_p, ids: picked(log_p[:, 1:], ids[:, :-1])[ids[:, 1:] != 0].mean(),
    "padding counts: the second": lambda log_p, ids: picked(log_p[:, :-1], ids[:, 1:]).mean(),
    "the mean of the rows' means": by_rows,
    "not if token t is": lambda log_p, ids: picked(log_p[:, :-1], ids[:, 1:])[ids[:, :-1] != 0].mean(),
    "that is the sum": lambda log_p, ids: picked(log_p[:, :-1], ids[:, 1:])[ids[:, 1:] != 0].sum(),
    "a surprise is positive": lambda log_p, ids: -surprise(log_p, ids),
    "that is in bits": lambda log_p, ids: surprise(log_p, ids) / np.log(2),
    "the perplexity": lambda log_p, ids: np.exp(surprise(log_p, ids)),
    "the mean over 4 tokens": lambda log_p, ids: surprise(log_p, ids) + 1,
    "return one number": lambda log_p, ids: picked(log_p[:, :-1], ids[:, 1:]),
    "your code stopped with IndexError": lambda log_p, ids: ids[99],
    "not tried yet": lambda log_p, ids: ...,
}


def test_exercise_3_lets_the_right_answer_pass(capsys):
    assert "right." in said(check_surprise, surprise, capsys)


@pytest.mark.parametrize("sentence", SURPRISES)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_surprise, SURPRISES[sentence], capsys)

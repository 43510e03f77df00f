"""Claims about the embedded translation set of dates."""

from __future__ import annotations

import re
from datetime import date as Date

import numpy as np
import pytest

from bertlab.datasets.dates import (
    FIRST,
    LAST,
    LOCALES,
    STYLES,
    example,
    is_held_out,
    sample_dates,
    sample_examples,
    spell,
)

DAYS = [Date.fromordinal(n) for n in range(FIRST.toordinal(), LAST.toordinal() + 1)]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("locale", LOCALES)
def test_the_pieces_laid_together_are_the_words_of_babel(locale, style):
    for day in DAYS[::97]:
        whole = re.sub(r"\s", "", spell(day, locale, style))
        assert "".join(example(day, locale, style).source) == whole, day


@pytest.mark.parametrize("locale", LOCALES)
def test_a_few_dozen_pieces_say_every_day_of_two_centuries(locale):
    seen = {piece for day in DAYS[::31] for piece in example(day, locale).source}
    assert len(seen) <= 40
    assert set("0123456789") <= seen


def test_the_words_and_their_order_belong_to_the_language():
    day = Date(2031, 3, 4)
    assert spell(day, "en") == "Tuesday, March 4, 2031"
    assert spell(day, "en_GB", "long") == "4 March 2031"
    assert spell(day, "fr") == "mardi 4 mars 2031"
    assert example(day, "zh").source == ["2", "0", "3", "1", "年", "3", "月", "4", "日", "星期二"]
    assert example(day, "pt", "full").source[:2] == ["terça-feira", ","]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("locale", LOCALES)
def test_every_digit_of_the_answer_is_linked_to_what_says_it(locale, style):
    months = {}
    for month in range(1, 13):
        first = example(Date(2001, month, 1), locale, style)
        months |= {first.source[s]: month for _, s, part in first.links if part == "month"}
    for day in DAYS[::293]:
        source, target, links, _ = example(day, locale, style)
        linked = {t: (source[s], part) for t, s, part in links}
        assert [linked[t][0] for t in range(4)] == target[:4]
        assert linked[9] == (target[9], "day")
        assert linked[6][1] == "month"
        if linked[6][0].isdigit():
            assert linked[6][0] == target[6]
        else:
            assert months[linked[6][0]] == day.month
            assert linked[5] == linked[6]
        left_out = {target[t] for t in range(10) if t not in linked}
        assert left_out <= {"-", "0"}
        assert list(linked) == sorted(linked)


def test_a_two_digit_day_is_linked_digit_by_digit_and_a_filling_zero_to_nothing():
    source, _, links, _ = example(Date(2031, 3, 24), "fr", "long")
    assert [(t, source[s]) for t, s, part in links if part == "day"] == [(8, "2"), (9, "4")]
    _, _, links, _ = example(Date(2031, 3, 4), "fr", "long")
    assert [t for t, _, part in links if part == "day"] == [9]


def test_no_test_day_is_ever_in_a_training_example():
    rng = np.random.default_rng(0)
    train, test = sample_dates(rng, 20_000), sample_dates(rng, 20_000, held_out=True)
    assert not set(train) & set(test)
    assert is_held_out(test).all()
    dates = [Date.fromisoformat("".join(e.target)) for e in sample_examples(rng, 500)]
    assert not is_held_out(dates).any()
    dates = [Date.fromisoformat("".join(e.target)) for e in sample_examples(rng, 500, held_out=True)]
    assert is_held_out(dates).all()


def test_a_tenth_of_the_days_is_held_out_in_every_year():
    held_out = is_held_out(DAYS)
    assert held_out.mean() == pytest.approx(0.1, abs=1e-3)
    years = np.array([day.year for day in DAYS])
    assert np.ptp([held_out[years == year].sum() for year in range(1900, 2100)]) <= 5


def test_the_locales_and_styles_come_equally_often():
    drawn = sample_examples(np.random.default_rng(0), 4000, ["de", "fr"])
    assert {e.locale for e in drawn} == {"de", "fr"}
    assert np.mean([e.locale == "de" for e in drawn]) == pytest.approx(0.5, abs=0.05)
    assert np.mean([len(e.source[0]) > 2 for e in drawn]) == pytest.approx(0.5, abs=0.05)  # a day of the week


def test_one_seed_gives_one_set():
    draw = [sample_examples(np.random.default_rng(5), 10) for _ in range(2)]
    assert draw[0] == draw[1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: spell(Date(2031, 3, 4), "xx"), "'xx'.*en, en_GB"),
        (lambda: spell(Date(1899, 12, 31), "en"), "1899-12-31.*1900-01-01 to 2099-12-31"),
        (lambda: example(Date(2031, 3, 4), "en", "short"), "'short'.*full, long"),
        (lambda: sample_examples(np.random.default_rng(0), 1, []), "locales is empty"),
    ],
)
def test_bad_input_gets_one_sentence_that_names_it(call, words):
    with pytest.raises(ValueError, match=words):
        call()

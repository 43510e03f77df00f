"""What is called right: the whole date, or only its year, month or day; each locale by itself."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from bertlab.datasets import dates
from transformer_dates import PARTS, by_locale, right

SAID = [dates.example(date(2031, 3, 24), locale) for locale in ("de", "vi", "zh")]


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("2031-03-24", set()),
        ("2030-03-24", {"date", "year"}),
        ("2031-13-24", {"date", "month"}),
        ("2031-08-24", {"date", "month"}),
        ("2031-03-14", {"date", "day"}),
        ("2031-03-25", {"date", "day"}),
        ("2031-03-2", {"date", "day"}),
        ("2031-03-244", {"date"}),
        ("", {"date", "year", "month", "day"}),
    ],
)
def test_a_mistake_counts_in_its_part_and_for_the_whole_date(written, wrong):
    found = {name for name, part in PARTS.items() if not right([written], SAID[:1], part)[0]}
    assert found == wrong


def test_without_a_part_the_whole_date_is_meant():
    assert right(["2031-03-24", "2031-03-25", "2031-03-24"], SAID).tolist() == [True, False, True]


def test_each_locale_gets_the_share_of_its_own():
    said = [dates.example(date(2031, 3, 24), locale) for locale in (*dates.LOCALES, "vi")]
    hits = np.array([e.locale != "vi" for e in said])
    hits[-1] = True
    assert by_locale(hits, said) == {name: 0.5 if name == "vi" else 1.0 for name in dates.LOCALES}

"""README says what was measured, to the digit that it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertlab.training import load_result

README = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")


def measured(whose: str, view: str, n_tokens: int) -> dict[str, float]:
    (point,) = (
        point
        for point in load_result("attention_views")["points"]
        if (point["whose"], point["view"], point["tokens"]) == (whose, view, n_tokens)
    )
    return point


@pytest.mark.parametrize(
    ("row", "view", "quantity"),
    [
        ("head view: written into the notebook", "head_view", "megabytes_in_notebook"),
        ("head view: a page of its own", "head_view", "megabytes_page"),
        ("head view: seconds from opening", "head_view", "seconds_until_drawn"),
        ("model view: seconds from opening", "model_view", "seconds_until_drawn"),
    ],
)
def test_the_table_beside_bertviz_is_that_of_the_benchmark(row, view, quantity):
    (line,) = (line for line in README.splitlines() if line.startswith(f"| {row}"))
    for whose, cell in zip(("bertviz", "bertlab"), line.split("|")[2:4], strict=True):
        said = cell.split()[0]
        decimals = len(said.partition(".")[2])
        assert float(said) == pytest.approx(measured(whose, view, 128)[quantity], abs=0.51 * 10**-decimals)


def test_the_size_of_a_page_of_512_tokens_is_that_of_the_benchmark():
    size = measured("bertlab", "head_view", 512)["megabytes_page"]
    assert f"With 512 tokens a page of ours takes {size:.1f} MB" in README

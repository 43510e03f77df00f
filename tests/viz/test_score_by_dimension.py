"""The still picture of one query and its keys."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from PIL import Image

from bertlab.viz.output import png
from bertlab.viz.queries_keys import beyond_average, score_keys
from bertlab.viz.score_by_dimension import LEFT, MOST_KEYS, drawn_keys, most_telling, score_by_dimension
from bertlab.viz.style import BLUE, ORANGE, number
from tests.viz.looking import overlapping

Q = np.array([1.0, -2.0, 0.5, 3.0])
K = np.array([[1.0, 1.0, 0.0, -1.0], [2.0, -1.0, 4.0, 1.0], [0.0, 3.0, 2.0, 0.5]])
TOKENS = ["the", "cat", "sat"]


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def heading(fig):
    return fig.texts[0].get_text().replace("\n", " ")


def bars(fig, colour):
    """Corners of all bars that are products: those are opaque, and no edge is drawn."""
    found = [c for c in fig.axes[0].collections if isinstance(c, PolyCollection) and c.get_alpha() is None]
    mine = [c for c in found if to_hex(c.get_facecolor()[0]) == colour.lower()]
    return [path.vertices for collection in mine for path in collection.get_paths()]


def test_scores_and_weights_stand_beside_each_key():
    scored = score_keys(Q, K)
    fig = score_by_dimension(Q, K, "dog", TOKENS)
    for value in [*scored.scores, *scored.scaled, *scored.weights]:
        assert f"{value:.2f}".replace("-", "−") in texts(fig), value
    for word in ("dog", *TOKENS, "score", "÷ √4", "weight"):
        assert word in texts(fig), word


def test_the_title_names_the_dimension_that_adds_most_or_takes_most():
    average = score_keys(Q, K).weights @ K
    beyond = Q * (K - average)
    assert beyond[1].argmax() == 1
    assert beyond[1].sum() > 0 > beyond[0].sum()
    more = number(beyond[1, 1])
    assert heading(score_by_dimension(Q, K, "dog", TOKENS)) == (
        f"“dog” gives “cat” the score 9: dimension 1 adds 2, {more} more than to the average key"
    )
    more = number(-beyond[0, 3])
    assert heading(score_by_dimension(Q, K, "dog", TOKENS, key=0)) == (
        f"“dog” gives “the” the score −4: dimension 3 takes away 3, {more} more than from the average key"
    )
    assert "dimension 0 adds 2" in heading(score_by_dimension(Q, K, "dog", TOKENS, dimension=0))


def test_what_is_added_to_every_key_alike_comes_last_however_large():
    q, k = np.array([10.0, 1.0]), np.array([[5.0, 2.0], [5.0, -1.0], [5.0, 0.0]])
    scored = score_keys(q, k)
    np.testing.assert_allclose(beyond_average(scored, 0), [0, 2 - scored.weights @ k[:, 1]])
    assert most_telling(scored, 0) == 1
    fig = score_by_dimension(q, k, "dog", TOKENS, key=0, by_share=True)
    numbers = [text for text in fig.axes[0].texts if text.get_text() in ("0", "1")]
    assert [text.get_text() for text in sorted(numbers, key=lambda text: text.get_position()[0])] == [
        "1",
        "0",
    ]
    assert "50" not in heading(fig)


def test_several_dimensions_are_numbered():
    rng = np.random.default_rng(0)
    fig = score_by_dimension(rng.normal(size=64), rng.normal(size=(3, 64)), "dog", TOKENS, dimension=17)
    assert {"0", "8", "24", "32", "40", "48", "56", "17"} <= set(texts(fig))
    assert overlapping(fig) == []


def test_products_are_bars_above_the_line_if_positive_and_below_if_negative_as_high_as_they_are_large():
    fig = score_by_dimension(Q, K, "dog", TOKENS)
    products = Q * K
    for colour, sign in ((BLUE, 1), (ORANGE, -1)):
        drawn = bars(fig, colour)
        heights = sorted(float(v[2, 1] - v[0, 1]) for v in drawn)
        meant = np.sort(products[sign * products > 0])
        np.testing.assert_allclose(np.array(heights) / max(map(abs, heights)), meant / np.abs(meant).max())
    tallest = max(abs(v[2, 1] - v[0, 1]) for v in [*bars(fig, BLUE), *bars(fig, ORANGE)])
    assert tallest > 0.15


def test_sorted_by_share_the_bars_stand_in_the_order_of_what_is_beyond_the_average():
    fig = score_by_dimension(Q, K, "dog", TOKENS, key=1, by_share=True)
    levels = {round(float(v[0, 1]), 3) for v in bars(fig, BLUE)}
    middle = sorted(levels)[1]  # of three rows, the second from below
    mine = [v for v in bars(fig, BLUE) if round(float(v[0, 1]), 3) == middle]
    heights = np.array([v[2, 1] - v[0, 1] for v in sorted(mine, key=lambda v: v[0, 0])])
    order = np.argsort(-Q * (K[1] - score_keys(Q, K).weights @ K))
    np.testing.assert_allclose(heights / heights.max(), (Q * K[1])[order] / 3)
    assert min(v[0, 0] for v in mine) == pytest.approx(LEFT, abs=0.2)


def test_a_hidden_key_keeps_its_score_struck_out_and_has_no_weight():
    fig = score_by_dimension(Q, K, "dog", TOKENS, mask=np.array([True, False, True]))
    assert texts(fig).count("hidden") == 1
    assert "9.00" in texts(fig)
    assert "0.00" in texts(fig)
    assert (
        heading(score_by_dimension(Q, K, "dog", TOKENS, mask=np.zeros(3, dtype=bool)))
        == "“dog” may attend to nothing: all its weights are 0"
    )


def test_of_many_keys_the_strongest_are_drawn_and_the_picture_says_so():
    rng = np.random.default_rng(0)
    keys = rng.normal(size=(100, 4))
    scored = score_keys(Q, keys)
    weakest = int(scored.weights.argmin())
    drawn = drawn_keys(scored, weakest)
    strongest = set(np.argsort(-scored.weights)[: MOST_KEYS - 1])
    assert set(drawn) == strongest | {weakest}
    assert drawn == sorted(drawn)
    fig = score_by_dimension(Q, keys, "dog", [f"t{i}" for i in range(100)], key=weakest)
    assert f"t{weakest}" in texts(fig)
    rest = 1 - scored.weights[drawn].sum()
    assert f"{MOST_KEYS} of 100 keys, by weight; all others get {rest:.2f}." in " ".join(texts(fig))
    assert "all others get" not in texts(score_by_dimension(Q, K, "dog", TOKENS))[-1]


@pytest.mark.parametrize("width", [1, 4, 64, 128])
@pytest.mark.parametrize("n_keys", [1, 40])
def test_nothing_overlaps_and_it_is_as_wide_as_a_page(width, n_keys):
    rng = np.random.default_rng(1)
    names = ["a token that goes on and on and on", "<b>", "", "$x$", *(f"t{i}" for i in range(n_keys))][
        :n_keys
    ]
    fig = score_by_dimension(
        10 * rng.normal(size=width), rng.normal(size=(n_keys, width)), "$q$", names, by_share=True
    )
    assert overlapping(fig) == []
    assert max(text.get_window_extent().x1 for text in fig.axes[0].texts) <= fig.bbox.x1
    assert Image.open(io.BytesIO(png(fig))).width == 860


def test_D38_a_token_is_no_formula():
    fig = score_by_dimension(Q, K, "$x^2$", ["$a$", "$b_1$", "c"])
    fig.draw_without_rendering()
    assert r"\$x^2\$" in heading(fig)
    assert not any(text.get_parse_math() for text in fig.axes[0].texts if "$" in text.get_text())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"key": 3}, "key=3: there are 3, from 0"),
        ({"dimension": -1}, "dimension=-1: there are 4, from 0"),
        ({"query": Q[:3]}, r"a query of shape \(3,\) and keys of shape \(3, 4\) do not fit 3 tokens"),
        ({"key_tokens": ["one"]}, r"give \(K,\) and \(1, K\), of one head"),
    ],
)
def test_what_does_not_fit_is_refused(change, said):
    given = {"query": Q, "keys": K, "query_token": "dog", "key_tokens": TOKENS} | change
    with pytest.raises(ValueError, match=said):
        score_by_dimension(**given)

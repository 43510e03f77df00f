"""Curves and bars: every seed is drawn, every line has a name, a look of its own, and its mean."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bertlab import viz
from bertlab.viz.charts import seeds_of

TITLE, X = "Without attention, accuracy falls off after 12 words", [4, 8, 16, 32]


def series(rng, names, seeds=3):
    return {name: rng.uniform(0, 100, size=(seeds, len(X))) for name in names}


def lines_with_data(ax, n):
    """Lines in data coordinates with n points: those that carry measurements."""
    return [
        line for line in ax.get_lines() if len(line.get_xdata()) == n and line.get_transform() == ax.transData
    ]


def test_each_seed_is_a_thin_line_and_the_mean_a_thick_one(rng):
    data = series(rng, ["a", "b"])
    ax = viz.lines_with_spread(X, data, TITLE, "words", "%").axes[0]
    drawn = lines_with_data(ax, 4)
    thick = [line for line in drawn if line.get_linewidth() > 2]
    assert len(drawn) == 2 * (3 + 1)
    for line, values in zip(thick, data.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), values.mean(axis=0))
    thin = [line.get_ydata() for line in drawn if line.get_linewidth() < 2]
    np.testing.assert_allclose(thin, np.concatenate(list(data.values())))


def test_no_two_lines_share_colour_dash_or_marker(rng):
    ax = viz.lines_with_spread(X, series(rng, "abcde"), TITLE, "words", "%").axes[0]
    thick = [line for line in lines_with_data(ax, 4) if line.get_linewidth() > 2]
    for look in ("get_color", "get_marker", "_dash_pattern"):
        looks = {str(value() if callable(value := getattr(line, look)) else value) for line in thick}
        assert len(looks) == 5, look


def test_names_stand_at_the_ends_in_the_order_of_the_lines_and_do_not_overlap(rng):
    same = {
        name: np.full((3, 4), 50 + i / 9)
        for i, name in enumerate(["a", "b", "a rather long name of it", "d"])
    }
    fig = viz.lines_with_spread(X, same, TITLE, "words", "%", ylim=(0, 100), baseline=("chance", 50))
    fig.draw_without_rendering()
    named = [text for text in fig.axes[0].texts if text.get_text()]
    assert [" ".join(text.get_text().split()) for text in named] == [*same, "chance"]
    boxes = sorted((text.get_window_extent() for text in named), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
    assert all(box.x1 <= fig.bbox.x1 for box in boxes)


def test_an_optimum_is_a_line_in_its_interval_named_apart_from_the_others(rng):
    close = {name: np.full((3, 4), 80.0 + i / 9) for i, name in enumerate("abcde")}
    marks = {"optimum": ("best possible", 81, 0.4), "baseline": ("most frequent word", 79.5)}
    fig = viz.lines_with_spread(X, close, TITLE, "seconds", "%", ylim=(0, 100), **marks)
    fig.draw_without_rendering()
    ax = fig.axes[0]
    (band,) = ax.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((80.6, 81.4))
    levels = [line for line in ax.get_lines() if len(set(line.get_ydata())) == 1 and not line.get_xdata()[0]]
    solid = {line.get_ydata()[0]: line.get_linestyle() == "-" for line in levels}
    assert solid == {79.5: False, 81: True}
    named = [text for text in ax.texts if text.get_text()]
    said = [" ".join(text.get_text().split()) for text in named]
    assert said == [*"abcde", "most frequent word", "best possible ± 0.4 (95 % interval)"]
    boxes = sorted((text.get_window_extent() for text in named), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
    assert all(box.x1 <= fig.bbox.x1 for box in boxes)


def test_an_optimum_that_was_not_sampled_has_no_interval_and_a_negative_one_is_refused(rng):
    fig = viz.lines_with_spread(X, series(rng, "a"), TITLE, "s", "%", optimum=("best possible", 81, 0))
    assert "best possible" in [text.get_text() for text in fig.axes[0].texts]
    for half_width in (-0.4, float("nan")):
        with pytest.raises(ValueError, match="of 'best': give half of its 95 % interval"):
            viz.lines_with_spread(X, series(rng, "a"), TITLE, "s", "%", optimum=("best", 81, half_width))


def test_what_was_not_measured_leaves_a_gap_and_no_warning(rng):
    values = np.array([[1.0, np.nan, 3.0, np.nan], [2.0, np.nan, np.nan, np.nan]])
    ax = viz.lines_with_spread(X, {"a": values}, TITLE, "words", "%").axes[0]
    (mean,) = [line for line in ax.get_lines() if line.get_linewidth() > 2]
    np.testing.assert_allclose(mean.get_xydata(), [[4, 1.5], [16, 3.0]])


def test_a_geometric_mean_is_not_drowned_by_its_largest_seed():
    ratios = np.array([[1.0, 1.0, 1.0, 1e-8], [1.0, 4.0, 100.0, 1e12]])
    ax = viz.lines_with_spread(X, {"a": ratios}, TITLE, "layers", "×", yscale="log", mean="geometric").axes[0]
    (mean,) = [line for line in ax.get_lines() if line.get_linewidth() > 2]
    np.testing.assert_allclose(mean.get_ydata(), [1, 2, 10, 100])


def test_logarithmic_axes_show_plain_numbers_and_the_measured_widths():
    fig = viz.lines_with_spread([1, 4, 1024], {"q·k": [1, 4, 1000]}, TITLE, "d", "variance", "log", "log")
    fig.draw_without_rendering()
    assert [label.get_text() for label in fig.axes[0].get_xticklabels()] == ["1", "4", "1024"]
    assert "1,000" in [label.get_text() for label in fig.axes[0].get_yticklabels()]


def test_a_bar_is_the_mean_with_its_number_and_a_dot_for_each_seed(rng):
    arms = {"with": rng.uniform(20, 30, size=(3, 2)), "without": rng.uniform(5, 15, size=(3, 2))}
    ax = viz.bars_with_spread(["1–8", "9–11"], arms, TITLE, "words", "BLEU").axes[0]
    means = [values.mean(axis=0) for values in arms.values()]
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], np.concatenate(means))
    np.testing.assert_allclose(
        [line.get_ydata() for line in ax.get_lines()], np.concatenate([v.T for v in arms.values()])
    )
    assert [text.get_text() for text in ax.texts] == [f"{m:.1f}" for m in np.concatenate(means)]
    assert ax.get_ylim()[0] == 0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["with", "without"]


def test_bars_beside_each_other_do_not_overlap(rng):
    arms = {name: rng.uniform(1, 2, size=3) for name in "abc"}
    bars = sorted(
        viz.bars_with_spread(list("xyz"), arms, TITLE, "x", "y").axes[0].patches, key=lambda b: b.get_x()
    )
    assert all(a.get_x() + a.get_width() <= b.get_x() for a, b in pairwise(bars))


@pytest.mark.parametrize("draw", [viz.lines_with_spread, viz.bars_with_spread])
def test_more_than_anyone_can_tell_apart_is_refused(draw, rng):
    with pytest.raises(ValueError, match="draw one to 5"):
        draw(X, series(rng, "abcdef"), TITLE, "x", "y")


def test_a_series_of_another_length_is_named():
    with pytest.raises(
        ValueError, match=r"'width 64' has shape \(2, 3\), but each of its seeds needs 4 numbers"
    ):
        seeds_of("width 64", np.ones((2, 3)), 4)


def test_D38_names_of_lines_and_bars_are_text(rng):
    for fig in (
        viz.lines_with_spread(X, series(rng, ["$x$", "<b>"]), TITLE, "x", "y"),
        viz.bars_with_spread(["$g$"] * 4, series(rng, ["$x$", "<b>"]), TITLE, "x", "y"),
    ):
        ax = fig.axes[0]
        fig.draw_without_rendering()
        legend = ax.get_legend().get_texts() if ax.get_legend() else []
        named = [text for text in [*ax.texts, *legend] if text.get_text() in ("$x$", "<b>", "$g$")]
        assert len(named) == 2
        assert not any(text.get_parse_math() for text in named)


def test_numbers_over_bars_shrink_with_the_bars_and_vanish_before_they_meet():
    def numbers(n_groups):
        groups = [str(i) for i in range(n_groups)]
        arms = {name: np.full(n_groups, 0.5) for name in ("one", "two", "three")}
        fig = viz.bars_with_spread(groups, arms, TITLE, "word", "distance")
        return [text.get_fontsize() for text in fig.axes[0].texts]

    assert numbers(3) == [11.0] * 9
    assert all(7 <= size < 11 for size in numbers(9))
    assert len(numbers(9)) == 27
    assert numbers(30) == []

"""Colours that everybody can tell apart; pictures that are the same bytes each time, each with its words."""

from __future__ import annotations

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from bertlab import viz
from bertlab.viz import style

# Linear-light matrices of full colour blindness: Machado, Oliveira and Fernandes 2009, table 1, severity 1.0.
SEEN_BY = {
    "all cones": np.eye(3),
    "no red cones": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green cones": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue cones": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(rgb):
    rgb = np.asarray(rgb)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(linear_rgb):
    """CIELAB, D65."""
    to_xyz = [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
    xyz = np.array(to_xyz) @ linear_rgb / np.array([0.9505, 1.0, 1.0888])
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", SEEN_BY)
def test_every_two_colours_differ_to_all_kinds_of_eyes(eyes):
    seen = [lab(np.clip(np.array(SEEN_BY[eyes]) @ linear(to_rgb(c)), 0, 1)) for c in style.COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 20  # about 2 can be noticed at all


def test_every_two_colours_differ_in_grey_and_so_do_dashes_and_markers():
    greys = [float(style.lightness(to_rgb(c))) for c in style.COLOURS]
    assert min(abs(a - b) for a, b in combinations(greys, 2)) > 10
    assert len(set(style.DASHES)) == len(set(style.MARKERS)) == len(style.COLOURS)


@pytest.mark.parametrize(("hexadecimal", "expected"), [("#000000", 0), ("#777777", 50.03), ("#ffffff", 100)])
def test_lightness_is_that_of_cielab(hexadecimal, expected):
    assert style.lightness(to_rgb(hexadecimal)) == pytest.approx(expected, abs=0.01)


def test_weights_fade_from_white_to_dark_in_equal_steps_of_lightness():
    levels = style.lightness(style.WEIGHTS(np.linspace(0, 1, 101))[:, :3])
    assert levels[0] == pytest.approx(100, abs=0.1)
    assert levels[-1] < 20
    np.testing.assert_allclose(np.diff(levels), (levels[-1] - levels[0]) / 100, atol=0.25)


@pytest.mark.parametrize("colour", ["#FFFFFF", "#000000", "#2171B5", "#F2B661", "#777777"])
def test_text_on_a_colour_has_contrast_of_at_least_four(colour):
    a, b = (float(style.relative_luminance(to_rgb(c))) for c in (colour, style.readable_on(to_rgb(colour))))
    assert (max(a, b) + 0.05) / (min(a, b) + 0.05) > 4


def test_the_style_lasts_inside_a_figure_function_and_for_good_after_use_style():
    with mpl.rc_context():
        mpl.rcParams["font.size"] = 7
        fig = viz.histograms({"a": [1.0, 2.0]}, "A title that is a sentence", "x")
        assert fig.axes[0].xaxis.label.get_size() == 13
        assert mpl.rcParams["font.size"] == 7
        viz.use_style()
        assert mpl.rcParams["font.size"] == 13


def test_only_fonts_that_are_installed_are_named():
    names = {font.name for font in mpl.font_manager.fontManager.ttflist}
    assert style.STYLE["font.family"][0] == "DejaVu Sans"
    assert set(style.STYLE["font.family"]) <= names


@pytest.mark.parametrize(
    ("token", "seen"),
    [
        ("cat", "cat"),
        ("", "∅"),
        ("  ", "␣␣"),
        ("a b", "a b"),
        ("\n", "↵"),
        ("\t", "⇥"),
        ("\u200b", "U+200B"),
        ("\ufeff\u200d", "U+FEFF U+200D"),
        ("a\u200bb", "a\u200bb"),
        ("\u202eabc", "\ufffdabc"),
        ("a\x00b", "a\ufffdb"),
        ("\ud800", "\ufffd"),
        ("שלום", "שלום"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_a_token_that_cannot_be_seen_or_disturbs_others_gets_a_sign(token, seen):
    assert style.shown(token) == seen


def test_a_title_is_broken_evenly_and_loses_no_word():
    title = "Before training every word looks everywhere, afterwards at its partner alone"
    lines = style.even_lines(title, 66).split("\n")
    assert len(lines) == 2
    assert abs(len(lines[0]) - len(lines[1])) < 12
    assert " ".join(lines) == title


def test_a_picture_of_a_figure_function_is_not_shown_a_second_time_by_jupyter():
    viz.attention_map([[1.0]], ["a"], ["b"], "It looks")
    assert plt.get_fignums() == []


def test_subscripts():
    assert style.subscript(120) == "₁₂₀"

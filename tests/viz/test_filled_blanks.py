"""A sentence with a blank, and what models would put there."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from bertlab import viz
from bertlab.viz.filled_blanks import _advance, _wide
from bertlab.viz.output import picture_bundle, png
from bertlab.viz.style import lightness
from tests.viz.looking import all_texts, overlapping_anywhere
from tests.viz.widgets import HOSTILE

TOKENS = ["[CLS]", "the", "old", "man", "went", "to", "the", "[MASK]"]
TOKENS += ["to", "feed", "the", "duck", "##s", ".", "[SEP]"]
FIRST = [("park", 0.423), ("river", 0.181), ("lake", 0.12), ("pond", 0.08), ("##s", 0.0004)]
SECOND = [("house", 0.09), ("river", 0.05)]
BOTH = {"four minutes of training": FIRST, "counting neighbours": SECOND}
TITLE = "Only the trained model knows where ducks are fed"


def drawn(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def bars(ax):
    return [(bar.get_y() + bar.get_height() / 2, bar.get_width()) for bar in ax.patches]


def test_each_model_has_a_panel_with_its_name_and_its_pieces_in_percent_on_one_scale():
    fig = viz.filled_blanks(TOKENS, 7, BOTH, TITLE)
    panels = fig.axes[1:]
    assert len(panels) == 2
    for ax, (name, pairs) in zip(panels, BOTH.items(), strict=True):
        assert name in " ".join(" ".join(drawn(fig)).split())
        assert [label.get_text() for label in ax.get_yticklabels()] == [piece for piece, _ in pairs]
        np.testing.assert_allclose(bars(ax), [(row, 100 * p) for row, (_, p) in enumerate(pairs)])
        assert ax.get_xlabel() == "probability, %"
        assert ax.get_ylim() == (4.5, -0.5)  # the first at the top, also where there are fewer
    assert len({ax.get_xlim() for ax in panels}) == 1
    assert panels[0].get_xlim()[1] >= 42.3
    assert panels[0].get_ylabel() == "piece"
    assert [text.get_text() for text in panels[0].texts] == ["42.3", "18.1", "12.0", "8.0", "< 0.1"]


def test_the_likeliest_piece_is_the_topmost_in_whatever_order_they_come():
    fig = viz.filled_blanks(TOKENS, 7, {"model": FIRST[::-1]}, TITLE)
    assert [label.get_text() for label in fig.axes[1].get_yticklabels()] == [piece for piece, _ in FIRST]


def test_every_token_of_a_short_sentence_is_written_once_and_the_blank_alone_is_framed():
    fig = viz.filled_blanks(TOKENS, 7, BOTH, TITLE)
    assert drawn(fig)[: len(TOKENS)] == TOKENS
    (frame,) = fig.axes[0].patches
    fig.draw_without_rendering()
    (blank,) = [text for text in fig.axes[0].texts if text.get_text() == "[MASK]"]
    around, box = frame.get_window_extent(), blank.get_window_extent()
    assert around.x0 < box.x0 < box.x1 < around.x1
    assert blank.get_fontweight() == "bold"
    others = [text.get_window_extent() for text in fig.axes[0].texts if text is not blank]
    assert not any(around.overlaps(other) for other in others)


def test_the_right_piece_is_told_without_colour_and_who_misses_it_is_named():
    fig = viz.filled_blanks(TOKENS, 7, BOTH, TITLE, wanted="pond")
    (label,) = [label for label in fig.axes[1].get_yticklabels() if label.get_text() == "✓ pond"]
    assert label.get_fontweight() == "bold"
    marked = [bar for bar in fig.axes[1].patches if bar.get_hatch()]
    assert [bar.get_width() for bar in marked] == [8.0]
    greys = [float(lightness(to_rgb(bar.get_facecolor()))) for bar in fig.axes[1].patches[2:4]]
    assert abs(greys[0] - greys[1]) > 30
    assert not any("✓" in label.get_text() for label in fig.axes[2].get_yticklabels())
    assert "✓ the right piece: pond (not among those of counting neighbours)" in drawn(fig)
    assert "✓ the right piece: river" in drawn(viz.filled_blanks(TOKENS, 7, BOTH, TITLE, wanted="river"))
    assert not any("right piece" in text for text in drawn(viz.filled_blanks(TOKENS, 7, BOTH, TITLE)))


@pytest.mark.parametrize("blank", [0, 300, 511])
def test_of_a_long_sentence_the_lines_around_the_blank_are_written_and_it_is_said_which(blank):
    names = [f"t{i}" for i in range(512)]
    start = time.process_time()
    fig = viz.filled_blanks(names, blank, BOTH, TITLE)
    assert time.process_time() - start < 2
    written = [text for text in drawn(fig) if text in set(names)]
    first, last = (names.index(written[place]) for place in (0, -1))
    assert written == names[first : last + 1]
    assert names[blank] in written
    assert f"Tokens {first}–{last} of 512, counted from 0." in drawn(fig)
    assert drawn(fig).count("…") == (first > 0) + (last < 511)
    assert overlapping_anywhere(fig) == []


@pytest.mark.parametrize("length", range(1, 12, 2))
def test_signs_that_more_of_the_sentence_follows_stay_on_the_page(length):
    fig = viz.filled_blanks(["W" * length] * 400, 200, {"model": SECOND}, TITLE)
    signs = [text.get_window_extent() for text in all_texts(fig) if text.get_text() == "…"]
    assert len(signs) == 2
    assert max(box.x1 for box in signs) <= fig.bbox.x1


@pytest.mark.parametrize("n_models", [1, 2, 3])
@pytest.mark.parametrize("wanted", [None, "lake", HOSTILE[0]])
def test_no_two_texts_meet_and_all_stay_on_the_page(n_models, wanted):
    long = [(token, 1 / (i + 1)) for i, token in enumerate([*HOSTILE[:5], "x" * 400, "W" * 30, "lake"])]
    models = [("a model whose name goes on and on and will not end", long), ("b", FIRST), ("W" * 60, SECOND)]
    tokens = [*HOSTILE[:8], "[MASK]", "W" * 300, "a_b", "$y$"] * 9
    fig = viz.filled_blanks(tokens, 8, dict(models[:n_models]), TITLE, wanted)
    assert overlapping_anywhere(fig) == []
    for text in all_texts(fig):
        box = text.get_window_extent()
        assert fig.bbox.x0 <= box.x0 < box.x1 <= fig.bbox.x1, text
        assert fig.bbox.y0 <= box.y0 < box.y1 <= fig.bbox.y1, text
    assert Image.open(io.BytesIO(png(fig))).width == 860


def test_D38_tokens_pieces_and_names_are_text():
    pairs = [(token, 0.1) for token in HOSTILE[:7]]
    guesses = {"$m_1$ <b>": pairs, "我爱你": [("🙂", 0.5), ("爱", 0.25)]}
    fig = viz.filled_blanks([*HOSTILE, "[MASK]"], len(HOSTILE), guesses, "Why $x$ and $y$?", HOSTILE[2])
    labels = [label for ax in fig.axes[1:] for label in ax.get_yticklabels()]
    for text in [*fig.texts, *fig.axes[0].texts, *labels]:
        assert not text.get_parse_math() or "$" not in text.get_text()
    data, _ = picture_bundle(fig, "Two models fill a blank with signs of all kinds.")
    assert "data:image/svg+xml" in data["text/html"]


def test_a_text_is_as_wide_as_it_is_drawn():
    fig = viz.filled_blanks(TOKENS, 7, BOTH, TITLE)
    fig.draw_without_rendering()
    for text in fig.axes[0].texts[: len(TOKENS)]:
        wide = text.get_window_extent().width / fig.dpi
        assert wide == pytest.approx(_wide(text.get_text(), 14, text.get_fontweight() == "bold"), abs=0.04)
    assert (_advance("我", False), _advance("\u0301", False)) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tokens": []}, "tokens is empty: give the pieces of a sentence"),
        ({"blank": 15}, "blank=15: there are 15, from 0"),
        ({"blank": -1}, "blank=-1: there are 15, from 0"),
        ({"guesses": {}}, "0 models: draw one to 3 in a figure"),
        ({"guesses": dict.fromkeys("abcd", FIRST)}, "4 models: draw one to 3 in a figure"),
        ({"guesses": {"a": []}}, "0 guesses of 'a': give its first one to 8 pieces"),
        ({"guesses": {"a": [("x", 0.1)] * 9}}, "9 guesses of 'a': give its first one to 8 pieces"),
        ({"guesses": {"a": [("x", 42.3)]}}, "'a' gives 'x' the probability 42.3: give one from 0 to 1"),
        ({"guesses": {"a": [("x", -0.1)]}}, "the probability -0.1: give one from 0 to 1"),
        ({"guesses": {"a": [("x", float("nan"))]}}, "the probability nan: give one from 0 to 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        viz.filled_blanks(**{"tokens": TOKENS, "blank": 7, "guesses": BOTH, "title": TITLE} | change)


def test_nothing_probable_is_drawn_as_nothing():
    fig = viz.filled_blanks(TOKENS, 7, {"a": [("x", 0.0), ("y", 0.0)]}, TITLE)
    assert [text.get_text() for text in fig.axes[1].texts] == ["0.0", "0.0"]

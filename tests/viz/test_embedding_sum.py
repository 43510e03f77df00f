"""The still picture of BERT's input."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from bertlab.viz.embedding_sum import MOST_TOKENS, embedding_sum, window
from bertlab.viz.output import png
from bertlab.viz.style import RED
from tests.viz.looking import overlapping

TOKENS = ["[CLS]", "my", "dog", "[SEP]", "he", "likes", "[SEP]"]


def picture(tokens=TOKENS, width=8, first_of_b=4, **others):
    rng = np.random.default_rng(0)
    segments = [int(i >= first_of_b) for i in range(len(tokens))]
    vectors = (
        rng.normal(size=(len(tokens), width)),
        rng.normal(size=(2, width))[segments],
        rng.normal(size=(len(tokens), width)),
    )
    return embedding_sum(tokens, segments, *vectors, **others), vectors


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def test_each_column_holds_numbers_of_three_vectors_that_sum_to_the_fourth():
    fig, vectors = picture()
    numbers = [
        (text.get_position(), text.get_text()) for text in fig.axes[0].texts if "." in text.get_text()[:3]
    ]
    shown = [float(text.replace("−", "-")) for _, text in numbers[: 4 * 7 * 3]]
    rows = np.array(shown).reshape(4, 7, 3)
    np.testing.assert_allclose(rows[0], vectors[0][:, :3], atol=0.006)
    np.testing.assert_allclose(rows[3], sum(vectors)[:, :3], atol=0.006)
    np.testing.assert_allclose(rows[:3].sum(axis=0), rows[3], atol=0.021)
    xs = np.array([x for (x, _), _ in numbers[: 4 * 7 * 3]]).reshape(4, 7, 3)
    assert (xs == xs[0]).all()


def test_rows_are_named_and_signs_say_that_they_are_added():
    fig, _ = picture(ids=range(7))
    for text in ("token\nembedding", "segment\nembedding", "position\nembedding", "sum", "+", "=", "id"):
        assert text in texts(fig), text
    assert texts(fig).count("+") == 2
    assert (texts(fig).count("A"), texts(fig).count("B")) == (4, 3)
    assert "after\nlayer norm" not in texts(fig)


def test_sentences_are_told_apart_by_solid_and_dashed_frames():
    fig, _ = picture()
    frames = [patch for patch in fig.axes[0].patches if not patch.get_fill() or patch.get_facecolor()[3] == 0]
    dashes = [patch.get_linestyle() != "-" and patch.get_linestyle() != "solid" for patch in frames]
    assert dashes == ([False] * 4 + [True] * 3) * 4
    assert "dashed: B" in texts(fig)[-1]
    assert "dashed" not in texts(picture(first_of_b=7)[0])[-1]


def test_of_a_long_sentence_the_tokens_around_the_position_are_drawn_and_the_picture_says_so():
    assert window(5, 4) == list(range(5))
    assert window(40, 0) == list(range(MOST_TOKENS))
    assert window(40, 39) == list(range(40 - MOST_TOKENS, 40))
    assert window(40, 20)[MOST_TOKENS // 2] == 20
    fig, _ = picture([f"t{i}" for i in range(40)], position=20)
    assert "Tokens 15 to 25 of 0 to 39." in texts(fig)[-1]
    marked = [patch for patch in fig.axes[0].patches if to_hex(patch.get_edgecolor()) == RED.lower()]
    assert len(marked) == 1
    at = next(text for text in fig.axes[0].texts if text.get_text() == "t20").get_position()[0]
    assert marked[0].get_x() < at < marked[0].get_x() + marked[0].get_width()


@pytest.mark.parametrize("n_tokens", [1, 4, 11, 128])
def test_nothing_overlaps_and_it_is_as_wide_as_a_page(n_tokens):
    names = ["a token that goes on and on", "<b>", "", "$x$"]
    fig, _ = picture((names * 32)[:n_tokens], ids=range(30_000, 30_000 + n_tokens), width=384)
    assert overlapping(fig) == []
    assert Image.open(io.BytesIO(png(fig))).width == 860


def test_vectors_of_two_numbers_are_drawn_whole():
    fig, _ = picture(width=2)
    assert "Drawn: 2 of 2 numbers" in texts(fig)[-1]


def test_it_is_quick_for_512_tokens():
    start = time.process_time()
    picture([str(i) for i in range(512)], width=768)
    assert time.process_time() - start < 1


def test_a_position_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="position=7: there are 7, from 0"):
        picture(position=7)

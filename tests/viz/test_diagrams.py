"""Drawings without data say exactly what they should, and nothing overlaps."""

from __future__ import annotations

import pytest
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from bertlab import viz
from tests.viz.looking import overlapping

SOURCE, TARGET = ("two", "hundred", "thirty", "four"), ("zwei", "hundert", "vier", "und", "dreißig")
EVEN = (0.25, 0.25, 0.25, 0.25)
TITLE = "The decoder sees the source through one vector"


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts]


@pytest.mark.parametrize("weights", [None, EVEN])
def test_every_word_has_its_state_and_the_decoder_reads_what_it_wrote(weights):
    fig = viz.encoder_decoder_diagram(SOURCE, TARGET, TITLE, weights=weights)
    said = texts(fig)
    for expected in (*SOURCE, "h₁", "h₄", "s₁", "s₅", "<s>"):
        assert said.count(expected) == 1, expected
    assert all(said.count(token) == 2 for token in TARGET[:-1])  # written, then read
    assert said.count(TARGET[-1]) == 1
    states = [patch for patch in fig.axes[0].patches if isinstance(patch, FancyBboxPatch)]
    assert len(states) == len(SOURCE) + len(TARGET) + (weights is not None)


def test_without_attention_all_goes_through_one_vector_with_it_every_state_sends_an_arrow():
    def arrows(weights):
        fig = viz.encoder_decoder_diagram(SOURCE, TARGET, TITLE, weights=weights)
        return sum(isinstance(patch, FancyArrowPatch) for patch in fig.axes[0].patches), texts(fig)

    (without, said_without), (with_it, said_with) = arrows(None), arrows((0.1, 0.2, 0.3, 0.4))
    assert "the whole sentence, in one vector" in said_without
    assert "s₁ asks, all states answer, by weight" in said_with
    assert [text for text in said_with if text.startswith("0.")] == ["0.1", "0.2", "0.3", "0.4"]
    # In and out of the bottleneck; against one a state, the plain hand-over, question and answer.
    assert with_it - without == len(SOURCE) + 3 - 2


@pytest.mark.parametrize("attention", [False, True])
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (SOURCE, TARGET),
        (SOURCE[:1], TARGET[:1]),
        (SOURCE, (*TARGET, "Tausend", "und", "vier")),
        (("of",) * 10, ("ab",) * 2),
    ],
)
def test_no_two_texts_meet(source, target, attention):
    weights = [1 / len(source)] * len(source) if attention else None
    assert overlapping(viz.encoder_decoder_diagram(source, target, TITLE, weights=weights)) == []


@pytest.mark.parametrize(("source", "target"), [((), TARGET), (SOURCE, ()), (SOURCE * 2, TARGET)])
def test_too_many_words_or_none_are_refused(source, target):
    with pytest.raises(ValueError, match="draw 12 at most"):
        viz.encoder_decoder_diagram(source, target, TITLE)


def test_links_that_cross_are_drawn_strongly():
    links = [(0, 0), (1, 1), (2, 4), (3, 2)]
    fig = viz.word_links(SOURCE, TARGET, links, "Words change places")
    widths = [line.get_linewidth() for line in fig.axes[0].get_lines()]
    assert widths == [1.6, 1.6, 3.0, 3.0]
    assert overlapping(fig) == []


def test_a_link_joins_the_middles_of_its_words():
    ax = viz.word_links(["a", "b"], ["c"], [(1, 0)], "One to one").axes[0]
    place = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert list(ax.get_lines()[0].get_xdata()) == [place["b"], place["c"]]


def test_D38_tokens_of_diagrams_are_text():
    figures = (
        viz.encoder_decoder_diagram(["$a$"], ["$b$"], TITLE, start="$c$"),
        viz.word_links(["$a$"], ["$b$"], [(0, 0)], TITLE),
    )
    for fig in figures:
        tokens = [text for text in fig.axes[0].texts if text.get_text() in ("$a$", "$b$", "$c$")]
        assert len(tokens) >= 2
        assert not any(text.get_parse_math() for text in tokens)


def test_weights_that_do_not_fit_the_source_are_refused():
    with pytest.raises(ValueError, match="2 weights for 4 source words"):
        viz.encoder_decoder_diagram(SOURCE, TARGET, TITLE, weights=(0.5, 0.5))

"""The drawing of all sentences that a small model can write."""

from __future__ import annotations

import pytest

from bertlab import viz
from bertlab.viz.search_tree import PATH_COLOURS, probability
from tests.viz.looking import overlapping

TREE = {
    (): {"the": 0.6, "a": 0.4},
    ("the",): {"dog": 0.4, "cat": 0.3, "man": 0.3},
    ("a",): {"dog": 0.9, "cat": 0.1},
}
PATHS = {"greedy": ("the", "dog"), "most probable": ("a", "dog")}
TITLE = "Greedy misses the most probable sentence"


def said(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def test_every_word_and_every_probability_is_there():
    texts = said(viz.search_tree(TREE, PATHS, TITLE))
    assert [texts.count(word) for word in ("<END>", "the", "a", "dog", "cat", "man")] == [1, 1, 1, 2, 2, 1]
    assert [texts.count(share) for share in ("0.6", "0.4", "0.3", "0.9", "0.1")] == [1, 2, 2, 1, 1]
    assert [text for text in texts if text.startswith(("0.24", "0.36"))] == [
        "0.24  greedy",
        "0.36  most probable",
    ]
    assert texts.count("0.18") == 2


def test_a_path_is_drawn_in_its_colour_through_its_words():
    fig = viz.search_tree(TREE, PATHS, TITLE)
    for number, colour in enumerate(PATH_COLOURS[:2]):
        (line,) = [line for line in fig.axes[0].get_lines() if line.get_color() == colour]
        assert len(line.get_xdata()) == 3
        named = next(text for text in fig.axes[0].texts if text.get_text().endswith(list(PATHS)[number]))
        assert named.get_color() == colour
        assert abs(named.get_position()[1] - line.get_ydata()[-1]) < 0.1


def test_two_paths_to_one_sentence_are_both_named():
    texts = said(viz.search_tree(TREE, {"one": ("a", "dog"), "two": ("a", "dog")}, TITLE))
    assert "0.36  one, two" in texts


@pytest.mark.parametrize(
    "tree", [TREE, {(): {"a": 1.0}}, TREE | {("the", "dog"): {"barks": 0.5, "<END>": 0.5}}]
)
def test_no_two_texts_meet(tree):
    assert overlapping(viz.search_tree(tree, {}, TITLE)) == []


def test_the_probability_of_a_sentence_is_the_product():
    assert probability(TREE, ("a", "dog")) == pytest.approx(0.36)
    assert probability(TREE, ()) == 1.0


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        ({"short": ("the",)}, "no whole sentence"),
        ({"alien": ("the", "bird")}, "no whole sentence"),
        ({str(n): ("a", "dog") for n in range(4)}, "at most 3"),
    ],
)
def test_what_is_no_way_through_the_tree_is_refused(paths, words):
    with pytest.raises(ValueError, match=words):
        viz.search_tree(TREE, paths, TITLE)


def test_D38_words_are_text():
    texts = viz.search_tree({(): {"$a$": 1.0}}, {}, TITLE).axes[0].texts
    (word,) = [text for text in texts if text.get_text() == "$a$"]
    assert not word.get_parse_math()

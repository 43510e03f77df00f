"""The head view from Python's side; in a browser: test_head_view_in_browser.py."""

from __future__ import annotations

import re

import numpy as np
import pytest
import traitlets

from bertlab import viz
from bertlab.viz.output import png
from tests.viz.reading import TOKENS, encoder_decoder, two_layers


@pytest.fixture
def layers(rng):
    return two_layers(rng)


@pytest.fixture
def cross(rng):
    return encoder_decoder(rng)


def test_all_that_is_chosen_can_be_read_and_set(layers):
    view = viz.head_view(layers, TOKENS, layer=1, heads=[2, 0], queries=(3, 1), threshold=0.1, top_k=2)
    assert (view.layer, view.heads, view.queries, view.looked_at) == (1, [0, 2], [1, 3], [])
    view.looked_at = [5]  # the other side gives up what it had
    assert (view.queries, view.looked_at) == ([], [5])
    view.queries = [2]
    assert (view.queries, view.looked_at) == ([2], [])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"layer": 2}, "layer=2: there are 2 layers, from 0"),
        ({"heads": [0, 4]}, "heads has 4: there are 4 heads, from 0"),
        ({"queries": [9]}, "queries has 9: there are 9 tokens there, from 0"),
        ({"looked_at": [-1]}, "looked_at has -1: there are 9 tokens there"),
        ({"threshold": 2.0}, "threshold=2.0: weights lie between 0 and 1"),
        ({"top_k": -1}, "top_k=-1: give how many weights of a query to keep, or 0 for all"),
        ({"sentences": "A→B"}, "sentences='A→B': give one of all, AA, AB, BA, BB"),
        ({"sentences": "AB"}, "sentences='AB': say by sentence_b where the second sentence begins"),
        ({"set_number": 1}, "set_number=1: there are 1 sets, from 0"),
    ],
)
def test_what_is_not_there_is_refused_when_made_and_when_set(layers, wrong, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        viz.head_view(layers, TOKENS, **wrong)
    view = viz.head_view(layers, TOKENS)
    (name, value), *_ = wrong.items()
    before = getattr(view, name)
    with pytest.raises(ValueError, match=re.escape(said)):
        setattr(view, name, value)
    assert getattr(view, name) == before


def test_other_things_are_refused_too(layers):
    with pytest.raises(ValueError, match="choose tokens on one side"):
        viz.head_view(layers, TOKENS, queries=[1], looked_at=[2])
    with pytest.raises(ValueError, match="give the tokens"):
        viz.head_view(layers)
    with pytest.raises(ValueError, match="9 query tokens"):
        viz.head_view([layer[:, :8, :8] for layer in layers], TOKENS)
    with pytest.raises(traitlets.TraitError, match="heads"):
        viz.head_view(layers, TOKENS, heads=["first"])


def test_another_set_begins_afresh_and_keeps_what_it_can(cross):
    view = viz.head_view(cross, layer=2, heads=[0, 3], queries=[4], threshold=0.1)
    view.set_number = 1
    assert (view.layer, view.queries, view.heads, view.threshold) == (1, [], [0, 3], 0.1)
    view.looked_at = [2]
    with pytest.raises(ValueError, match="looked_at has 3"):
        view.looked_at = [3]


def test_the_still_and_its_words_follow_the_state(layers):
    view = viz.head_view(layers, TOKENS, sentence_b=5)
    seen = {png(view.still()): view.alt}
    steps = {"layer": 1, "heads": [0, 2], "queries": [3], "looked_at": [6], "sentences": "AB"}
    for name, value in (steps | {"merge_words": True, "hide_special": True, "top_k": 1}).items():
        setattr(view, name, value)
        seen[png(view.still())] = view.alt
    assert len(seen) == 9  # nine different pictures
    assert view.alt.startswith(
        "Layer 1, heads 0, 2: what looks at “cats”. Lines from “playing cat” to “the cats”"
    )
    assert view.still().texts[0].get_text() == "Layer 1: what looks at “cats”"


def test_the_still_counts_the_lines_of_the_present_state(layers):
    view = viz.head_view(layers, TOKENS, heads=[1, 3], queries=[1], threshold=0.1)
    drawn = view.still().axes[0].collections[0].get_segments()
    assert len(drawn) == (layers[0][[1, 3], 1] >= 0.1).sum()
    foot = [text.get_text() for text in view.still().axes[0].texts if "lines; those" in text.get_text()]
    assert "Heads 1, 3 of 4." in foot[0]


def test_a_head_that_a_layer_lacks_is_not_drawn_there(layers):
    view = viz.head_view(layers, TOKENS, layer=1, heads=[2, 3])
    assert view.alt.startswith("Layer 1, head 2:")
    view.heads = [3]
    assert view.alt.startswith("Layer 1, no head:")
    assert len(view.still().axes[0].collections[0].get_segments()) == 0


def test_a_sentence_of_special_tokens_alone_may_be_hidden():
    view = viz.head_view(np.full((1, 2, 2), 0.5), ["[CLS]", "[SEP]"], hide_special=True)
    view.still()
    assert view.alt == "Layer 0, head 0: where each token looks. Lines within “”, stronger for more weight."


def test_the_alternative_text_names_the_set_and_the_clear_winner(cross):
    view = viz.head_view(cross, set_number=2, queries=[1])
    cross["cross"].weights[0][:, 1] = [0.1, 0.1, 0.6, 0.1, 0.1]
    assert view.alt == (
        "cross, layer 0, heads 0–3: where “zwei” looks. Lines from “eins zwei </s>” to “one two three four "
        "</s>”, stronger for more weight; most to “three”."
    )


def test_a_chosen_token_that_is_not_shown_is_said_so(layers):
    view = viz.head_view(layers, TOKENS, sentence_b=5, sentences="AB", queries=[5])
    said = "“the” stands in sentence B and is not shown: B→A or B→B shows it."
    assert view.alt.endswith(said)
    assert said in " ".join(" ".join(text.get_text() for text in view.still().axes[0].texts).split())
    view.sentences, view.hide_special, view.looked_at = "all", True, [8]
    assert view.alt.endswith("“[SEP]” (token 8) is a special token and hidden.")
    view.merge_words, view.hide_special, view.queries = True, False, [2]
    assert "shown" not in view.alt


def test_tokens_that_look_alike_are_told_apart_by_their_position(layers):
    view = viz.head_view(layers, TOKENS, queries=[3, 6])
    title = view.still().texts[0].get_text().replace("\n", " ")
    assert title == "Layer 0: where “cat” (token 3) and “cat” (token 6) look, summed over 2 tokens"
    layers[1][:, 1] = np.eye(9)[8]
    assert viz.head_view(layers, TOKENS, layer=1, queries=[1]).alt.endswith("most to “[SEP]” (token 8).")


def test_a_single_largest_weight_is_said_in_the_singular(layers):
    foot = lambda k: " ".join(  # noqa: E731
        text.get_text() for text in viz.head_view(layers, TOKENS, top_k=k).still().axes[0].texts
    ).replace("\n", " ")
    assert (
        "Only the largest weight of each query and head counts; in the numbers, too, others are 0." in foot(1)
    )
    assert "Only the 3 largest weights of each query and head count; in the numbers" in foot(3)

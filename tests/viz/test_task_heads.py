"""The drawing of the four heads: each answer stands above the token that it is read from."""

from __future__ import annotations

import pytest

from bertlab.viz.task_heads import PANELS, task_heads
from tests.viz.looking import overlapping

TITLE = "The same trunk four times; what is new is one small layer"


def places(text: str) -> list[tuple[float, float]]:
    return [t.get_position() for t in task_heads(TITLE).axes[0].texts if t.get_text() == text]


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.name)
def test_an_answer_stands_above_its_token(panel):
    ((left, top),) = places(panel.name)
    for i, answer in panel.answers.items():
        ((x, y),) = places(answer)
        below = [place for place in places(panel.tokens[i]) if abs(place[0] - x) < 1e-6 and place[1] < y]
        assert below, answer
        assert y < top
        assert x > left


def test_there_is_one_trunk_and_one_new_layer_for_each_task():
    assert len(places("BERT")) == len(places("new layer")) == len(PANELS) == 4


def test_texts_with_one_answer_are_read_at_cls():
    for panel in PANELS[:2]:
        assert list(panel.answers) == [0]
        assert panel.tokens[0] == "[CLS]"


def test_a_new_layer_reads_every_token_that_could_be_an_answer():
    for panel in PANELS:
        assert set(panel.answers) <= set(panel.read)
    span = PANELS[2]
    assert [span.tokens[i] for i in span.read] == ["old", "Ida", "slept"]  # the whole passage, not the answer


def test_no_text_covers_another():
    assert overlapping(task_heads(TITLE)) == []

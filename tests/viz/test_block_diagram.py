"""The drawing of a block in post-LN and in pre-LN."""

from __future__ import annotations

import pytest

from bertlab.viz.block_diagram import block_diagram
from tests.viz.looking import overlapping


def places(text: str) -> list[tuple[float, float]]:
    fig = block_diagram("Where the norm stands")
    return [t.get_position() for t in fig.axes[0].texts if t.get_text() == text]


@pytest.mark.parametrize("name", ["attention", "feed-forward", "LayerNorm", "+"])
def test_both_blocks_have_two_sublayers_each_with_its_norm_and_its_sum(name):
    assert len(places(name)) == (2 if name in ("attention", "feed-forward") else 4)


def test_the_norm_follows_the_sum_in_post_ln_and_precedes_the_sublayer_in_pre_ln():
    sums, norms = sorted(places("+")), sorted(places("LayerNorm"))
    for plus, norm in zip(sums[:2], norms[:2], strict=True):  # post-LN stands on the left
        assert norm[0] == plus[0]
        assert norm[1] > plus[1]
    branches = sorted(places("attention"))[1], sorted(places("feed-forward"))[1]
    for sublayer, norm in zip(branches, norms[2:], strict=True):
        assert norm[0] == sublayer[0] != sums[2][0]
        assert norm[1] < sublayer[1]


def test_pre_ln_alone_has_one_more_norm_above_its_last_sum():
    last = places("last LayerNorm")
    assert len(last) == 1
    highest = max(y for x, y in places("+") if x == last[0][0])  # fails if it stands over another stream
    assert last[0][1] > highest
    assert last[0][0] > max(x for x, _ in places("LayerNorm")[:2])


def test_no_text_covers_another():
    assert (
        overlapping(block_diagram("In post-LN the stream runs through every norm; in pre-LN past them")) == []
    )

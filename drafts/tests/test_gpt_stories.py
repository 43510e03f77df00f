"""Gaps in stories: the exact chances of both readers, and two ways to ask a GPT."""

from __future__ import annotations

import gpt_stories
import numpy as np
import pytest
import torch
from gpt_stories import (
    ARMS,
    KINDS,
    Gap,
    Stories,
    bounds,
    by_rereading,
    directly,
    gaps,
    loss_of,
    new_model,
    scores,
)  # fmt: skip

from bert_stories import vocabulary
from bertlab.nn import GPT


@pytest.fixture(scope="module")
def some():
    return gaps(8)


def test_a_gap_is_one_word_and_who_sees_more_is_less_surprised(some):
    assert len(some) == 8 * gpt_stories.OF_EACH
    for gap in some:
        right = int(gap.ids[gap.place])
        assert gap.left[right] > 0
        assert gap.both[right] > 0
        assert sum(gap.left.values()) == pytest.approx(1)
        assert gap.kind in KINDS
    found = bounds(some)
    assert found["both"]["all"]["bits"] < found["left"]["all"]["bits"]


def test_what_decides_is_said_by_the_exact_chances():
    ids = np.array([2, 5, 3])
    sure, open_ = {5: 0.95, 6: 0.05}, {5: 0.5, 6: 0.5}
    assert [
        Gap(ids, 1, left, both).kind for left, both in ((sure, sure), (open_, sure), (open_, open_))
    ] == list(KINDS)


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_reads_the_same_stories_and_learns(arm):
    model = new_model({"arm": arm, "seed": 0})
    loss = loss_of(model, {"arm": arm, "seed": 0})
    first, n = loss(0)
    batch, _, _ = Stories(0)(0)
    if isinstance(model, GPT):
        assert n == batch.mask.sum() - len(batch.ids)
    else:
        share = n / (batch.mask.sum() - 2 * len(batch.ids))
        assert share == pytest.approx(ARMS[arm]["rate"], abs=0.05)
    assert first.item() == pytest.approx(np.log(len(vocabulary())), abs=0.5)
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(5):
        optimizer.zero_grad()
        found, _ = loss(0)
        found.backward()
        optimizer.step()
    assert found < first - 0.1


@pytest.mark.parametrize("arm", ["GPT", "BERT, 15 %"])
def test_a_model_never_sees_the_word_that_is_asked_for_and_a_gpt_nothing_behind_it(arm, some):
    model = new_model({"arm": arm, "seed": 0}).eval()
    p = directly(model, some)
    assert p.shape == (len(some), len(vocabulary()))
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-4)
    other = []
    for gap in some:
        ids = gap.ids.copy()
        ids[gap.place] = 7
        if arm == "GPT":
            ids[gap.place + 1 : -1] = 9
        other.append(gap._replace(ids=ids))
    np.testing.assert_allclose(directly(model, other), p, atol=1e-5)


def test_rereading_is_bayes_rule_over_the_candidates(some):
    model = new_model({"arm": "GPT", "seed": 0}).eval()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.2)
    gap, n = some[0], 4
    (found,) = by_rereading(model, [gap], n)
    (left,) = directly(model, [gap])
    words = np.argsort(-left, kind="stable")[:n]
    whole = []
    for word in words:
        ids = torch.from_numpy(gap.ids)[None].clone()
        ids[0, gap.place] = int(word)
        with torch.no_grad():
            log_p = model(ids[:, :-1]).logits.log_softmax(-1).gather(2, ids[:, 1:, None])[0, :, 0].double()
        whole.append(float(log_p.sum()))
    share = np.exp(np.array(whole) - max(whole))
    np.testing.assert_allclose(found[words], left[words].sum() * share / share.sum(), rtol=1e-3)
    np.testing.assert_allclose(found.sum(), 1, rtol=1e-6)
    others = np.setdiff1d(np.arange(len(left)), words)
    np.testing.assert_array_equal(found[others], left[others])


def test_scores_are_in_bits_and_by_kind():
    ids = np.array([2, 5, 3])
    some = [Gap(ids, 1, {5: 1.0}, {5: 1.0}), Gap(ids, 1, {5: 0.5, 6: 0.5}, {5: 1.0})]
    p = np.zeros((2, 8))
    p[0, 5], p[1, 5], p[1, 6] = 1.0, 0.25, 0.75
    found = scores(p, some)
    assert found["all"]["bits"] == 1.0
    assert found[KINDS[0]]["right"] == 1.0
    assert found[KINDS[1]] == {"words": 1, "bits": 2.0, "half_width": 0.0, "right": 0.0}

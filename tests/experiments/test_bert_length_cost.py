"""What is timed is what the record says."""

from __future__ import annotations

import time

import pytest
import torch

from bert_length_cost import BATCH, batched, milliseconds


def test_the_first_round_does_not_count_and_the_median_of_the_others_does():
    waits = iter([0.05, 0.002, 0.002, 0.02])
    found = milliseconds({"sleep": lambda: time.sleep(next(waits))}, repeats=3)
    assert 2 <= found["sleep"] < 15


def test_ways_are_taken_in_turns():
    order = []
    milliseconds({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=2)
    assert order == [*"ababab"]


def test_batches_hold_every_row_once_padded_behind():
    rows = [torch.full((n % 7 + 1,), n + 1) for n in range(BATCH + 3)]
    found = batched(rows)
    assert [len(ids) for ids in found] == [BATCH, 3]
    for ids, row in zip(torch.cat([ids[:, :1] for ids in found]), rows, strict=True):
        assert ids.item() == row[0]
    assert sum(int((ids != 0).sum()) for ids in found) == pytest.approx(sum(map(len, rows)))

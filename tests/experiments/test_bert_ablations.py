"""Each arm of the ablations changes what exists, and really changes it."""

from __future__ import annotations

import pytest

from _small_bert import CHOICES, make
from bert_ablations import CHANGES
from bertlab.nn import BertForPreTraining
from bertlab.text import SPECIAL, WordPiece

VOCAB = WordPiece([*SPECIAL, *"abcdefghijklmnopqrstuvwxyz"])


@pytest.mark.parametrize("change", CHANGES)
def test_an_arm_changes_what_exists_and_really_changes_it(change):
    changes = CHANGES[change]
    assert changes.keys() <= CHOICES.keys()
    assert all(CHOICES[key] != value for key, value in changes.items())
    model = make(CHOICES | changes, VOCAB, 0)
    assert isinstance(model, BertForPreTraining)

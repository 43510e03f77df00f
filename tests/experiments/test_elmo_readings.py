"""Each layer is asked by probe and by nearest occurrence; the layers are compared word by word."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import _elmo_readings
from _comparison import each_of
from _elmo_readings import KINDS, compared, homographs, layers_of, occurrences, readings, rows_around
from _homographs import Sentence
from bertlab.datasets import DataUnavailable
from bertlab.nn import ELMo, ELMoConfig
from bertlab.tasks.spelled_words import SpelledELMo, whole_words

WORDS = whole_words(["They object loudly", "An object here", "A strange object .", "I object ."])


def some_elmo() -> ELMo:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "d_memory": 12, "d_character": 4, "filters": ((1, 4), (2, 8)), "n_highway": 1}
    return ELMo(ELMoConfig(vocab_size=9, dropout=0.0, **sizes)).eval()


def sentence(text: str, sense: str) -> Sentence:
    ids = WORDS.encode(text).ids
    place = 1 + ids.index(WORDS.ids["object"])
    return Sentence("object", sense, [WORDS.cls_id, *ids, WORDS.sep_id], slice(place, place + 1))


VERBS = [sentence("They object loudly", "verb"), sentence("I object .", "verb")]
NOUNS = [sentence("An object here", "noun"), sentence("A strange object .", "noun")]


def test_layer_zero_is_the_same_everywhere_and_the_others_are_not():
    x = layers_of(SpelledELMo(some_elmo(), WORDS), [*VERBS, *NOUNS])
    assert x.shape == (3, 4, 16)
    np.testing.assert_allclose(x[0], np.broadcast_to(x[0, :1], x[0].shape), atol=1e-6)
    assert np.ptp(x[1], axis=0).max() > 1e-3 < np.ptp(x[2], axis=0).max()


def test_the_words_around_leave_out_the_word_itself():
    read = SpelledELMo(some_elmo(), WORDS)
    rows = rows_around(read, [VERBS[0]], at_once=2)
    ids = torch.tensor([[i for i in VERBS[0].ids if i != WORDS.ids["object"]]])
    with torch.no_grad():
        wanted = read(ids).layers[0][0, :, :8].mean(0)
    np.testing.assert_allclose(rows[0], wanted, atol=1e-6)


def test_a_layer_that_knows_gets_all_right_by_both_ways_and_layer_zero_gets_the_usual_reading():
    class Knows(nn.Module):
        """Layer 1 sees the word before; layer 0 and 2 see nothing."""

        def __init__(self):
            super().__init__()
            self.elmo, self.spellings = some_elmo(), SpelledELMo(some_elmo(), WORDS).spellings

        def forward(self, ids):
            seen = nn.functional.one_hot(ids.roll(1, 1), len(WORDS)).float()
            blind = torch.ones_like(seen)
            return type("Output", (), {"layers": (blind, seen, blind)})()

    train, test = [*VERBS * 8, *NOUNS * 4], [*VERBS, *NOUNS]
    row, each = readings(Knows(), train, test)
    for way in ("probe", "nearest"):
        assert row[way]["accuracy"][1] == 1.0
    assert row["probe"]["accuracy"][0] == row["most_frequent"] == 0.5
    assert row["words"]["object"] == "4 2 2 4 2 2 4 2"[: len(row["words"]["object"])]
    assert len(each["probe"]) == len(each["nearest"]) == 3


def rows_of(first: float, second: float, words: int = 40):
    def one(p):
        return each_of([np.stack([np.full(words, 10 * p), np.full(words, 10.0)], 1)])

    return [one(0.5), one(first), one(second)]


def test_the_claim_is_a_difference_of_differences():
    found = compared(
        {"part of speech": rows_of(0.9, 0.8), "others": rows_of(0.7, 0.7), "nouns": rows_of(0.6, 0.8)}
    )
    assert found["part of speech"]["difference"] == pytest.approx(-0.1)
    assert found["nouns"]["difference"] == pytest.approx(0.2)
    assert found["nouns less part of speech"]["difference"] == pytest.approx(0.3)
    low, high = found["nouns less part of speech"]["interval"]
    assert low == pytest.approx(0.3) == high  # all words alike: drawn anew, nothing moves


@pytest.mark.filterwarnings("ignore:coarsewsd-20 is for non-commercial use")
def test_the_kinds_share_no_word_and_every_occurrence_is_one_word():
    try:
        of_kind = {kind: occurrences(kind, "test") for kind in KINDS}
    except DataUnavailable as reason:
        pytest.skip(str(reason))
    words = [{one.word for one in some} for some in of_kind.values()]
    assert [len(some) for some in words] == [131, 31, 8]
    assert not words[0] & words[1]
    lengths = [one.pieces.stop - one.pieces.start for some in of_kind.values() for one in some]
    assert np.mean(np.array(lengths) == 1) > 0.99
    assert _elmo_readings.reader().unk_id not in {
        i for some in of_kind.values() for one in some for i in one.ids
    }


def test_all_kinds_are_measured_and_compared(monkeypatch):
    monkeypatch.setattr(_elmo_readings, "reader", lambda: WORDS)
    monkeypatch.setattr(_elmo_readings, "occurrences", lambda kind, split: [*VERBS * 6, *NOUNS * 6])
    found = homographs(some_elmo())
    assert found.keys() == {*KINDS, "second less first"}
    assert found["second less first"].keys() == {"probe", "nearest"}

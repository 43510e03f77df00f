"""The training goes on where it was stopped, to the same weights; what is shipped is what is examined."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import _elmo_text
import elmo_mini
from _elmo_text import Text, known_words
from bertlab.datasets.documents import Document
from bertlab.tasks.spelled_words import whole_words
from bertlab.text import SPECIAL, write_shards
from elmo_mini import CONFIG, SIZES, curve, measured, ship, trained

DOCUMENTS = [Document(["The dog saw the cat.", "The cat ran home."] * 40, "notes")]
HELD = [Document(["The Dog saw Xanthippe.", "The cat ran."] * 7, "notes") for _ in range(40)]
SMALL = SIZES | {"d_model": 8, "d_memory": 12, "d_character": 4, "filters": ((1, 4), (2, 8))}


@pytest.fixture
def text(tmp_path, monkeypatch) -> Text:
    words = whole_words(sentence for one in (*DOCUMENTS, *HELD) for sentence in one.sentences)
    known = known_words(DOCUMENTS, size=len(SPECIAL) + 8)
    words.save(tmp_path / "words.txt")
    write_shards(tmp_path / "held_out", HELD, words)
    monkeypatch.setattr(elmo_mini, "ROOT", tmp_path)
    monkeypatch.setattr(elmo_mini, "CHECKPOINTS", tmp_path / "checkpoints")
    monkeypatch.setattr(elmo_mini, "held_out_documents", lambda: {"books": HELD})
    monkeypatch.setattr(_elmo_text, "STRETCHES", 32)
    return Text(words, known, write_shards(tmp_path / "shards", DOCUMENTS, words))


def small(out="out"):
    paths = {"shards": ("shards",), "vocab": "words.txt", "out": out, "held_out": ("held_out",)}
    sizes = {"model": SMALL, "batch_size": 2, "max_length": 16, "held_out_batches": 1}
    return replace(CONFIG, **paths, **sizes, steps=6, warmup=2, save_every=2, report_every=2)


def test_an_interrupted_training_ends_with_the_same_weights(text, monkeypatch):
    whole = trained(small(), text)
    asked = elmo_mini.asked_both_ways

    def stops_at(n):
        def made(*args, **kwargs):
            losses, calls = asked(*args, **kwargs), []

            def counted(ids, mask):
                calls.append(1)
                if len(calls) > n:
                    raise RuntimeError("the power went out")
                return losses(ids, mask)

            return counted

        return made

    monkeypatch.setattr(elmo_mini, "asked_both_ways", stops_at(5))
    with pytest.raises(RuntimeError, match="power"):
        trained(small(out="again"), text)
    monkeypatch.setattr(elmo_mini, "asked_both_ways", asked)
    again = trained(small(out="again"), text)
    for name, weight in whole.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name]), name


def test_what_is_shipped_is_examined_and_the_curve_counts_what_was_read(text):
    from bertlab.training.journal import read_journal

    model = ship(trained(small(), text), text, "small")
    assert (elmo_mini.CHECKPOINTS / "small" / "model.safetensors").stat().st_size < 100_000
    rows = curve(read_journal(elmo_mini.ROOT / "out" / "journal.jsonl"))
    assert [row["step"] for row in rows] == [2, 4, 6]
    assert rows[-1]["tokens"] > rows[0]["tokens"] > 0
    found = measured(model, text)["books"]
    assert found.keys() == {
        "unknown",
        "elmo",
        "counting",
        "untrained",
        "elmo minus counting",
        "elmo minus untrained",
    }


def test_the_checkpoint_fits_the_repository():
    from bertlab.nn import ELMoConfig, ELMoForPreTraining

    n = sum(p.numel() for p in ELMoForPreTraining(ELMoConfig(vocab_size=8192, **SIZES)).parameters())
    assert 2 * n < 20e6  # bytes in float16

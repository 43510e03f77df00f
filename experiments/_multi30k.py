"""What the experiments on Multi30k, German to English, share. The set is for non-commercial use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import sacrebleu
from sacrebleu.significance import PairedTest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from bertlab.datasets import load

PAD_ID, END_ID = 0, 1
TEST = "test_2016_flickr"


@lru_cache
def sentences(split: str, language: str) -> list[str]:
    """Read one side of one split."""
    return load("multi30k").lines(f"{split}.{language}.gz")


def train_bpe(texts: Iterable[str], pieces: int) -> Tokenizer:
    """Learn byte-level BPE, so that no word is unknown."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel()
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=pieces, special_tokens=["<PAD>", "<END>"], initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(texts, trainer)
    return bpe


def until_end(row: list[int]) -> list[int]:
    """Cut ids off before the end token."""
    return row[: row.index(END_ID)] if END_ID in row else row


def bleu(hypotheses: Sequence[str], split: str = TEST, **settings: Any) -> float:
    """Score translations of a split by sacreBLEU."""
    return sacrebleu.corpus_bleu(hypotheses, [sentences(split, "en")], **settings).score


def significance(baseline: Sequence[str], system: Sequence[str]) -> dict[str, float]:
    """Resample the test sentences in pairs, 1,000 times (Koehn 2004): is the gain luck of the test set?"""
    systems: list[tuple[str, Sequence[str]]] = [("baseline", baseline), ("system", system)]
    metric = {"BLEU": sacrebleu.BLEU(references=[sentences(TEST, "en")])}
    scores: Any = PairedTest(systems, metric, references=None, test_type="bs", n_samples=1000)()[1]["BLEU"]
    return {"p_value": round(scores[1].p_value, 4), "gain": round(scores[1].score - scores[0].score, 2)}

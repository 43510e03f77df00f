"""What the experiments on translation share: pieces, batches, training, translating, scoring."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu
import torch
from sacrebleu.significance import PairedTest
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor

from bertlab.nn import Seq2Seq, Seq2SeqConfig, Transformer, TransformerConfig, beam_search, greedy_decode
from bertlab.nn.functional import cross_entropy
from bertlab.text import pad
from bertlab.training import fit, linear_decay, read_journal
from bertlab.training.bfloat16 import bfloat16_is_fast

PAD_ID, END_ID = 0, 1
CPU = torch.device("cpu")
BEAM, ALPHAS, LONGEST = 5, (0.0, 0.6, 1.0, 1.5), 80
SMOOTHING, WEIGHT_DECAY = 0.1, 0.01
CURVE = ("step", "loss", "val_loss", "val_bleu")

Texts = list[str]
References = Sequence[Sequence[Any]]  # list n has the nth reference of each sentence, None where it has fewer
Writer = Callable[[Tensor], list[list[int]]]


def train_bpe(texts: Iterable[str], pieces: int, han_apart: bool = False) -> Tokenizer:
    """Learn byte-level BPE, so that no word is unknown; with `han_apart` no piece spans two Chinese signs."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel()
    if han_apart:  # without the space that the line above puts before each text, for each sign is a text now
        signs = pre_tokenizers.Split(Regex(r"\p{Han}"), "isolated")
        bpe.pre_tokenizer = pre_tokenizers.Sequence([signs, pre_tokenizers.ByteLevel(add_prefix_space=False)])
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


def significance(baseline: Texts, system: Texts, references: References, **settings: Any) -> dict[str, float]:
    """Resample the test sentences in pairs, 1,000 times (Koehn 2004): is the gain luck of the test set?"""
    systems: list[tuple[str, Sequence[str]]] = [("baseline", baseline), ("system", system)]
    metric = {"BLEU": sacrebleu.BLEU(references=references, **settings)}
    scores: Any = PairedTest(systems, metric, references=None, test_type="bs", n_samples=1000)()[1]["BLEU"]
    return {"p_value": round(scores[1].p_value, 4), "gain": round(scores[1].score - scores[0].score, 2)}


def signature(metric: Any, references: References | None = None) -> str:
    """Say how a metric of sacreBLEU computes a score, with such references."""
    references = references or [["a"]]
    metric.corpus_score(references[0], references)
    return str(metric.get_signature())


class Corpus:
    """Sentences to translate, with their translations, as texts and as ids of pieces, the end token last.

    `texts` has for each split the sources and their references, the first of which is what a model learns
    from. `settings` are those of BLEU.
    """

    def __init__(
        self, tokenizer: Tokenizer, texts: dict[str, tuple[Texts, References]], **settings: Any
    ) -> None:
        self.tokenizer, self.settings = tokenizer, settings
        self.references = {split: references for split, (_, references) in texts.items()}
        self.source = {split: self._encoded(source) for split, (source, _) in texts.items()}
        self.target = {split: self._encoded(references[0]) for split, (_, references) in texts.items()}

    def _encoded(self, texts: Sequence[str]) -> list[list[int]]:
        return [[*e.ids, END_ID] for e in self.tokenizer.encode_batch(texts)]

    def pairs(self, split: str, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Lay some sentences of a split into tensors of ids (B, Ts) and (B, Tt)."""
        source, target = (pad([side[split][i] for i in rows], PAD_ID) for side in (self.source, self.target))
        return source, target

    def epoch_batches(self, epoch: int, seed: int, tokens: int) -> list[list[int]]:
        """Pack the training set into batches of about as many tokens: alike lengths, in random order."""
        rng = np.random.default_rng([seed, epoch])
        both = zip(self.source["train"], self.target["train"], strict=True)
        lengths = np.array([max(len(source), len(target)) for source, target in both])
        batches: list[list[int]] = [[]]
        for i in np.argsort(lengths + rng.random(len(lengths))):  # shorter ones first, equals in a new order
            if lengths[i] * (len(batches[-1]) + 1) > tokens:
                batches.append([])
            batches[-1].append(int(i))
        return [batches[i] for i in rng.permutation(len(batches))]

    def translate(self, split: str, write: Writer, batch: int = 100) -> Texts:
        """Translate a split in batches of alike lengths; the texts come back in the order of the split."""
        source = self.source[split]
        order = sorted(range(len(source)), key=lambda i: len(source[i]))
        texts = [""] * len(source)
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            found = self.tokenizer.decode_batch(write(pad([source[i] for i in rows], PAD_ID)))
            for i, text in zip(rows, found, strict=True):
                texts[i] = text.strip()
        return texts

    def timed(self, split: str, write: Writer) -> tuple[Texts, float]:
        """Translate a split: the texts, and sentences per core second."""
        start = time.process_time()
        texts = self.translate(split, write)
        return texts, len(texts) / (time.process_time() - start)

    def bleu(self, split: str, texts: Texts, **settings: Any) -> float:
        """Score translations of a split by sacreBLEU."""
        settings = self.settings | settings
        return float(sacrebleu.corpus_bleu(texts, self.references[split], **settings).score)

    def bleu_by_alpha(self, model: Any) -> dict[float, float]:
        """Try length penalties on the validation set, to use the best one on the test set."""
        return {
            alpha: round(self.bleu("val", self.translate("val", beam(model, alpha))), 2) for alpha in ALPHAS
        }


def greedy(model: Any) -> Writer:
    """Write greedily."""
    return lambda source: [until_end(row) for row in greedy_decode(model, source, LONGEST)[0].tolist()]


def beam(model: Any, alpha: float) -> Writer:
    """Write with a beam."""
    return lambda source: [
        until_end(list(found[0].ids)) for found in beam_search(model, source, LONGEST, BEAM, alpha)
    ]


class Run:
    """The training of one arm: its batches, and what is measured on the way."""

    def __init__(
        self, corpus: Corpus, config: Seq2SeqConfig | TransformerConfig, recipe: dict[str, Any], seed: int
    ) -> None:
        torch.manual_seed(seed)
        self.model = Seq2Seq(config) if isinstance(config, Seq2SeqConfig) else Transformer(config)
        self.corpus, self.recipe = corpus, recipe
        self.batches = lru_cache(maxsize=1)(lambda epoch: corpus.epoch_batches(epoch, seed, recipe["tokens"]))
        self.per_epoch = len(self.batches(0))  # the same in all: sorted lengths fill batches alike
        self.tokens, self.clock = 0, time.process_time()

    def loss(self, step: int) -> Tensor:
        """Mean loss of one batch, label smoothing included."""
        rows = self.batches(step // self.per_epoch)[step % self.per_epoch]
        source, targets = self.corpus.pairs("train", rows)
        self.tokens += int((source != PAD_ID).sum() + (targets != PAD_ID).sum())
        return cross_entropy(self.model(source, targets).logits, targets, PAD_ID, SMOOTHING)

    def evaluate(self) -> dict[str, float]:
        """Loss without smoothing and BLEU on the validation set, and the speed of training up to here."""
        speed = self.tokens / max(time.process_time() - self.clock, 1e-9)
        total, n_targets = 0.0, 0
        for rows in np.array_split(np.arange(len(self.corpus.source["val"])), 8):
            source, targets = self.corpus.pairs("val", rows.tolist())
            n = int((targets != PAD_ID).sum())
            total += n * float(cross_entropy(self.model(source, targets).logits, targets, PAD_ID))
            n_targets += n
        score = self.corpus.bleu("val", self.corpus.translate("val", greedy(self.model)))
        self.tokens, self.clock = 0, time.process_time()
        return {"val_loss": total / n_targets, "val_bleu": score, "tokens_per_core_second": speed}

    def fit(self, path: Path, float32_epochs: int | None = None) -> list[dict[str, Any]]:
        """Train to the end, or in float32 for a few epochs of the same schedule, and return the reports."""
        journal, steps = path.with_suffix(".jsonl"), self.recipe["epochs"] * self.per_epoch
        fit(
            self.model, self.loss, steps=(float32_epochs or self.recipe["epochs"]) * self.per_epoch,
            bf16=float32_epochs is None and bfloat16_is_fast(CPU), weight_decay=WEIGHT_DECAY,
            learning_rate=linear_decay(self.recipe["peak"], self.recipe["warmup"], steps),
            betas=self.recipe["betas"], evaluate=self.evaluate, report_every=self.per_epoch,
            journal=journal, checkpoint=path.with_suffix(".pt"), save_every=100,
        )  # fmt: skip
        return read_journal(journal)

    def summary(self, curve: list[dict[str, Any]]) -> dict[str, Any]:
        """Say how large the model is, what its training cost, and how it went, from the reports."""
        both = (self.corpus.source["train"], self.corpus.target["train"])
        tokens = sum(len(row) for side in both for row in side)
        speeds = [row["tokens_per_core_second"] for row in curve]
        return {
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "steps": curve[-1]["step"],
            "tokens_per_core_second": round(float(np.median(speeds))),
            "training_core_minutes": round(sum(tokens / speed for speed in speeds) / 60, 1),
            "curve": shortened(curve),
        }


def shortened(curve: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Keep of each report what a result shows."""
    return [{name: round(row[name], 4) for name in CURVE} for row in curve]


def most_similar(memory: list[list[int]], queries: list[list[int]], pieces: int) -> list[int]:
    """Find for each sentence the most similar one that is remembered (tf-idf of pieces, cosine)."""

    def counts(rows: list[list[int]]) -> Tensor:
        where = torch.tensor([(i, piece) for i, row in enumerate(rows) for piece in row]).T
        table = torch.zeros(len(rows), pieces)
        return table.index_put_(tuple(where), torch.tensor(1.0), accumulate=True)

    remembered, asked = counts(memory), counts(queries)
    idf = torch.log(len(memory) / (1 + (remembered > 0).sum(dim=0)))
    remembered, asked = (torch.nn.functional.normalize(x * idf, dim=1) for x in (remembered, asked))
    found: list[int] = (asked @ remembered.T).argmax(dim=1).tolist()
    return found


def core_seconds(rows: list[dict[str, Any]]) -> float:
    """Add up what arms cost: a resumed one counts its own seconds from its last interruption only."""
    return float(sum(max(row["seconds"], 60 * row["training_core_minutes"]) for row in rows))

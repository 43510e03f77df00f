"""Small BERTs on real text, one thing varied at a time: what the ablations of pre-training share.

All train on the text of the shipped checkpoints, with its vocabulary of 8,192 pieces, for the same number of
steps, and are asked the same questions about books and articles that none of them has read. An arm is the
usual recipe with some of its choices (`CHOICES`) changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from _bert_answers import judge, left_only, measure, questions
from _bert_corpus import FOLDER, shards
from _bert_held_out import next_sentences
from _bert_vocabulary import tokenizer
from bertlab.interop import load_bert
from bertlab.nn import BertConfig, BertForPreTraining, BertModel
from bertlab.nn.bert_heads import at
from bertlab.nn.losses import cross_entropy
from bertlab.nn.neighbours import look_beside
from bertlab.nn.positions import sinusoidal_positions
from bertlab.text import Corpus, Masker, PretrainingBatch, WordPiece, sentence_pairs
from bertlab.text.masked_lm import SHARES, Ids
from bertlab.text.next_sentence import Pairs
from bertlab.text.pretraining_examples import epoch_order, pair_batch
from bertlab.training import fit, linear_decay
from bertlab.training.bfloat16 import InBfloat16
from bertlab.training.journal import read_journal
from bertlab.training.memory import keep_freed_memory
from bertlab.training.pretrain import Objective, batch_loss
from bertlab.training.pretrain_config import PretrainConfig
from bertlab.training.pretrain_start import begin_with

LENGTH, BATCH, STEPS = 64, 32, 3000
WARM_UP, WEIGHT_DECAY = 300, 0.01  # the first: steps
WATCHED, REPORTS = 256, 12  # pairs of books that are asked about, so many times while a model trains
CHOICES: dict[str, Any] = {
    "layers": 2,
    "width": 128,
    "heads": 4,  # with "look beside", two places to each side from the start
    "rate": 0.15,  # of the pieces that are asked for
    "shares": SHARES,  # of them: [MASK], a random piece, the same
    "pairs": "half are noise",  # or "all are true"
    "next_sentence": True,  # is the second loss there?
    "left_to_right": False,  # predict the next piece everywhere, instead of hidden ones
    "first_weights": "look beside",  # or another of `FIRST_WEIGHTS`
    "examples": 0,  # so many pairs are drawn once and repeated; 0: all, drawn anew in every epoch
    "masks": 0,  # of each example so many are drawn and used in turn; 0: a new one in every epoch
    "vocabulary": "trained",  # or "cut"
    "start": "",  # a trained BERT whose weights it begins with, instead of sizes and first weights
    "peak": 2e-3,  # highest learning rate
    "steps": STEPS,
    "warm_up": WARM_UP,  # steps to the highest rate
}


class Reading:
    """The batches of a training, by their numbers.

    Parameters
    ----------
    corpus, vocab : what is read.
    choices : all of `CHOICES`.
    seed : of pairs, order and masks.
    """

    def __init__(self, corpus: Corpus, vocab: WordPiece, choices: dict[str, Any], seed: int) -> None:
        self.corpus, self.choices, self.seed = corpus, choices, seed
        self.masker = Masker(vocab, seed, choices["rate"], choices["shares"])
        self._first = [0]  # batch of each epoch
        self._epoch, self._pairs, self._order = -1, *self._plan(0)

    def __call__(self, number: int) -> PretrainingBatch:
        """Make a batch."""
        while number >= self._first[-1]:
            self._open(len(self._first) - 1)
            self._first.append(self._first[-1] + len(self._order) // BATCH)
        epoch = int(np.searchsorted(self._first, number, "right")) - 1
        self._open(epoch)
        rows = self._order[(number - self._first[epoch]) * BATCH :][:BATCH]
        batch = pair_batch(self.corpus, self._pairs, rows, self.masker.vocab, LENGTH)
        mask = epoch % self.choices["masks"] if self.choices["masks"] else epoch
        ids, positions, labels = self.masker.mask_sparse(batch.ids, rows, mask)
        return PretrainingBatch(ids, batch.segments, batch.mask, positions, labels, self._pairs.labels[rows])

    def _open(self, epoch: int) -> None:
        if self._epoch != epoch:
            self._epoch, self._pairs, self._order = epoch, *self._plan(epoch)

    def _plan(self, epoch: int) -> tuple[Pairs, Ids]:
        """Draw the pairs of an epoch, and the order of those that are read."""
        examples, wanted = self.choices["examples"], self.choices["pairs"]
        pairs = sentence_pairs(self.corpus, self.seed, 0 if examples else epoch, LENGTH)
        order = epoch_order(len(pairs), self.seed, 0 if examples else epoch)
        if wanted == "all are true":
            order = order[pairs.labels[order] == 0]
        elif wanted != "half are noise":
            raise ValueError(f"pairs = {wanted!r}: choose 'half are noise' or 'all are true'")
        if examples:
            order = order[:examples][epoch_order(examples, self.seed, epoch)]
        return pairs, order


class NextPiece(nn.Module):
    """The loss of a left-to-right language model with BERT's layers and head: the mean over all positions.

    Parameters
    ----------
    model : what is trained.
    """

    def __init__(self, model: BertForPreTraining) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, segments: Tensor) -> Tensor:
        """Read (B, T) ids, unmasked; the loss is in nats."""
        real = ids != self.model.config.pad_id
        following = torch.nonzero(real[:, 1:].flatten())[:, 0]  # of T - 1 columns
        states = self.model.bert(ids, segments, left_only(ids, self.model)).states[:, :-1]
        logits = self.model.masked_lm(at(states, following), self.model.bert.embeddings.token.weight)
        return cross_entropy(logits, ids[:, 1:].flatten()[following])


def unmasked(batch: PretrainingBatch) -> Ids:
    """Put back what stood at the chosen positions: (B, T)."""
    ids = batch.ids.copy()
    ids.reshape(-1)[batch.positions] = batch.labels
    return ids


@torch.no_grad()
def begin_as_sinusoids(bert: BertModel) -> None:
    """Let learned positions begin as sinusoids, as large as the tokens' first vectors."""
    table = bert.embeddings.position.weight
    table.copy_(0.02 * 2**0.5 * sinusoidal_positions(*table.shape))


@torch.no_grad()
def look_with_half_empty_tokens(bert: BertModel) -> None:
    """Let two heads look, and leave positions as much room as two heads of half the width would need."""
    look_beside(bert, (-1, 1))
    bert.embeddings.token.weight[:, : bert.config.d_model // 2] = 0


FIRST_WEIGHTS: dict[str, Callable[[BertModel], object]] = {
    "as published": lambda bert: None,
    "sinusoids": begin_as_sinusoids,
    "room for sinusoids": lambda bert: look_beside(bert, ()),  # tokens begin at 0 in the fastest waves
    "look one place beside": lambda bert: look_beside(bert, (-1, 1)),
    "look one place beside, half empty": look_with_half_empty_tokens,
    "look beside": look_beside,
}


def make(choices: dict[str, Any], vocab: WordPiece, seed: int) -> BertForPreTraining:
    """Make a model, with new weights or with those of `start` and new heads."""
    if choices["start"]:
        config = PretrainConfig(
            shards=("-",),
            out="-",
            vocab=str(FOLDER / f"{choices['vocabulary']}.txt"),
            start=choices["start"],
            steps=choices["steps"],
            next_sentence=choices["next_sentence"],
            dropout=0.0,
            seed=seed,
        )
        return begin_with(config, load_bert, lambda said: None)[0]
    torch.manual_seed(seed)
    width = choices["width"]
    sizes = {"n_layers": choices["layers"], "d_model": width, "d_ff": 4 * width, "n_heads": choices["heads"]}
    model = BertForPreTraining(
        BertConfig(vocab_size=len(vocab), max_positions=LENGTH, dropout=0.0, attention_dropout=0.0, **sizes),
        choices["next_sentence"],
    )
    if (kind := choices["first_weights"]) not in FIRST_WEIGHTS:
        raise ValueError(f"first_weights = {kind!r}: choose among {list(FIRST_WEIGHTS)}")
    FIRST_WEIGHTS[kind](model.bert)
    return model


def train(changes: dict[str, Any], seed: int, path: Path) -> tuple[BertForPreTraining, dict[str, Any]]:
    """Train one arm.

    Parameters
    ----------
    changes : to `CHOICES`.
    seed : of everything.
    path : without suffix; of the checkpoint.

    Returns
    -------
    model : in evaluation mode.
    record : its curves. `held_out_accuracy` is with the text masked as in training, `held_out_hidden` with
        all that is asked for hidden. `n_targets` counts the pieces that were asked for, `core_seconds` the
        training alone.
    """
    keep_freed_memory()
    if unknown := changes.keys() - CHOICES.keys():
        raise ValueError(f"unknown choices {sorted(unknown)}: choose among {sorted(CHOICES)}")
    choices = CHOICES | changes
    name = choices["vocabulary"]
    vocab = tokenizer(name)
    reading = Reading(shards(name, vocab), vocab, choices, seed)
    model, steps = make(choices, vocab, seed), choices["steps"]
    loss, notes = loss_of(model, reading, choices["left_to_right"])
    asked, hidden = (questions("books", kind, WATCHED, LENGTH, name) for kind in ("as trained", "hidden"))
    watched = {"begun": time.process_time(), "examining": 0.0}

    def evaluate() -> dict[str, float]:
        begun = time.process_time()
        found = measure(model, asked, choices["left_to_right"])
        numbers = {f"held_out_{name}": found[name] for name in ("accuracy", "loss")}
        numbers["held_out_hidden"] = measure(model, hidden, choices["left_to_right"])["accuracy"]
        if choices["next_sentence"]:
            numbers["held_out_next_sentence"] = next_sentences(asked, judge(model))["accuracy"]
        numbers["core_seconds"] = round(begun - watched["begun"] - watched["examining"], 1)
        watched["examining"] += time.process_time() - begun
        return numbers

    journal = path.with_suffix(".jsonl")
    journal.unlink(missing_ok=True)  # an arm is short: it is begun anew, so that its seconds are its own
    fit(
        model,
        loss,
        steps=steps,
        learning_rate=linear_decay(choices["peak"], choices["warm_up"], steps + 1),
        weight_decay=WEIGHT_DECAY,
        eps=1e-6,
        evaluate=evaluate,
        report_every=max(steps // REPORTS, 1),
        journal=journal,
        notes=notes,
        fused=True,
    )
    curve = [
        {name: round(value, 4) for name, value in line.items() if name not in ("seconds", "rate", "norm")}
        for line in read_journal(journal)
    ]
    return model.eval(), {"parameters": sum(p.numel() for p in model.parameters()), "curve": curve}


Loss = Callable[[int], Tensor]
Notes = Callable[[], dict[str, float]]


def loss_of(model: BertForPreTraining, reading: Reading, left_to_right: bool) -> tuple[Loss, Notes]:
    """Give the loss of a batch by its number, and what tells how much it has read and been asked."""
    masked, next_piece = InBfloat16(Objective(model)), InBfloat16(NextPiece(model))
    told = dict[str, float]()

    def loss(number: int) -> Tensor:
        batch = reading(number)
        tokens = int(batch.mask.sum())
        told.update(n_tokens=tokens, n_targets=tokens - BATCH if left_to_right else len(batch.labels))
        if left_to_right:
            found: Tensor = next_piece(torch.from_numpy(unmasked(batch)), torch.from_numpy(batch.segments))
            return found
        masked_lm, next_sentence = batch_loss(masked, batch, torch.device("cpu"))
        told["masked_lm"] = masked_lm.item()
        return masked_lm + next_sentence

    return loss, lambda: told

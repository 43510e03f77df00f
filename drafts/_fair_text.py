"""What the arms of `fair_comparison` read, and the missing pieces of text that none of them has read.

The text is that of the shipped checkpoints, `_bert_corpus`, in the first 4,096 of their 8,192 pieces:
training finds pieces one after the other, so these are what a training of half the size finds. Half of a
softmax is half of what small models compute.

Held out are three books and wikitext-2. Of every four documents (chapters, articles) the first is for
choosing, the others for testing. They are read as running text, in stretches of full length, and in each a
few pieces are asked for, each alone, with all others shown. So the mean loss of a model that is asked in this
way is its pseudo-log-likelihood per piece, with a minus (Salazar et al. 2020); of a GPT, that of its
likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from _arms_made import Size, World
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from _bert_corpus import held_out_documents, training_documents
from _bert_held_out import Answers, Exam, Question
from _bert_vocabulary import tokenizer
from _ngrams import one_row
from _two_sided import START, TwoSided, everywhere, fitted
from bertlab.text import Corpus, ShardsError, WordPiece, open_shards, tokenise, write_shards
from bertlab.text.masked_lm import kinds
from bertlab.text.stretches import Stretches
from bertlab.training.results import RUNS

FOLDER = RUNS / "fair_comparison_text"
PIECES, BATCH = 4096, 32
SIZE = Size(width=64, layers=2, heads=4, length=64)
SETS, CHOOSING = ("books", "wikitext-2"), 4  # of so many documents, one
SHORTEST, SEED = 24, 20181011  # positions of a text that is asked about
Answer = Callable[[Tensor, Tensor], Tensor]  # as `Arm.log_p`


@cache
def vocabulary(fast: bool = False) -> WordPiece:
    """Load the pieces; fast: cut by the Rust library, which gives offsets quickly."""
    pieces = tokenizer("trained").vocab[:PIECES]
    return WordPiece(pieces, fast=True) if fast else WordPiece(pieces, recognise_special=True)


@cache
def world() -> World:
    """Open the training text; write it first, where it is not there (three minutes)."""
    folder, vocab = FOLDER / str(PIECES), vocabulary()
    corpus: Corpus
    try:
        corpus = open_shards(folder, vocab)
    except ShardsError:
        if (folder / "index.json").exists():  # of another vocabulary, or damaged
            raise
        corpus = write_shards(folder, training_documents().documents, vocab)
    return World(vocab, corpus, SIZE, BATCH, pairs=True)


class Blanks(NamedTuple):
    """Missing pieces."""

    texts: Tensor  # (N, T)
    positions: Tensor  # (M,) row * T + column
    answers: Tensor  # (M,) what stands there

    @property
    def rows(self) -> NDArray[np.int64]:
        """(M,) number of the text of each piece."""
        return np.asarray(self.positions // self.texts.shape[1])


@cache
def blanks(name: str, testing: bool, n: int, each: int) -> Blanks:
    """Ask for some pieces of some texts of a held-out set.

    Parameters
    ----------
    name : of `SETS`.
    testing : the documents for testing, or those for choosing.
    n, each : texts, and pieces of each.
    """
    vocab = vocabulary()
    documents = [one for i, one in enumerate(held_out_documents()[name]) if (i % CHOOSING > 0) == testing]
    ordinary, rng = torch.from_numpy(kinds(vocab).ordinary), np.random.default_rng(SEED)
    rows, places = list[Tensor](), list[tuple[int, int]]()
    for batch in Stretches(tokenise(documents, vocab), vocab, SIZE.length, 1, SEED).batches(0):
        row = torch.from_numpy(batch.ids[0])
        asked = ordinary[row].nonzero()[:, 0].numpy()
        if len(row) < SHORTEST or len(asked) < each:
            continue
        places += [(len(rows), int(column)) for column in rng.permutation(asked)[:each]]
        rows.append(row)
        if len(rows) == n:
            break
    texts = pad_sequence(rows, True, vocab.pad_id)
    positions = torch.tensor([row * texts.shape[1] + column for row, column in places])
    return Blanks(texts, positions, texts.flatten()[positions])


def together(some: Sequence[Blanks]) -> Blanks:
    """Put several sets of missing pieces, whatever their length, into one."""
    texts, places, before = [], [], 0
    for one in some:
        texts.append(F.pad(one.texts, (0, SIZE.length - one.texts.shape[1]), value=vocabulary().pad_id))
        T = one.texts.shape[1]
        places.append((one.positions // T + before) * SIZE.length + one.positions % T)
        before += len(one.texts)
    return Blanks(torch.cat(texts), torch.cat(places), torch.cat([one.answers for one in some]))


@torch.no_grad()
def answered(answer: Answer, asked: Blanks) -> NDArray[np.float64]:
    """Say of each piece its loss, and whether it is the likeliest: (M, 2)."""
    return judged(answer(asked.texts, asked.positions), asked)


def judged(log_p: Tensor, asked: Blanks) -> NDArray[np.float64]:
    """Judge log probabilities (M, V); a piece that shares its score with others comes behind them."""
    wanted = log_p.gather(1, asked.answers[:, None])
    first = (log_p >= wanted).sum(1) <= 1
    return torch.stack([-wanted[:, 0].double(), first.double()], 1).numpy()


def means(values: NDArray[np.float64]) -> dict[str, float]:
    """Mean loss in nats, and share of pieces that are the likeliest."""
    loss, accuracy = values.mean(0).tolist()
    return {"loss": round(loss, 4), "accuracy": round(accuracy, 4)}


def by_text(values: NDArray[np.float64], asked: Blanks) -> dict[str, list[list[float]]]:
    """Sum loss and hits of each text, beside its number of pieces, as `_comparison` wants them."""
    counts = np.bincount(asked.rows).astype(float)
    return {
        name: np.stack([np.bincount(asked.rows, column), counts], 1).round(4).tolist()
        for name, column in zip(("loss", "accuracy"), values.T, strict=True)
    }


def as_exam(asked: Blanks, at_once: int = 64) -> Exam:
    """Ask the same of n-grams: each piece in a copy of its text, with [MASK] in its place."""
    vocab, T, found = vocabulary(), asked.texts.shape[1], Exam()
    for some, answers in zip(asked.positions.split(at_once), asked.answers.split(at_once), strict=True):
        ids, numbers = asked.texts[some // T], torch.arange(len(some))
        ids[numbers, some % T] = vocab.mask_id
        arrays = (ids, torch.zeros_like(ids), ids != vocab.pad_id, numbers * T + some % T)
        nothing = np.zeros(len(some), np.int64)
        found.append((Question(*(array.numpy() for array in arrays)), Answers(answers.numpy(), nothing)))
    return found


def counting(sizes: dict[bool, tuple[int, int]]) -> dict[str, Any]:
    """Let n-grams, counted on the training text, answer the same.

    Parameters
    ----------
    sizes : texts and pieces of each, of testing (True) and of choosing, where the weights are fitted.

    Returns
    -------
    of each set, of each kind of counting, what `means` and `by_text` give.
    """
    model = TwoSided(one_row(world().corpus), vocabulary())
    fitted_on = [pair for name in SETS for pair in as_exam(blanks(name, False, *sizes[False]))]
    weights = {
        "from the left": everywhere([1, 0, 0, 0, 0, 0]),
        "from the right": everywhere([0, 1, 0, 0, 0, 0]),
        "left times right": everywhere(START),
        "all counts, weighted": fitted(model, fitted_on),
    }
    found: dict[str, Any] = {}
    for name in SETS:
        asked, rows = blanks(name, True, *sizes[True]), dict[str, list[Tensor]]()
        for question, _ in as_exam(asked):
            said = {"unigram": model.unigram_scores(question)}
            said |= {kind: model.scores(question, weight) for kind, weight in weights.items()}
            for kind, scores in said.items():
                rows.setdefault(kind, []).append(torch.from_numpy(np.array(scores)).log_softmax(-1))
        values = {kind: judged(torch.cat(some), asked) for kind, some in rows.items()}
        found[name] = {kind: {**means(one), "each": by_text(one, asked)} for kind, one in values.items()}
    return found

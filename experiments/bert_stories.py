"""How near does a small BERT come to the best possible, on stories whose every word has a known probability?

The world of notebook 09: four plots of the synthetic stories, a BERT of 2 layers of 64, masked words and next
sentences. Varied: the first weights, and how long it trains. Asked are blanks in held-out stories, beside the
exact posterior; of these, names (which must be copied from elsewhere in the story) and all other words apart;
and whether one sentence follows another, beside its posterior.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bertlab.datasets.stories import default_grammar, hide_words, next_sentence_posterior, sample_stories
from bertlab.nn import BertConfig, BertForPreTraining
from bertlab.nn.neighbours import look_beside
from bertlab.text import SPECIAL, Masker, PretrainingExamples, WordPiece, pad_batch, pair_inputs, tokenise
from bertlab.text.inputs import Batch
from bertlab.training import fit, linear_decay, run_arms, save_result
from bertlab.training.journal import read_journal
from bertlab.training.pretrain import Objective, batch_loss

NAME = "bert_stories"
QUESTION = "How near does a small BERT come to the best possible on synthetic stories, and how fast?"
PLOTS = ("ballgame", "cave", "fishing", "savings")
SEEDS = (0, 1, 2)
STEPS = (1200, 4800)
STORIES, ASKED, PAIRS, BATCH, LENGTH, RATE, PEAK = 4000, 300, 400, 16, 128, 0.4, 3e-3
NEVER = frozenset({"Mr.", "Mrs."})  # two pieces each
GRAMMAR = default_grammar(*PLOTS)
Sentences = list[list[str | None]]


@cache
def vocabulary() -> WordPiece:
    """Give every word of the world one piece."""
    stories = sample_stories(np.random.default_rng(0), STORIES, grammar=GRAMMAR)
    words = {word.removesuffix(".") or "." for story in stories for words in story.words for word in words}
    return WordPiece([*SPECIAL, *sorted(words)], lowercase=False)


def pieces(sentences: Any) -> list[int]:
    """Numbers of the words of some sentences; a hidden one reads [MASK]."""
    vocab = vocabulary()
    read = [
        [vocab.mask_id] if word is None else vocab.encode(word).ids for words in sentences for word in words
    ]
    return [piece for word in read for piece in word]


class Exam(NamedTuple):
    """Questions with answers, and how often the best answers are right."""

    batch: Batch
    answers: np.ndarray
    best: np.ndarray  # for each question the chance of the best answer
    names: np.ndarray  # which answers are names


@cache
def blanks() -> Exam:
    """Hide words of held-out stories."""
    rng, vocab = np.random.default_rng(1), vocabulary()
    stories = sample_stories(rng, ASKED, held_out=True, grammar=GRAMMAR)
    asked = [hide_words(story, rng, never=NEVER, grammar=GRAMMAR) for story in stories]
    rows = [pair_inputs(pieces(one.sentences[:3]), pieces(one.sentences[3:]), vocab) for one in asked]
    words = [word for one in asked for word in one.answers]
    return Exam(
        pad_batch(rows),
        np.array([vocab.ids[word] for word in words]),
        np.array([max(chances.values()) for one in asked for chances in one.chances]),
        np.array([word in GRAMMAR.name_words for word in words]),
    )


@cache
def neighbours() -> Exam:
    """Ask whether a sentence follows another: half of the pairs are neighbours, half of two stories."""
    rng = np.random.default_rng(2)
    told = [story.words for story in sample_stories(rng, 2 * PAIRS, held_out=True, grammar=GRAMMAR)]
    rows, best = [], []
    for k, (story, other) in enumerate(zip(told[::2], told[1::2], strict=True)):
        i = int(rng.integers(len(story) - 1))
        second = other[int(rng.integers(len(other)))] if k % 2 else story[i + 1]
        rows.append(pair_inputs(pieces([story[i]]), pieces([second]), vocabulary()))
        true = next_sentence_posterior([story[i]], [second], GRAMMAR)
        best.append(max(true, 1 - true))
    labels = np.arange(PAIRS) % 2
    return Exam(pad_batch(rows), labels, np.array(best), np.zeros(PAIRS, bool))


def bounds() -> dict[str, float]:
    """Say how often the best answers are right: the optimum, and that of the most frequent word."""
    asked = blanks()
    kinds = {"words": asked.best, "names": asked.best[asked.names], "others": asked.best[~asked.names]}
    found = {name: round(float(best.mean()), 4) for name, best in kinds.items()}
    frequent = np.bincount(asked.answers).max() / len(asked.answers)
    half = 1.96 * float(asked.best.std()) / len(asked.best) ** 0.5
    rest = {"next_sentence": neighbours().best.mean(), "most_frequent_word": frequent, "half_width": half}
    return found | {name: round(float(value), 4) for name, value in rest.items()}


@torch.no_grad()
def measure(model: BertForPreTraining) -> dict[str, float]:
    """Ask a model everything."""
    asked, pairs = blanks(), neighbours()
    ids, segments = torch.from_numpy(asked.batch.ids), torch.from_numpy(asked.batch.segments)
    places = (ids.flatten() == vocabulary().mask_id).nonzero()[:, 0]
    right = model(ids, segments, positions=places).logits.argmax(-1).numpy() == asked.answers
    ids, segments = torch.from_numpy(pairs.batch.ids), torch.from_numpy(pairs.batch.segments)
    judged = model(ids, segments, positions=places[:0]).next_logits.argmax(-1).numpy() == pairs.answers
    found = {"words": right, "names": right[asked.names], "others": right[~asked.names]}
    return {name: round(float(hits.mean()), 4) for name, hits in (found | {"next_sentence": judged}).items()}


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, and look at it now and then."""
    torch.manual_seed(arm["seed"])
    vocab = vocabulary()
    sizes: dict[str, Any] = {"d_model": 64, "n_layers": 2, "n_heads": 4, "d_ff": 256, "max_positions": LENGTH}
    model = BertForPreTraining(BertConfig(vocab_size=len(vocab), dropout=0.0, attention_dropout=0.0, **sizes))
    if arm["first_weights"] == "look beside":
        look_beside(model.bert)
    stories = sample_stories(np.random.default_rng(arm["seed"]), STORIES, grammar=GRAMMAR)
    corpus = tokenise([story.document for story in stories], vocab)
    examples = PretrainingExamples(corpus, Masker(vocab, arm["seed"], RATE), LENGTH, BATCH)
    objective, n = Objective(model), examples.n_batches(0) - 20  # epochs have a few more or less
    begun, examining = time.process_time(), 0.0

    def loss(number: int) -> Tensor:
        masked_lm, next_sentence = batch_loss(
            objective, examples.batch(number // n, number % n), torch.device("cpu")
        )
        return masked_lm + next_sentence

    def evaluate() -> dict[str, float]:
        nonlocal examining
        start = time.process_time()
        found = measure(model) | {"core_seconds": round(start - begun - examining, 1)}
        examining += time.process_time() - start
        return found

    journal, steps = path.with_suffix(".jsonl"), arm["steps"]
    journal.unlink(missing_ok=True)
    fit(
        model,
        loss,
        steps=steps,
        learning_rate=linear_decay(PEAK, steps // 10, steps + 1),
        weight_decay=0.01,
        evaluate=evaluate,
        report_every=steps // 12,
        journal=journal,
    )
    wanted = ("step", "words", "names", "others", "next_sentence", "core_seconds")
    return {"curve": [{name: row[name] for name in wanted} for row in read_journal(journal)]}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [
        {"first_weights": first, "steps": steps, "seed": seed}
        for steps in STEPS for first in ("look beside", "as published") for seed in SEEDS
    ]  # fmt: skip
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings = {"plots": PLOTS, "batch": BATCH, "rate": RATE, "peak": PEAK, "blanks": len(blanks().answers)}
    results = {"settings": settings, "bounds": bounds(), "arms": rows}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()

"""Two directions glued together: how near do they come to the best guess from both sides?

The synthetic stories of notebook 09: the exact chance of every word is known, from what stands left of it,
and from both sides. A small ELMo of whole words (2 layers, states of 64, memories of 128) reads them. Its
forward direction is held beside the optimum from the left; both directions, multiplied by Bayes' rule, beside
the optimum from both sides. Where gluing loses, no further training of the two directions can help: the rule
takes left and right as independent given the word, and no state has seen both.

Decided before the run: three seeds, two lengths of training, words drawn evenly out of held-out stories.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from _elmo_text import DIRECTIONS, together
from bert_stories import GRAMMAR, NEVER, PLOTS, STORIES, pieces, vocabulary
from bertlab.datasets.stories import posterior, sample_stories
from bertlab.nn import ELMoConfig, ELMoForPreTraining
from bertlab.text import pad_batch, tokenise
from bertlab.text.inputs import Batch, pair_inputs
from bertlab.text.stretches import Stretches
from bertlab.training import fit, linear_decay, run_arms, save_result
from bertlab.training.journal import read_journal
from bertlab.training.pretrain_elmo import both_ways

NAME = "elmo_stories"
QUESTION = "How near do two directions glued together come to the best guess from both sides?"
SEEDS, STEPS = (0, 1, 2), (300, 1200)
SIZES: dict[str, Any] = {"d_model": 64, "d_memory": 128, "n_layers": 2, "dropout": 0.0, "n_characters": 0}
BATCH, LENGTH, PEAK, ASKED, EACH = 8, 160, 1e-2, 300, 3  # stories that are asked about, words of each
Floats = NDArray[np.float64]


class Exam(NamedTuple):
    """Words of held-out stories, and what the best guesses know of them."""

    batch: Batch
    rows: NDArray[np.int64]  # (M,) the story of each word
    places: NDArray[np.int64]  # (M,) its place in the row
    answers: NDArray[np.int64]  # (M,)
    best: dict[str, Floats]  # from the "left", from "both" sides: (M,) chance of the likeliest word
    true: dict[str, Floats]  # (M,) chance of the word that stands there


@cache
def exam() -> Exam:
    """Draw words of held-out stories, and compute the exact chances."""
    rng, vocab = np.random.default_rng(5), vocabulary()
    stories = sample_stories(rng, ASKED, held_out=True, grammar=GRAMMAR)
    rows, places, answers = list[int](), list[int](), list[int]()
    best: dict[str, list[float]] = {"left": [], "both": []}
    true: dict[str, list[float]] = {"left": [], "both": []}
    for number, story in enumerate(stories):
        every = [(i, j) for i, some in enumerate(story.words) for j in range(len(some))]
        free = [k for k, (i, j) in enumerate(every) if story.words[i][j] not in NEVER]
        for k in sorted(rng.choice(free, EACH, replace=False).tolist()):
            i, j = every[k]
            before = pieces([[story.words[a][b]] for a, b in every[:k]])
            rows.append(number)
            places.append(1 + len(before))  # [CLS] stands at 0
            answers.append(vocab.ids[story.words[i][j]])
            for side in best:
                chances = posterior(story.words, (i, j), left_only=side == "left", grammar=GRAMMAR)
                best[side].append(max(chances.values()))
                true[side].append(chances[story.words[i][j]])
    batch = pad_batch([pair_inputs(pieces(story.words), None, vocab) for story in stories])
    return Exam(
        batch,
        np.array(rows),
        np.array(places),
        np.array(answers),
        {side: np.array(some) for side, some in best.items()},
        {side: np.array(some) for side, some in true.items()},
    )


def bounds() -> dict[str, Any]:
    """Tell how often the best guesses are right, and how much they are surprised at the words (nats)."""
    asked = exam()
    return {
        side: {
            "accuracy": round(float(asked.best[side].mean()), 4),
            "half_width": round(1.96 * float(asked.best[side].std()) / len(asked.answers) ** 0.5, 4),
            "loss": round(float(-np.log(asked.true[side]).mean()), 4),
        }
        for side in asked.best
    }


@torch.no_grad()
def guesses(model: ELMoForPreTraining, alone: Floats) -> dict[str, Floats]:
    """Say what each direction and both, glued, guess at the words asked for: (M, V) log probabilities."""
    asked = exam()
    said = model(torch.from_numpy(asked.batch.ids), torch.from_numpy(asked.batch.mask))
    of_next, of_previous = (
        scores[asked.rows, asked.places + step].double().log_softmax(-1).numpy()
        for scores, step in ((said.of_next, -1), (said.of_previous, 1))
    )
    return together(of_next, of_previous, alone)


def measure(model: ELMoForPreTraining, alone: Floats) -> dict[str, float]:
    """Give accuracy and loss of each direction, and of both."""
    answers, found = exam().answers, dict[str, float]()
    for direction, scores in guesses(model, alone).items():
        right = scores.argmax(-1) == answers
        found[f"{direction}_accuracy"] = float(right.mean())
        found[f"{direction}_loss"] = float(-scores[np.arange(len(answers)), answers].mean())
    return found


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model, and look at it now and then."""
    torch.manual_seed(arm["seed"])
    vocab = vocabulary()
    stories = sample_stories(np.random.default_rng(arm["seed"]), STORIES, grammar=GRAMMAR)
    corpus = tokenise([story.document for story in stories], vocab)
    counts = 1 + np.bincount(np.concatenate(corpus.shards), minlength=len(vocab))
    alone = np.log(counts / counts.sum())
    model = ELMoForPreTraining(ELMoConfig(vocab_size=len(vocab), **SIZES))
    stretches, losses = Stretches(corpus, vocab, LENGTH, BATCH, arm["seed"]), both_ways(model)
    n = stretches.n_batches(0)

    def loss(number: int) -> torch.Tensor:
        return losses(*map(torch.from_numpy, stretches.batch(number // n, number % n)))[0]

    journal, steps = path.with_suffix(".jsonl"), arm["steps"]
    journal.unlink(missing_ok=True)  # an arm is short: it is begun anew
    fit(
        model,
        loss,
        steps=steps,
        learning_rate=linear_decay(PEAK, steps // 10, steps + 1),
        weight_decay=0.0,
        evaluate=lambda: measure(model, alone),
        report_every=steps // 8,
        journal=journal,
    )
    wanted = [f"{direction}_{what}" for direction in DIRECTIONS for what in ("accuracy", "loss")]
    rows = read_journal(journal)
    return {"curve": [{"step": row["step"]} | {k: round(row[k], 4) for k in wanted} for row in rows]}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [{"steps": steps, "seed": seed} for steps in STEPS for seed in SEEDS]
    rows = run_arms(NAME, arms, train_and_test, parser.parse_args().workers)
    settings = {"plots": PLOTS, "sizes": SIZES, "batch": BATCH, "peak": PEAK, "words": len(exam().answers)}
    results = {"settings": settings, "bounds": bounds(), "arms": rows}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()

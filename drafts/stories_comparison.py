"""How much of what a language model misses is its architecture, and how much the context that it cannot see?

The world of notebook 09: four plots of the synthetic stories, in which the chance of every word is known
exactly, from the left, from the right and from both sides. Static vectors (CBOW), ELMo, GPT, two GPTs glued
together and BERT learn it, and are asked for single missing words of held-out stories, each in its own right
way (`_arms`). An answer is judged by the whole posterior (`_story_exam`), so that

    loss - optimum  =  (loss - what its context allows)  +  (what its context allows - optimum)
                            learning: architecture                 missing context

What its context allows is, for GPT, the posterior from the left; for two readers that never meet, the product
of both one-sided posteriors: what their opinions allow, if each were perfect; for BERT the optimum itself.

Equal: the stories and their order; parameters, to a percent; a step's stories; warm-up, decay, clipping; no
dropout; 10 looks at the same validation stories. All Transformers begin with heads that look at neighbours
(BERT to both sides, GPTs back), as new weights as published stand on a plateau for most of so short a time
(notebook 09, section 7). Each arm is trained twice with each seed:

    "same tokens"    all read 0.45 million pieces
    "same seconds"   all train for as long as the slowest of them takes for that; for the slowest they are one

Seconds are those of such small steps on one core. An LSTM reads piece after piece, however many texts a step
has; with more of them, or on a GPU, they would compare otherwise.

Not equal, and cannot be: what is asked of a text (GPT all its pieces, two readers all of them twice, BERT 15
in 100); LSTMs have no heads, CBOW no layers; two readers share the parameters of one, so each has half of
what reads (an arm beside the others has two whole ones). BERT reads whole stories without next sentences:
nothing in a missing word needs them. The highest learning rate of each arm is chosen of three, by a training
of a quarter of the seconds with the first seed, on validation stories; beside it, nothing was tried.

Beside the others, for the same seconds only: two GPTs each as large as the one; BERT with 40 % of the pieces
hidden, as in notebook 09. Two readers' opinions are joined with three weights, fitted on validation stories;
beside that, by Bayes' rule alone, and by a layer trained on top of both states (`_glue`), which needs no
opinions. Words with two senses are probed in all layers, beside the exact chance of the sense, from the left
and from both sides.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from _arms import Arm, TwoSidedArm, joined
from _arms_made import Size, World, make, parameters
from _arms_training import Feed, plan, speeds, train
from _glue import adjust, trained_top, weights_of
from _story_exam import KNOWN, Exam, answered, exam, judged, logarithms, means, probed, senses
from torch import Tensor

from _comparison import Each, difference, each_of, interval, told
from bert_stories import GRAMMAR, PLOTS, vocabulary
from bertlab.datasets.stories import sample_stories
from bertlab.text import tokenise
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "stories_comparison"
QUESTION = "How much of what a model misses is its architecture, and how much the context it cannot see?"
SIZE, BATCH, STORIES, TOKENS, SEEDS = Size(64, 2, 4, 128), 16, 20_000, 450_000, 3
ARMS = ("CBOW", "ELMo", "GPT", "two GPTs", "BERT")
BESIDE = {
    "two GPTs, each whole": "two GPTs",
    "BERT, 40 % hidden": "BERT",
}  # and whose learning rate they take
RATES = {arm: (3e-3, 1e-2, 3e-2) if arm == "CBOW" else (1e-3, 3e-3, 1e-2) for arm in ARMS}
ALLOWED = {"GPT": "left", "ELMo": "product", "two GPTs": "product", "two GPTs, each whole": "product"}
COMPARED = (
    ("BERT", "two GPTs"),
    ("BERT", "GPT"),
    ("BERT", "CBOW"),
    ("two GPTs", "ELMo"),
    ("GPT", "two GPTs"),
)
ASKED, WATCHED = (400, 4, 20181011), (150, 2, 20180215)  # stories, words of each, seed: to test, to choose by
LEARNT, WITH_SENSES = 500, 400  # stories to learn senses from, and to ask about
TOP_STEPS, TOP_RATE = 200, 3e-3
Row = dict[str, Any]


@cache
def world(seed: int) -> World:
    """The stories of a seed."""
    stories = sample_stories(np.random.default_rng(seed), STORIES, grammar=GRAMMAR)
    corpus = tokenise([story.document for story in stories], vocabulary())
    return World(vocabulary(), corpus, SIZE, BATCH, pairs=False)


@cache
def exam_of(n: int, words: int, seed: int) -> Exam:
    """Each exam once a process."""
    return exam(n, words, seed)


def clock(arm: Row, path: Path) -> Row:
    """Measure what every arm costs."""
    keep_freed_memory()
    return {"speeds": speeds((*ARMS, *BESIDE), world(0))}


def learn(arm: Row, path: Path) -> tuple[Arm, Row]:
    """Train an arm as its settings say."""
    keep_freed_memory()
    own, watched = world(arm["seed"]), exam_of(*WATCHED)
    model = make(arm["arm"], own, arm["seed"])

    def watch(trained: Arm) -> dict[str, float]:
        adjust(trained, *asked_of(watched), iterations=8)
        return means(answered(trained.log_p, watched), watched)

    feed = Feed(arm["arm"], own, arm["seed"])
    curve = train(model, feed, arm["steps"], arm["peak"], path, watch)
    adjust(model, *asked_of(watched))
    return model, {"parameters": parameters(model), "curve": curve}


def asked_of(some: Exam) -> tuple[Tensor, Tensor, Tensor]:
    """Texts, places, and the truth."""
    return some.texts, some.positions, some.known["both"]


def choose(arm: Row, path: Path) -> Row:
    """Train shortly, to choose a learning rate."""
    return learn(arm, path)[1]


@torch.no_grad()
def opinions_of(model: TwoSidedArm, asked: Exam) -> dict[str, Any]:
    """Judge either reader alone, and both joined by Bayes' rule, word by word."""
    left, right = both = model.opinions(asked.texts, asked.positions)
    ways = {"left alone": left, "right alone": right, "plain": joined(both, model.log_unigram)}
    return {name: judged(log_p, asked) for name, log_p in ways.items()}


def train_and_test(arm: Row, path: Path) -> Row:
    """Train an arm, and ask it for missing words and for senses."""
    model, found = learn(arm, path)
    asked = exam_of(*ASKED)
    each = answered(model.log_p, asked)
    found["words"] = means(each, asked)
    found["senses"] = probed(model, senses(LEARNT, WITH_SENSES, ASKED[-1]))
    if isinstance(model, TwoSidedArm):
        apart = opinions_of(model, asked)
        found["opinions"] = {name: means(values, asked) for name, values in apart.items()}
        found["weights"] = [round(weight, 3) for weight in model.weights]
        if arm["top"]:
            feed = Feed(arm["arm"], world(arm["seed"]), arm["seed"] + 1000)
            top = trained_top(model, feed, TOP_STEPS, TOP_RATE, arm["seed"])
            found["with_top"] = means(answered(top.log_p, asked), asked)
    return found | {"each": each.round(4).tolist()}


def short(speed: dict[str, Row]) -> list[Row]:
    """List the trainings by which learning rates are chosen."""
    steps = plan(speed, TOKENS // 4)["same seconds"]
    return [
        {"arm": name, "steps": steps[name], "peak": peak, "seed": 0} for name in ARMS for peak in RATES[name]
    ]


def rates_of(tries: list[Row]) -> dict[str, float]:
    """Choose the learning rate with the least loss on validation stories; of equals the first."""
    best: dict[str, Row] = {}
    for row in tries:
        if row["arm"] not in best or row["curve"][-1]["loss"] < best[row["arm"]]["curve"][-1]["loss"]:
            best[row["arm"]] = row
    chosen = {name: row["peak"] for name, row in best.items()}
    return chosen | {name: chosen[other] for name, other in BESIDE.items()}


def runs(steps: dict[str, dict[str, int]], rates: dict[str, float], seeds: int) -> list[Row]:
    """List all trainings, the first seed of everything first; where both budgets are one, once."""
    found = []
    for seed in range(seeds):
        for budget, names in (("same seconds", (*ARMS, *BESIDE)), ("same tokens", ARMS)):
            for name in names:
                top = steps["same seconds"][name] == steps[budget][name] and name in ARMS
                row = {
                    "arm": name,
                    "steps": steps[budget][name],
                    "peak": rates[name],
                    "seed": seed,
                    "top": top,
                }
                if row not in found:
                    found.append(row)
    return found


def summary(rows: list[Row], steps: dict[str, dict[str, int]]) -> Row:
    """Put together, for each budget, what every arm loses, of which how much is for want of context."""
    asked, found = exam_of(*ASKED), dict[str, Any]()
    best = {name: judged(logarithms(asked.known[name]), asked) for name in KNOWN}
    best["product, weighted"] = exact_and_weighted(asked)
    for budget in ("same seconds", "same tokens"):
        names = ARMS if budget == "same tokens" else (*ARMS, *BESIDE)
        mine = {
            name: [row for row in rows if (row["arm"], row["steps"]) == (name, steps[budget][name])]
            for name in names
        }
        each = {name: losses([row["each"] for row in own], asked) for name, own in mine.items()}
        found[budget] = {
            "arms": {name: parted(name, own, each[name], best, asked) for name, own in mine.items()},
            "compared": [
                {"a": a, "b": b, **told(difference(each[a], each[b]))}
                for a, b in (*COMPARED, *BESIDE.items())
                if a in each
            ],
        }
    found["optimum"] = {name: means(values, asked) for name, values in best.items()}
    found["optimum"]["senses"] = senses(LEARNT, WITH_SENSES, ASKED[-1]).best
    return found


def exact_and_weighted(asked: Exam) -> Any:
    """Judge exact one-sided opinions, joined by weights fitted on validation stories, as those of arms."""
    watched = exam_of(*WATCHED)
    of_watched, of_asked = (
        torch.stack([logarithms(some.known[side]) for side in ("left", "right")]) for some in (watched, asked)
    )
    alone = logarithms(asked.known["alone"])[0]
    weights = weights_of(of_watched, alone, watched.known["both"])
    return judged(joined(of_asked, alone, weights), asked)


def losses(each: list[Any], asked: Exam) -> Each:
    """Join the losses of several seeds, word by word; those of one story belong together."""
    rows = [np.stack([np.asarray(values)[:, 0], np.ones(len(values))], 1) for values in each]
    return each_of(rows, asked.stories.tolist())


def parted(name: str, rows: list[Row], each: Each, best: dict[str, Any], asked: Exam) -> Row:
    """Part what an arm loses beyond the optimum, in nats, into learning and context; seeds one by one."""
    allowed = float(best[ALLOWED.get(name, "both")][:, 0].mean())
    optimum, seeds = float(best["both"][:, 0].mean()), [row["words"]["loss"] for row in rows]
    found: Row = {
        "loss": round(float(np.mean(seeds)), 4),
        "seeds": seeds,
        "interval": [round(end, 4) for end in interval(each)],
        "learning": round(float(np.mean(seeds)) - allowed, 4),
        "context": round(allowed - optimum, 4),
        "accuracy": round(float(np.mean([row["words"]["accuracy"] for row in rows])), 4),
        "senses": round(
            float(np.mean([row["senses"].get("all", row["senses"]["layer 0"]) for row in rows])), 4
        ),
    }
    if "opinions" in rows[0]:
        for side, known in (("left alone", "left"), ("right alone", "right")):
            lost = float(np.mean([row["opinions"][side]["loss"] for row in rows]))
            found[side] = {
                "loss": round(lost, 4),
                "learning": round(lost - float(best[known][:, 0].mean()), 4),
            }
        found["plain"] = round(float(np.mean([row["opinions"]["plain"]["loss"] for row in rows])), 4)
    if "with_top" in rows[0]:
        found["with_top"] = round(float(np.mean([row["with_top"]["loss"] for row in rows])), 4)
    return found


def main() -> None:
    """Measure speeds, choose rates, train and ask all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"so many (default: {SEEDS})")
    given = parser.parse_args()
    clocked = run_arms(NAME, [{"part": "speeds"}], clock, 1)
    speed = clocked[0]["speeds"]
    tries = run_arms(NAME, short(speed), choose, given.workers)
    rates, steps = rates_of(tries), plan(speed, TOKENS)
    rows = run_arms(NAME, runs(steps, rates, given.seeds), train_and_test, given.workers)
    settings = {"plots": PLOTS, "size": SIZE._asdict(), "batch": BATCH, "stories": STORIES, "tokens": TOKENS}
    settings |= {
        "rates_tried": RATES,
        "rates": rates,
        "steps": steps,
        "seeds": given.seeds,
        "top_steps": TOP_STEPS,
    }
    results = {
        "settings": settings,
        "speeds": speed,
        "tries": [{"arm": row["arm"], "peak": row["peak"], **row["curve"][-1]} for row in tries],
        **summary(rows, steps),
        "runs": [{name: value for name, value in row.items() if name != "each"} for row in rows],
    }
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in [*clocked, *tries, *rows]))


if __name__ == "__main__":
    main()

"""Do layers learnt on five digits help to learn the other five? Pre-training on images, before that on words.

A small convolutional network (`bertlab.nn.SmallCNN`) learns the digits 0-4 of scikit-learn's images of 8 × 8
(source A), its lower layers move to a network for 5-9, and this one learns from 1, 2, 5 ... labels a class:
the moved layers frozen, or trained on. Whatever is not moved is new. All of this was decided before the run:

- The images stand in the order in which their writers came, and most have their nearest neighbour near by. So
  the parts follow this order: the first 1,000 images train, the next 200 choose rates, the last 597 test.
- Every training has the same number of steps and its last step counts. Rates are chosen of three, for each
  arm, by the accuracy on the validation part of two seeds that are not reported; once at 2 labels a class
  (for 1 and 2), once at 10 (for 5 to 20), once at all of them. No reported seed sees a validation part.
- What frozen layers give to a linear layer is centred and scaled (decided after the first look at validation
  parts, before any reported seed: without it, heads on layers of chance had not learnt their own images).
- A seed draws the labelled images, the order of the batches, the new layers and the sources. All arms of a
  seed share what they can, so arms are compared seed by seed and image by image.
- Steps until 80 and 90 % are read from every third test image, at marks that grow by about √2. A rate that
  is best at the end need not be the quickest: so from scratch all three are measured, at 10 labels and all.

Rivals: layers that were never trained ("new": are features of chance enough?); layers trained on the images
of A with labels by lot, four times as long, as these are hard to learn (what do images teach without their
classes?); the numbers of A shuffled within each layer (the scale of its weights without what they say);
pixels alone (logistic regression, the nearest neighbour). To spare time, layers by lot are trained on, and
shuffled ones are tried, at some numbers of labels only.

How general is each layer (Yosinski et al. 2014, "How transferable are features in deep neural networks?",
sec. 2)? The k lowest layers of A (AnB) beside as many of a network that learnt 5-9 (BnB), both from all
labels of their five digits; and beside k layers of chance. At 10 labels a class BnB has seen labels that AnB
has not: it shows what layers made for the task itself would give. At "all", it is Yosinski's control.

Is it these five digits? Ten other fives, drawn by lot, learn from the rest, with the rates chosen above.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from _five_digits import (
    BATCH,
    DEPTH,
    MARKS,
    NEIGHBOUR,
    PARTS,
    REGRESSION,
    SCRATCH,
    SOURCE_RATE,
    SOURCE_STEPS,
    Rates,
    Row,
    Start,
    part_of,
    rates_of,
    sources_of,
    try_out,
)
from _transfer_table import (
    BARS,
    DEPTHS,
    LABELS,
    LAYERS_AT,
    SOME_LABELS,
    TUNED_AT,
    best_rates,
    summary,
    tried,
)
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "image_transfer"
QUESTION = "Do layers learnt on five digits help to learn five others: with how many labels, which layers?"
FIVE, N_FIVES = "56789", 10
SEEDS, TUNING = tuple(range(10)), (100, 101)

FROZEN, TRAINED, NEW = Start("A", DEPTH, True), Start("A", DEPTH), Start("new", DEPTH, True)
OTHER_FIVES = [SCRATCH, FROZEN, TRAINED, NEW]
EVERYWHERE = [*OTHER_FIVES, Start("lot", DEPTH, True), REGRESSION, NEIGHBOUR]
BY_LAYER = [Start(source, n, True) for n in DEPTHS for source in ("A", "B", "new")]
BY_LAYER += [Start("A", n) for n in DEPTHS]
SHUFFLED = [Start("shuffled", DEPTH, frozen) for frozen in (True, False)]
ARMS = {labels: list(EVERYWHERE) for labels in LABELS}
for some in SOME_LABELS:
    ARMS[some].append(Start("lot", DEPTH))
for some in LAYERS_AT:
    ARMS[some] += [start for start in [*BY_LAYER, *SHUFFLED] if start not in ARMS[some]]
ARMS["all"] += [Start("B", n) for n in DEPTHS]


def other_fives() -> list[str]:
    """Draw fives of the ten digits, each another one, and none the first one."""
    rng, found = np.random.default_rng(0), [FIVE]
    while len(found) <= N_FIVES:
        five = "".join(map(str, sorted(rng.permutation(10)[:5])))
        found += [five] if five not in found else []
    return found[1:]


def plan(kind: str, rates: Rates) -> list[tuple[Start, str, float]]:
    """List what one seed measures: to choose rates ("val"), of the headline, or of another five."""
    if kind == "val":
        return [
            (start, labels, rate)
            for labels in dict.fromkeys(TUNED_AT.values())
            for start in ARMS[labels]
            for rate in rates_of(start)
        ]
    if kind == "fives":
        pairs = [(start, labels) for labels in SOME_LABELS for start in OTHER_FIVES]
    else:
        pairs = [(start, labels) for labels, starts in ARMS.items() for start in starts]
    runs = [(start, labels, rates[str(start)][TUNED_AT[labels]]) for start, labels in pairs]
    every = [(SCRATCH, labels, rate) for labels in LAYERS_AT for rate in rates_of(SCRATCH)]
    return runs + [run for run in every if kind == "headline" and run not in runs]


def measure(arm: Row, path: Path, rates: Rates | None = None) -> Row:
    """Train the sources of one seed, then everything that starts from them."""
    keep_freed_memory()
    runs, five, seed = plan(arm["kind"], rates or {}), arm["five"], arm["seed"]
    part = "val" if arm["kind"] == "val" else "test"
    sources, known = sources_of(five, seed, {start.source for start, _, _ in runs})
    found = [try_out(start, sources, five, labels, part, rate, seed) for start, labels, rate in runs]
    return {"sources": known, "runs": found}


def main() -> None:
    """Choose the rates, measure all seeds and the other fives, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    first = [{"kind": "val", "five": FIVE, "seed": seed} for seed in TUNING]
    tuning = run_arms(NAME, first, measure, workers)
    second = [{"kind": "headline", "five": FIVE, "seed": seed} for seed in SEEDS]
    second += [{"kind": "fives", "five": five, "seed": seed} for seed, five in enumerate(other_fives())]
    rates = best_rates(tried(tuning))
    rows = run_arms(NAME, second, partial(measure, rates=rates), workers)
    settings: Row = {"five": FIVE, "seeds": SEEDS, "seeds_for_rates": TUNING, "parts": PARTS, "marks": MARKS}
    settings |= {"batch": BATCH, "source_steps": SOURCE_STEPS, "source_rate": SOURCE_RATE, "bars": BARS}
    sizes = {part: len(part_of(FIVE, part)[1]) for part in PARTS}
    results = {"settings": settings, "images_of_the_five": sizes}
    results |= summary(tuning, rows[: len(SEEDS)], rows[len(SEEDS) :])
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in [*tuning, *rows]))


if __name__ == "__main__":
    main()

"""What does each mistake about masks cost? A small Transformer is trained with it, and never complains.

English number words to German ones, as in notebook 06. Every arm changes one thing of the first: what the
decoder reads, whom it may look at, where the end token stands, or how padding is hidden. What training shows
(token accuracy, the right words given) stands beside what counts (whole numbers right, written by itself).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from _number_words import vocabularies
from _writer import Mask, Writer, not_itself, strictly_before
from bertlab.datasets.numbers import sample_pairs
from bertlab.nn.functional import cross_entropy
from bertlab.nn.masking import causal_mask, padding_mask
from bertlab.nn.seq2seq import shift_right
from bertlab.text import Vocabulary
from bertlab.training import fit, run_arms, save_result

NAME = "mask_mistakes"
QUESTION = "Which mistakes about masks does training not show, and what do they cost when the model writes?"
SEEDS = (0, 1, 2)
STEPS, BATCH, PEAK, WARM_UP, TEST_EVERY, TEST, LONGEST = 250, 64, 3e-3, 50, 50, 256, 16
SQUARE = 32  # batch size and width of the arms in which the two are equal
ENGLISH, GERMAN = vocabularies()
PAD, END = Vocabulary.pad_id, Vocabulary.end_id


def shifted(targets: Tensor) -> Tensor:
    """Give the decoder what was written before each place, a start token first."""
    return shift_right(targets, END)


def hidden_is_shown(source: Tensor) -> Tensor:
    """Make the padding mask of the opposite convention: True stands at padding."""
    return ~padding_mask(source)


def sentences_as_queries(source: Tensor) -> Tensor:
    """Forget the two axes in the middle: (B, T) fits scores (B, H, T, T) when B = T, and means (Tq, Tk)."""
    return source != PAD


def everything(source: Tensor) -> None:
    """Hide no padding."""


def itself_alone(source: Tensor) -> Tensor:
    """Let no word of the source hear another: (T, T), a control."""
    return torch.eye(source.shape[1], dtype=torch.bool)


@dataclass(frozen=True)
class Setup:
    """What an arm does to a batch; the defaults are right."""

    inputs: Callable[[Tensor], Tensor] = shifted  # from targets (B, T) to what the decoder reads
    mask: Callable[[int], Tensor | None] = causal_mask  # whom the decoder may look at
    end: bool = True  # whether the end token is asked for
    ignored: int = PAD  # the target that does not count
    source: Mask = padding_mask  # of the encoder
    memory: Mask = padding_mask  # of the decoder, towards the encoder
    square: bool = False  # SQUARE sentences, padded to SQUARE words


MISTAKES = {
    "none": Setup(),
    "no causal mask": Setup(mask=lambda n: None),
    "no shift": Setup(inputs=lambda targets: targets),
    "no shift, strict mask": Setup(inputs=lambda targets: targets, mask=strictly_before),
    "shift, strict mask": Setup(mask=strictly_before),
    "no end token": Setup(end=False),
    "padding counts": Setup(ignored=-100),
    "no padding mask": Setup(source=everything, memory=everything),
    "padding mask inverted": Setup(source=hidden_is_shown, memory=hidden_is_shown),
    "none, B = T": Setup(square=True),
    "(B, T) for (T, T)": Setup(square=True, source=sentences_as_queries),
    "encoder deaf, B = T": Setup(square=True, source=itself_alone),
}
CLOSELY = ("none", "shift, strict mask")  # these write under other masks than their own, too
WRITING = {
    "causal": causal_mask,
    "strict": strictly_before,
    "all but itself": not_itself,
    "none": lambda n: None,
}


def widen(source: Tensor, width: int) -> Tensor:
    """Add padding on the right up to a width."""
    return torch.nn.functional.pad(source, (0, width - source.shape[1]), value=PAD)


def draw(setup: Setup, seed: list[int], n: int, held_out: bool = False) -> tuple[Tensor, Tensor]:
    """Draw n sentence pairs as (n, Ts) and (n, Tt) ids."""
    pairs = sample_pairs(np.random.default_rng(seed), n, held_out=held_out)
    source = ENGLISH.batch([english for english, _ in pairs])
    return widen(source, SQUARE) if setup.square else source, GERMAN.batch([german for _, german in pairs])


def scores(model: Writer, setup: Setup, source: Tensor, targets: Tensor) -> Tensor:
    """Score each target token, the right ones given: (B, Tt, V)."""
    mask = setup.mask(targets.shape[1])
    logits: Tensor = model(source, setup.inputs(targets), mask, setup.source, setup.memory)
    return logits


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Train one model with one mistake; test it in both ways as it learns, and in more at the end."""
    setup, seed = MISTAKES[arm["mistake"]], arm["seed"]
    torch.manual_seed(seed)
    model = Writer(len(ENGLISH), len(GERMAN))
    test = draw(setup, [10_000], TEST, held_out=True)
    given: list[float] = []
    by_itself: list[float] = []

    def loss(step: int) -> Tensor:
        source, targets = draw(setup, [seed, step], SQUARE if setup.square else BATCH)
        asked = targets if setup.end else targets.masked_fill(targets == END, PAD)
        return cross_entropy(scores(model, setup, source, targets), asked, ignore_index=setup.ignored)

    def evaluate() -> dict[str, float]:
        given.append(token_accuracy(model, setup, *test))
        by_itself.append(whole(write(model, setup, test[0]), test[1]))
        return {"given": given[-1], "by itself": by_itself[-1]}

    evaluate()  # before the first step
    losses = fit(
        model, loss, steps=STEPS, evaluate=evaluate, report_every=TEST_EVERY,
        learning_rate=lambda step: PEAK * min(1, step / WARM_UP) * (1 - step / (STEPS + 1)),
    )  # fmt: skip
    model.eval()
    last = round(float(np.mean(losses[-20:])), 5)
    closely = look_closely(model, setup, test) if arm["mistake"] in CLOSELY else {}
    return {
        "given": given, "by itself": by_itself, "loss": last, **at_the_end(model, setup, test), **closely,
    }  # fmt: skip


@torch.no_grad()
def at_the_end(model: Writer, setup: Setup, test: tuple[Tensor, Tensor]) -> dict[str, float]:
    """Measure whether it stops, and how it writes with other padding."""
    source, targets = test
    stops = (write(model, setup, source) == END).any(dim=1)
    if setup.source is sentences_as_queries:  # in a batch of one, (1, T) is read as it is meant
        setup = replace(setup, source=padding_mask)
    lengths = (source != PAD).sum(dim=1)
    groups = [(lengths == n).nonzero()[:, 0] for n in lengths.unique()]  # no padding: as if one at a time
    hits = [correct(write(model, setup, source[g, : int(lengths[g[0]])]), targets[g]) for g in groups]
    return {
        "stops": round(float(stops.float().mean()), 4),
        "one at a time": round(float(torch.cat(hits).float().mean()), 4),
        "double width": whole(write(model, setup, widen(source, 2 * source.shape[1])), targets),
    }


@torch.no_grad()
def look_closely(model: Writer, setup: Setup, test: tuple[Tensor, Tensor]) -> dict[str, Any]:
    """Name what it gets wrong, and let it write under other masks than its own."""
    source, targets = test
    wrong = source[~correct(write(model, setup, source), targets)][:3]
    return {
        "first wrong": [" ".join(ENGLISH.decode(row)) for row in wrong.tolist()],
        **{f"under {n}": whole(write(model, setup, source, m), targets) for n, m in WRITING.items()},
    }


@torch.no_grad()
def token_accuracy(model: Writer, setup: Setup, source: Tensor, targets: Tensor) -> float:
    """Count the right tokens among those that are asked for, the right words before them given."""
    hits = [
        scores(model, setup, s, t).argmax(dim=-1) == t
        for s, t in zip(source.split(SQUARE), targets.split(SQUARE), strict=True)
    ]
    asked = (targets != PAD) if setup.end else (targets > END)
    return round(torch.cat(hits)[asked].float().mean().item(), 4)


@torch.no_grad()
def write(
    model: Writer, setup: Setup, source: Tensor, mask: Callable[[int], Tensor | None] | None = None
) -> Tensor:
    """Let the model write greedily, in batches as in training: (B, LONGEST) ids."""
    rows = []
    for part in source.split(SQUARE):
        said = torch.full((len(part), 1), END)
        for t in range(1, LONGEST + 1):
            logits = model(part, said, (mask or setup.mask)(t), setup.source, setup.memory)
            said = torch.cat([said, logits[:, -1:].argmax(dim=-1)], dim=1)
        rows.append(said[:, 1:])
    return torch.cat(rows)


def correct(written: Tensor, targets: Tensor) -> Tensor:
    """Tell which sentences have no mistake, the end included: (B,) bool."""
    rows = zip(written.tolist(), targets.tolist(), strict=True)
    return torch.tensor([END in row and GERMAN.decode(row) == GERMAN.decode(t) for row, t in rows])


def whole(written: Tensor, targets: Tensor) -> float:
    """Count the sentences without a mistake, as a share."""
    return round(float(correct(written, targets).float().mean()), 4)


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    workers = parser.parse_args().workers
    arms = [{"mistake": mistake, "seed": seed} for seed in SEEDS for mistake in MISTAKES]
    rows = run_arms(NAME, arms, train_and_test, workers)
    settings = {"batch": BATCH, "square": SQUARE, "steps": STEPS, "test": TEST, "test_every": TEST_EVERY}
    results = {"settings": settings, "reports_at": list(range(0, STEPS + 1, TEST_EVERY)), "arms": rows}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()

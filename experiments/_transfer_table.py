"""What the arms of `image_transfer` say when they are put side by side: gains, layers, speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from _comparison import interval, score
from _five_digits import DEPTH, MARKS, NEIGHBOUR, REGRESSION, SCRATCH, Hits, Rates, Row, rates_of

LABELS = ("1", "2", "5", "10", "20", "50", "all")  # a class
TUNED_AT = {"1": "2", "2": "2", "5": "10", "10": "10", "20": "10", "50": "all", "all": "all"}
LAYERS_AT, SOME_LABELS = ("10", "all"), ("2", "10", "all")
BARS, DRAWS = (0.8, 0.9), 2000
DEPTHS = range(1, DEPTH + 1)
Runs = dict[tuple[str, str], list[Row]]  # (labels, start): one row a seed

PAIRS = [("A 4 trained", "scratch"), ("A 4 frozen", "scratch"), ("A 4 trained", "A 4 frozen")]
PAIRS += [("A 4 trained", "lot 4 trained"), ("A 4 frozen", "lot 4 frozen"), ("A 4 frozen", "new 4 frozen")]
PAIRS += [("lot 4 trained", "scratch"), ("new 4 frozen", "scratch")]
PAIRS += [(a, b) for a in ("A 4 trained", "scratch") for b in (str(REGRESSION), str(NEIGHBOUR))]
PAIRS += [("A 4 trained", "shuffled 4 trained"), ("shuffled 4 trained", "scratch")]
PAIRS_OF_LAYERS = [("A {} frozen", other) for other in ("scratch", "new {} frozen")]
PAIRS_OF_LAYERS += [("B {} frozen", other) for other in ("scratch", "A {} frozen")]
PAIRS_OF_LAYERS += [("A {} trained", other) for other in ("scratch", "A {} frozen")]
PAIRS_OF_LAYERS += [("B {} trained", other) for other in ("scratch", "A {} trained", "B {} frozen")]


def tried(arms: Sequence[Row]) -> dict[str, dict[str, dict[float, float]]]:
    """Give the mean accuracy of each start, at each number of labels, with each rate."""
    found: dict[str, dict[str, dict[float, float]]] = {}
    for run in (run for arm in arms for run in arm["runs"]):
        own = found.setdefault(run["start"], {}).setdefault(run["labels"], {})
        own[run["rate"]] = own.get(run["rate"], 0.0) + float(hits_of([run]).mean()) / len(arms)
    return found


def best_rates(means: dict[str, dict[str, dict[float, float]]]) -> Rates:
    """Choose the best rate of each start at each number of labels; of equals the lowest."""
    return {
        start: {
            labels: max(sorted(own), key=lambda rate: round(own[rate], 6)) for labels, own in some.items()
        }
        for start, some in means.items()
    }


def hits_of(rows: Sequence[Row]) -> Hits:
    """Give what was found by each seed, of each image: (S, N)."""
    return np.array([[float(hit) for hit in row["hits"]] for row in rows])


def runs_of(arms: Sequence[Row], rates: Rates) -> Runs:
    """Sort the runs with the chosen rates."""
    found: Runs = {}
    for run in (run for arm in arms for run in arm["runs"]):
        if run["rate"] == rates[run["start"]][TUNED_AT[run["labels"]]]:
            found.setdefault((run["labels"], run["start"]), []).append(run)
    return found


def steps_to(bar: float, curve: Sequence[float]) -> int | None:
    """Give the first mark where an accuracy was reached, if it was."""
    return next((mark for mark, value in zip(MARKS, curve, strict=True) if value >= bar), None)


def told(rows: Sequence[Row]) -> Row:
    """Summarise an arm: its mean, an interval over seeds and images, and what each seed reached and when."""
    hits = hits_of(rows)
    found: Row = {**paired(hits, np.zeros_like(hits)), "seeds": hits.mean(1).round(4).tolist()}
    found["accuracy"] = found.pop("difference")
    if rows[0]["curve"]:
        found["curve"] = np.mean([row["curve"] for row in rows], axis=0).round(4).tolist()
        found["steps"] = {str(bar): [steps_to(bar, row["curve"]) for row in rows] for bar in BARS}
    return found


def paired(a: Hits, b: Hits) -> Row:
    """Compare two arms whose rows are the same seeds, and columns the same images.

    Returns
    -------
    the mean of a less b, and its 95 % interval; seeds and images are drawn anew, the same ones for both.
    """
    each = np.stack([a - b, np.ones_like(a)], axis=-1)
    ends = interval(each, draws=DRAWS)
    return {"difference": round(score(each), 4), "interval": [round(end, 4) for end in ends]}


def gains(runs: Runs) -> Row:
    """Compare pairs of arms at each number of labels, and each such difference with the one at all labels."""
    found: Row = {}
    for labels in LABELS:
        for a, b in PAIRS:
            if {(labels, a), (labels, b)} <= runs.keys():
                less = hits_of(runs[labels, a]) - hits_of(runs[labels, b])
                one = paired(less, np.zeros_like(less))
                if labels != "all":
                    at_all = hits_of(runs["all", a]) - hits_of(runs["all", b])
                    one["more_than_at_all"] = paired(less, at_all)
                found.setdefault(f"{a} - {b}", {})[labels] = one
    return found


def layers(runs: Runs) -> Row:
    """Compare pairs of arms with as many layers moved, and each such difference with that of one layer."""
    found: Row = {labels: {} for labels in LAYERS_AT}
    for labels in LAYERS_AT:
        for a, b in PAIRS_OF_LAYERS:
            keys = [((labels, a.format(n)), (labels, b.format(n))) for n in DEPTHS]
            if not all({one, other} <= runs.keys() for one, other in keys):
                continue
            less = [hits_of(runs[one]) - hits_of(runs[other]) for one, other in keys]
            found[labels][f"{a} - {b}".replace("{}", "n")] = [
                paired(one, np.zeros_like(one)) | {"more_than_first": paired(one, less[0])} for one in less
            ]
    return found


def speed(runs: Runs, labels: str, bar: float) -> Row:
    """Compare the steps that scratch needs with those of other arms, seed by seed.

    Returns
    -------
    of each arm, how many seeds reached the accuracy; the median of steps (who did not reach it counts as
    never); how many times more steps scratch needs, a geometric mean with its interval over seeds. There, who
    did not reach it counts as at the last mark: so a ratio is too small rather than too large, if the other
    arm did reach it.
    """
    steps = {
        start: [steps_to(bar, row["curve"]) for row in rows]
        for (some, start), rows in runs.items()
        if some == labels and rows[0]["curve"]
    }
    logs = {start: np.log([one or MARKS[-1] for one in own]) for start, own in steps.items()}
    found: Row = {}
    for start, own in steps.items():
        ratio = paired((logs[str(SCRATCH)] - logs[start])[None], np.zeros((1, len(own))))
        median = float(np.median([one or np.inf for one in own]))
        found[start] = {
            "reached": sum(one is not None for one in own),
            "median": median if np.isfinite(median) else None,
            "times": round(float(np.exp(ratio["difference"])), 2),
            "interval": [round(float(np.exp(end)), 2) for end in ratio["interval"]],
        }
    return found


def fives(arms: Sequence[Row], rates: Rates) -> Row:
    """Tell of each other five what its arms reach, and compare the arms over the fives."""
    runs = runs_of(arms, rates)
    found: Row = {"fives": [arm["five"] for arm in arms], "arms": {}, "gains": {}}
    means = {key: np.array([[hits_of([row]).mean() for row in rows]]) for key, rows in runs.items()}
    for (labels, start), own in means.items():
        found["arms"].setdefault(labels, {})[start] = [round(float(one), 4) for one in own[0]]
    for labels in SOME_LABELS:
        for a, b in PAIRS:
            if {(labels, a), (labels, b)} <= means.keys():
                gain = paired(means[labels, a], means[labels, b])
                found["gains"].setdefault(f"{a} - {b}", {})[labels] = gain
    return found


def summary(tuning: Sequence[Row], arms: Sequence[Row], others: Sequence[Row]) -> Row:
    """Make the record of what all seeds measured."""
    means = tried(tuning)
    rates = best_rates(means)
    runs = runs_of(arms, rates)
    table: Row = {}
    for (labels, start), rows in runs.items():
        table.setdefault(labels, {})[start] = told(rows)
    every: Row = {labels: {} for labels in LAYERS_AT}
    for labels in LAYERS_AT:
        for rate in rates_of(SCRATCH):
            own = [run for arm in arms for run in arm["runs"] if run["rate"] == rate]
            own = [run for run in own if (run["labels"], run["start"]) == (labels, str(SCRATCH))]
            every[labels][str(rate)] = told(own)
    known = {name: np.mean([arm["sources"][name] for arm in arms], axis=0) for name in arms[0]["sources"]}
    return {
        "sources": {
            name: dict(zip(("train", "test"), own.round(4).tolist(), strict=True))
            for name, own in known.items()
        },
        "rates": rates,
        "tried": {
            start: {
                labels: {str(rate): round(mean, 4) for rate, mean in own.items()}
                for labels, own in rows.items()
            }
            for start, rows in means.items()
        },
        "arms": table,
        "gains": gains(runs),
        "layers": layers(runs),
        "speed": {labels: {str(bar): speed(runs, labels, bar) for bar in BARS} for labels in LABELS},
        "scratch_at_every_rate": every,
        "other_fives": fives(others, rates),
    }

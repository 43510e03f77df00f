"""What the record of `fair_comparison` keeps: scores by budget, task and arm, intervals, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from _arm_tasks import TASKS
from _fair_text import SETS

from _comparison import Each, difference, each_of, interval, told
from _fine_tuned import groups_of

COMPARED = (
    ("BERT", "GPT"),
    ("BERT, no pairs", "two GPTs"),  # whether one model reads both sides
    ("two GPTs", "ELMo"),  # what reads
    ("BERT", "BERT, no pairs"),  # next sentences
    ("BERT, no pairs", "CBOW"),  # order and layers
    ("two GPTs", "GPT"),  # the right side
)
PLAIN = {"sentence-polarity": "TF-IDF", "nli-wikipedia": "TF-IDF", "wikigold": "conditional random field"}
KINDS = ("loss", "accuracy")  # of missing pieces
Row = dict[str, Any]


def results_of(
    clocked: list[Row],
    tries: list[Row],
    trainings: list[Row],
    tested: list[Row],
    used: list[Row],
    steps: dict[str, dict[str, int]],
) -> Row:
    """Put the record together, without its settings; the arguments are what `main` has measured."""
    parts = {row["part"]: row for row in clocked}
    names = list(steps["same tokens"])
    plain = {task: parts[task]["plain"] for task in TASKS}
    return {
        "speeds": parts["speeds"]["speeds"],
        "tries": [{"arm": row["arm"], "peak": row["peak"], **row["curve"][-1]} for row in tries],
        "untrained": tests_of(tested, dict.fromkeys(names, 0)),
        **{budget: tests_of(tested, own) for budget, own in steps.items()},
        "counting": bare({"words": parts["counting"]["words"], "grammar": parts["counting"]["grammar"]}),
        "tasks": {task: task_of(used, task, steps["same seconds"], plain[task]) for task in TASKS},
        "curves": [{key: value for key, value in row.items() if key != "seconds"} for row in trainings],
    }


def bare(row: Any) -> Any:
    """Leave out of a tree of results what each example brings."""
    if isinstance(row, Mapping):
        return {key: bare(value) for key, value in row.items() if key != "each"}
    return row


def measures(row: Row) -> dict[str, Any]:
    """List what was measured of each example in one test: (N, 2), by the name of the measure."""
    found = {f"{kind} of {name}": row["words"][name]["each"][kind] for name in SETS for kind in KINDS}
    found["grammar"] = row["grammar"]["each"]
    for kind, by_layer in row["senses"].items():
        found[kind] = by_layer.get("all", by_layer["layer 0"])["each"]
    return found


def tests_of(tested: list[Row], steps: dict[str, int]) -> Row:
    """Give scores of all arms after so many steps, and comparisons of those that were trained."""
    mine = {
        name: [row for row in tested if (row["arm"], row["steps"]) == (name, n)] for name, n in steps.items()
    }
    each: dict[str, dict[str, Each]] = {}
    for name, rows in mine.items():
        for measure in measures(rows[0]):
            each.setdefault(measure, {})[name] = each_of([measures(row)[measure] for row in rows])
    return {
        "scores": {
            measure: {name: score_of(one) for name, one in own.items()} for measure, own in each.items()
        },
        "compared": {measure: compared(own) for measure, own in each.items() if any(steps.values())},
        "rest": {
            name: [bare({k: v for k, v in row.items() if k not in ("arm", "steps")}) for row in rows]
            for name, rows in mine.items()
        },
    }


def score_of(each: Each) -> Row:
    """Mean over seeds, its interval, and each seed."""
    seeds = (each[..., 0].sum(1) / each[..., 1].sum(1)).round(4).tolist()
    ends = [round(end, 4) for end in interval(each)]
    return {"mean": round(float(np.mean(seeds)), 4), "interval": ends, "seeds": seeds}


def compared(each: Mapping[str, Each]) -> list[Row]:
    """Compare arms on the same examples."""
    return [{"a": a, "b": b, **told(difference(each[a], each[b]))} for a, b in COMPARED]


def task_of(used: list[Row], task: str, steps: dict[str, int], plain: dict[str, Row]) -> Row:
    """Give scores and comparisons of a task, for frozen and for fine-tuned arms, trained and new ones."""
    groups, found = groups_of(task), dict[str, Any]()
    for way in ("frozen", "fine-tuned"):
        own = [row for row in used if row["task"] == task and bool(row["rate"]) == (way == "fine-tuned")]
        each = {name: joined(own, name, n, groups) for name, n in steps.items()}
        new = {name: joined(own, name, 0, groups) for name in steps}
        found[way] = {
            "trained": {name: score_of(one) for name, one in each.items()},
            "untrained": {name: score_of(one) for name, one in new.items()},
            "compared": compared(each) + against(each, plain, task, groups),
            "learnt": learnt(each, new),
            "rates": {row["arm"]: row["rate"] for row in own if row["steps"]},
            "seconds": {name: seconds_of(own, name, n) for name, n in steps.items()},
        }
    found["plain"] = {name: score_of(each_of([row["each"]], groups)) for name, row in plain.items()}
    return found


def joined(rows: Sequence[Row], name: str, steps: int, groups: Sequence[str] | None) -> Each:
    """Join the seeds of an arm after so many steps."""
    return each_of([row["each"] for row in rows if (row["arm"], row["steps"]) == (name, steps)], groups)


def learnt(each: Mapping[str, Each], new: Mapping[str, Each]) -> Row:
    """Compare every arm with itself before training, of which there is one seed."""
    return {
        name: told(difference(one, np.repeat(new[name][:1], len(one), axis=0))) for name, one in each.items()
    }


def seconds_of(rows: Sequence[Row], name: str, steps: int) -> float:
    """Say how long one use of a trained arm takes, in core seconds, the median over seeds."""
    own = [row["seconds"] for row in rows if (row["arm"], row["steps"]) == (name, steps)]
    return round(float(np.median(own)), 1)


def against(
    each: Mapping[str, Each], plain: dict[str, Row], task: str, groups: Sequence[str] | None
) -> list[Row]:
    """Compare every arm with the plain method of a task."""
    name = PLAIN[task]
    beside = each_of([plain[name]["each"]], groups)
    return [
        {"a": arm, "b": name, **told(difference(one, np.repeat(beside, len(one), axis=0)))}
        for arm, one in each.items()
    ]

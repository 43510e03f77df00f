"""What the still picture of the head view shows, in words that are the same on every machine."""

from collections.abc import Sequence

import numpy as np

from bertlab.viz.style import shown

MOST_LISTED, MOST_NAMED = 40, 3  # tokens that the words of a picture name, and those of its title
CLEARLY = 1.2  # times the second: whoever is strongest here is so on every machine


def heads_said(heads: Sequence[int]) -> str:
    """Which heads, as short as it can be said.

    >>> heads_said([0, 1, 2, 5]), heads_said([3]), heads_said([])
    ('heads 0–2, 5', 'head 3', 'no head')
    """
    runs: list[list[int]] = []
    for head in heads:
        if runs and runs[-1][-1] == head - 1:
            runs[-1].append(head)
        else:
            runs.append([head])
    said = ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"head{'s' * (len(heads) > 1)} {said}" if heads else "no head"


def chosen_said(
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    queries: Sequence[int],
    looked_at: Sequence[int],
    unit: str = "token",
) -> str:
    """What is to be seen, without a full stop.

    >>> chosen_said(["a", "b"], ["c"], [1], []), chosen_said(["a", "b"], ["c"], [], [0])
    ('where “b” looks', 'what looks at “c”')
    """
    rows, labels = (queries, query_labels) if queries else (looked_at, key_labels)
    if not rows:
        return f"where each {unit} looks"
    names = f"{len(rows)} {unit}s"
    if len(rows) <= MOST_NAMED:
        names = " and ".join(f"“{shown(labels[row])}”" for row in rows)
    summed = f", summed over {len(rows)} {unit}s" if 1 < len(rows) <= MOST_NAMED else ""
    if queries:
        return f"where {names} look{'s' * (len(rows) == 1)}{summed}"
    return f"what looks at {names}{summed}"


def between_said(query_labels: Sequence[str], key_labels: Sequence[str]) -> str:
    """Both columns, with their words.

    >>> between_said(["a", "b"], ["a", "b"]), between_said(["a"], ["b"])
    ('within “a b”', 'from “a” to “b”')
    """
    if list(query_labels) == list(key_labels):
        return f"within “{_listed(query_labels)}”"
    return f"from “{_listed(query_labels)}” to “{_listed(key_labels)}”"


def _listed(labels: Sequence[str]) -> str:
    said = " ".join(map(shown, labels[:MOST_LISTED]))
    return said if len(labels) <= MOST_LISTED else f"{said} … ({len(labels)} in all)"


def strongest_said(
    weights: np.ndarray,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    queries: Sequence[int],
    looked_at: Sequence[int],
) -> str:
    """What the chosen queries look at most, or what looks at the chosen keys most; nothing if unclear.

    >>> strongest_said(np.array([[0.9, 0.1]]), ["a"], ["b", "c"], [0], [])
    '; most to “b”'
    """
    summed = weights[list(queries)].sum(axis=0) if queries else weights[:, list(looked_at)].sum(axis=1)
    *_, second, first = [0.0, *np.sort(summed)]
    if first <= CLEARLY * second:
        return ""
    label = (key_labels if queries else query_labels)[int(summed.argmax())]
    return f"; most {'to' if queries else 'from'} “{shown(label)}”"

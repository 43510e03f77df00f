"""What the still picture of the head view shows, in words that are the same on every machine."""

from collections.abc import Sequence

import numpy as np

from bertlab.viz.style import HEAD_COLOURS, number, shown

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
    query_names: Sequence[str],
    key_names: Sequence[str],
    queries: Sequence[int],
    looked_at: Sequence[int],
    unit: str = "token",
) -> str:
    """What is to be seen, without a full stop.

    >>> chosen_said(["“a”", "“b”"], ["“c”"], [1], []), chosen_said(["“a”", "“b”"], ["“c”"], [], [0])
    ('where “b” looks', 'what looks at “c”')
    """
    rows, called = (queries, query_names) if queries else (looked_at, key_names)
    if not rows:
        return f"where each {unit} looks"
    names = f"{len(rows)} {unit}s"
    if len(rows) <= MOST_NAMED:
        names = " and ".join(called[row] for row in rows)
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
    query_names: Sequence[str],
    key_names: Sequence[str],
    queries: Sequence[int],
    looked_at: Sequence[int],
) -> str:
    """What the chosen queries look at most, or what looks at the chosen keys most; nothing if unclear.

    >>> strongest_said(np.array([[0.9, 0.1]]), ["“a”"], ["“b”", "“c”"], [0], [])
    '; most to “b”'
    """
    summed = weights[list(queries)].sum(axis=0) if queries else weights[:, list(looked_at)].sum(axis=1)
    *_, second, first = [0.0, *np.sort(summed)]
    if first <= CLEARLY * second:
        return ""
    name = (key_names if queries else query_names)[int(summed.argmax())]
    return f"; most {'to' if queries else 'from'} {name}"


def hidden_said(names: Sequence[str], side: int, shown_sentence: str) -> str:
    """That chosen tokens of another sentence are not shown, and what shows them.

    >>> hidden_said(["“it”"], 0, "A")
    '“it” stands in sentence B and is not shown: B→A or B→B shows it.'
    """
    other = "B" if shown_sentence == "A" else "A"
    ways = (f"{other}→A", f"{other}→B") if side == 0 else (f"A→{other}", f"B→{other}")
    few = len(names) <= MOST_NAMED
    who = " and ".join(names) if few else f"{len(names)} tokens"
    stand, are, it = ("stands", "is", "it") if len(names) == 1 else ("stand", "are", "them")
    return f"{who} {stand} in sentence {other} and {are} not shown: {ways[0]} or {ways[1]} shows {it}."


def dashes_said(n_heads: int) -> str:
    """How heads of one colour are told apart; nothing if each has its own.

    >>> dashes_said(12), dashes_said(20)
    ('Lines of heads 8–11 are dashed.', 'Lines of heads 8–15 are dashed, from head 16 on dotted.')
    """
    n = len(HEAD_COLOURS)
    if n_heads <= n:
        return ""
    dotted = f", from head {2 * n} on dotted" if n_heads > 2 * n else ""
    return f"Lines of {heads_said(range(n, min(n_heads, 2 * n)))} are dashed{dotted}."


def lines_said(n: int, threshold: float, most: float) -> str:
    """How many lines are drawn; if none, why.

    >>> lines_said(1, 0.1, 0.6), lines_said(0, 0.9, 0.6)
    ('1 line; those under 0.1 are not drawn.', '0 lines: no weight reaches 0.9, the largest is 0.6.')
    """
    if n or most <= 0:
        return f"{n} line{'s' * (n != 1)}; those under {threshold:g} are not drawn."
    largest = np.floor(1000 * most) / 1000  # never rounded up to the threshold
    return f"0 lines: no weight reaches {threshold:g}, the largest is {largest:g}."


def share_said(given: np.ndarray, start: int, stop: int, placed: Sequence[str], to: str) -> str:
    """How much of the weight a part of a long column shows, and where most of the rest is; else nothing.

    Parameters
    ----------
    given : (rows,) array
        What each row of the column gets, or gives.
    start, stop : int
        The part that is shown.
    placed : sequence of strings
        What each row is called, with its place.
    to : str
        "goes to" or "comes from".

    Examples
    --------
    >>> placed = ["“[CLS]” (token 0)", "“a” (token 1)", "“b” (token 2)"]
    >>> share_said(np.array([0.6, 0.05, 0.35]), 2, 3, placed, "goes to")
    '0.35 of 1 is shown; most of the rest goes to “[CLS]” (token 0).'
    """
    total, inside = float(given.sum()), float(given[start:stop].sum())
    rest = total - inside
    if rest < 0.005:
        return ""
    outside = given.copy()
    outside[start:stop] = 0
    first = int(outside.argmax())
    most = "most of the rest" if outside[first] > rest / 2 else f"of the rest, {number(outside[first])}"
    return f"{number(inside)} of {number(total)} is shown; {most} {to} {placed[first]}."

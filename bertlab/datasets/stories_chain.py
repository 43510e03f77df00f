"""Sum over all ways to tell a synthetic story that fit what is visible of it.

The sum runs along the sentences, as in a hidden Markov model. A state is a cell of the grammar and a mask,
in which each value of each variable that is still possible has its bit: a name that is said leaves one bit,
a pronoun half of them, and sentences agree where all of them leave a bit. What the values weigh comes in at
the end, by `prior`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from bertlab.datasets.stories_grammar import Grammar, Template

Words = Sequence[str | None]  # of a sentence; None: hidden
States = dict[int, dict[int, float]]  # cell -> mask -> weight


class Reading(NamedTuple):
    """One way to read a sentence."""

    template: Template
    weight: float  # how likely its freely chosen words are
    mask: int  # the values that are possible then


class Explanation(NamedTuple):
    """One way to read a story, as far as it matters for one of its sentences."""

    template: Template
    weight: float  # without the prior of the values
    mask: int


@lru_cache(maxsize=200_000)
def prior(grammar: Grammar, mask: int) -> float:
    """Say how likely a story has, for each variable, one of the values that a mask leaves possible.

    Examples
    --------
    >>> from bertlab.datasets.stories_plots import default_grammar
    >>> prior(default_grammar(), default_grammar().everything)
    1.0
    """
    p, paired = 1.0, set()
    for names in grammar.distinct:
        variables = [grammar.variables[name] for name in names]
        bits = [(mask & variable.mask) >> variable.shift for variable in variables]
        size = variables[0].size
        pairs = bits[0].bit_count() * bits[1].bit_count() - (bits[0] & bits[1]).bit_count()
        p *= pairs / (size * (size - 1))
        paired |= {*names}
    for name, variable in grammar.variables.items():
        if name not in paired:
            p *= (mask & variable.mask).bit_count() / variable.size
    return p


@lru_cache(maxsize=50_000)
def readings(grammar: Grammar, sentence: tuple[str | None, ...], unfinished: bool = False) -> list[Reading]:
    """List all ways to read a sentence; an unfinished one is only the beginning."""
    found = []
    n = len(sentence)
    known = [(j, word) for j, word in enumerate(sentence) if word is not None]
    # the rarest word leaves the fewest sentences to look at
    places = [grammar.index.get((0 if unfinished else n, j, word), []) for j, word in known]
    for template in min(places, key=len, default=grammar.templates):
        if len(template.slots) < n or (len(template.slots) > n and not unfinished):
            continue
        weight, mask = 1.0, grammar.everything
        for j, word in known:
            p, values = template.slots[j].words.get(word, (0.0, 0))
            if not p:
                break
            weight *= p
            mask &= values
        else:
            if all(mask & variable.mask for variable in template.variables):
                found.append(Reading(template, weight, mask))
    return found


def by_cell(grammar: Grammar, sentence: Words, unfinished: bool = False) -> dict[int, list[Reading]]:
    """Sort the readings of a sentence by the cells that say it, and weigh them as the cells do."""
    cells: dict[int, list[Reading]] = defaultdict(list)
    for template, weight, mask in readings(grammar, tuple(sentence), unfinished):
        for cell, p in grammar.said_in[template]:
            cells[cell].append(Reading(template, weight * p, mask))
    return cells


def forward(
    grammar: Grammar, sentences: Sequence[Words], starts: Mapping[int, float] | None = None
) -> States:
    """Sum over all ways to say some sentences; the states after the last one.

    Before any sentence, the state is cell -1. With `starts`, the first sentence stands in one of those cells.
    """
    states: States = {-1: {grammar.everything: 1.0}}
    for sentence in sentences:
        cells, new = by_cell(grammar, sentence), States()
        for cell, masks in states.items():
            for to, p in onwards(grammar, cell, starts):
                for _, weight, mask in cells.get(to, ()):
                    into = new.setdefault(to, {})
                    for known, before in masks.items():
                        both = known & mask
                        if prior(grammar, both):
                            into[both] = into.get(both, 0.0) + before * p * weight
        states = new
    return states


def onwards(grammar: Grammar, cell: int, starts: Mapping[int, float] | None) -> Sequence[tuple[int, float]]:
    """List where the way goes on from a cell, or, from cell -1, where it starts."""
    if cell >= 0:
        return grammar.following[cell]
    return grammar.starts if starts is None else tuple(starts.items())


def backward(grammar: Grammar, sentences: Sequence[Words]) -> States:
    """Sum over all ways to say the last sentences of a story, for each cell that may stand before them."""
    behind: States = {cell: {grammar.everything: end} for cell, end in enumerate(grammar.ends) if end}
    for sentence in reversed(sentences):
        here, cells = States(), by_cell(grammar, sentence)
        for cell, found in cells.items():
            into = here.setdefault(cell, {})
            for _, weight, mask in found:
                for known, after in behind.get(cell, {}).items():
                    both = known & mask
                    if prior(grammar, both):
                        into[both] = into.get(both, 0.0) + weight * after
        behind = States()
        for cell, masks in here.items():
            for before, p in grammar.before[cell]:
                into = behind.setdefault(before, {})
                for mask, weight in masks.items():
                    into[mask] = into.get(mask, 0.0) + p * weight
    return behind


def explanations(
    grammar: Grammar, sentences: Sequence[Words], i: int, sentence: Words, left_only: bool
) -> Iterator[Explanation]:
    """List all ways in which a sentence fits between those before it and, if known, those behind it."""
    cells = by_cell(grammar, sentence, unfinished=left_only)
    behind = None if left_only else backward(grammar, sentences[i + 1 :])
    for cell, masks in forward(grammar, sentences[:i]).items():
        for to, p in onwards(grammar, cell, None):
            after = {grammar.everything: 1.0} if behind is None else behind.get(to, {})
            for template, weight, mask in cells.get(to, ()):
                for known, before in masks.items():
                    for rest, w in after.items():
                        both = known & mask & rest
                        if prior(grammar, both):
                            yield Explanation(template, before * p * weight * w, both)


def mass(grammar: Grammar, sentences: Sequence[Words], behind: int) -> float:
    """Count how often a story has these sentences in a row, with at least so many behind them, on average."""
    return sum(
        weight * prior(grammar, mask) * goes_on(grammar, cell, behind)
        for cell, masks in forward(grammar, sentences, visits(grammar)).items()
        for mask, weight in masks.items()
    )


@lru_cache
def mass_of_all(grammar: Grammar, n: int) -> float:
    """Count how many rows of n sentences a story has, on average."""
    return sum(p * goes_on(grammar, cell, n - 1) for cell, p in visits(grammar).items())


@lru_cache
def visits(grammar: Grammar) -> dict[int, float]:
    """Say how likely a story comes through each cell."""
    visits: dict[int, float] = defaultdict(float, grammar.starts)
    for cell, following in enumerate(grammar.following):  # cells stand in the order of the stages
        for to, p in following:
            visits[to] += visits[cell] * p
    return dict(visits)


@cache
def goes_on(grammar: Grammar, cell: int, n: int) -> float:
    """Say how likely at least n sentences stand behind a cell."""
    return sum(p * goes_on(grammar, to, n - 1) for to, p in grammar.following[cell]) if n else 1.0

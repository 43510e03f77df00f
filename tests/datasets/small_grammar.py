"""A grammar so small that all its stories can be listed, and the list: the oracle for exact inference."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import product

from bertlab.datasets.stories import MOODS, Grammar, read_grammar

TEXT = """
pos DET: the a
pos NOUN: net
pos VERB: fished waited counted laughed cried met
pos ADV: loudly softly there
pos ADP: at in of
pos PUNCT: .

domain person PER PROPN: Ada/f, Eva/f, Tom/m
domain town LOC PROPN: North Bay, South Bay
domain animal O NOUN: eel, carp
variable hero person
variable friend person
variable town town
variable animal animal
distinct hero friend
sense bank: money NOUN, river NOUN
sense saw: tool NOUN, see VERB

group end
+ {hero.He} laughed [loudly|softly] .
- {hero.He} cried .
{friend} [waited|laughed] there .

plot fishing water
stage
{hero} met {friend} at the bank:river .
{hero} met {friend} in {town} .
stage?
{friend} saw:see {animal.a} {animal} .
{friend} saw:see the bank:river .
- {friend.He} saw:see the bank:river of {town} .
stage
@end
stage?
{friend} [waited|laughed] there .

plot money city
stage
{hero} met {friend} at the bank:money .
{friend} met {hero} at the bank:money .
stage?
{friend} saw:see the bank:money .
+ {hero} counted {animal.a} {animal} .
stage?
{hero} waited in {town} .
stage
@end
"""


@dataclass(frozen=True)
class Told:
    """One story of the grammar."""

    p: float
    words: tuple[tuple[str, ...], ...]
    senses: tuple[dict[int, str], ...]
    mood: str
    plot: int


def small_grammar() -> Grammar:
    return read_grammar([TEXT])


def all_stories(grammar: Grammar) -> list[Told]:
    """Every story with its probability, by plain recursion over the cells and over every choice."""
    stories = []

    def walk(cell: int, p: float, path: list[int]) -> None:
        p_end = 1 - sum(q for _, q in grammar.following[cell])
        if p_end > 1e-12:
            stories.extend(tell(grammar, path, p * p_end))
        for to, q in grammar.following[cell]:
            walk(to, p * q, [*path, to])

    for cell, p in grammar.starts:
        walk(cell, p, [cell])
    return stories


def tell(grammar: Grammar, path: list[int], p: float) -> list[Told]:
    """All stories along one path through the cells."""
    names = list(grammar.variables)
    values = [
        dict(zip(names, chosen, strict=True))
        for chosen in product(*(range(grammar.variables[name].size) for name in names))
    ]
    values = [v for v in values if all(v[a] != v[b] for a, b in grammar.distinct)]
    cell = grammar.cells[path[0]]
    stories = []
    for chosen in values:
        said = [sentences(grammar, step, chosen) for step in path]
        for course in product(*said):
            weight = p / len(values)
            for q, _, _ in course:
                weight *= q
            words, senses = tuple(w for _, w, _ in course), tuple(s for _, _, s in course)
            stories.append(Told(weight, words, senses, MOODS[cell.mood], cell.plot))
    return stories


def sentences(grammar: Grammar, step: int, chosen: dict[str, int]):
    """All sentences that one cell can say when the variables are known: (probability, words, senses)."""
    found = []
    templates = grammar.cells[step].templates
    for template in templates:
        options = []
        for slot in template.slots:
            if slot.variable:
                options.append([(1.0, slot.said[chosen[slot.variable.name]])])
            else:
                weights = [1 / rank for rank in range(1, len(slot.said) + 1)]
                options.append([(w / sum(weights), word) for w, word in zip(weights, slot.said, strict=True)])
        for picked in product(*options):
            p = 1 / len(templates)
            for q, _ in picked:
                p *= q
            words = tuple(word for _, word in picked)
            senses = {
                i: s.senses[w] for i, (s, w) in enumerate(zip(template.slots, words, strict=True)) if s.senses
            }
            found.append((p, words, senses))
    return found


def shares(weights) -> dict[str, float]:
    """Add up (key, weight) pairs and make them sum to one."""
    total: dict[str, float] = defaultdict(float)
    for key, weight in weights:
        total[key] += weight
    everything = sum(total.values())
    return {key: weight / everything for key, weight in total.items()}

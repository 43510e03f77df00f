"""What two readers of a story can know of a word, exactly: from the left, from the right, both multiplied.

`bertlab.datasets.stories.posterior` knows a hidden word from both sides, or from the left. Here are the other
two that a comparison needs: what stands behind a word alone, and the two one-sided opinions joined as two
language models that were glued together can join them, by what either says and how frequent the word is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from bertlab.datasets.stories import Grammar
from bertlab.datasets.stories_chain import Reading, Words, backward, prior, visits

Chances = dict[str, float]


def from_the_right(sentences: Sequence[Words], position: tuple[int, int], grammar: Grammar) -> Chances:
    """Say how likely each word stands at a position, given only what stands behind it, to the story's end.

    Parameters
    ----------
    sentences : the words of each sentence. What stands at the position or before it is not looked at, nor
        how much that is.
    position : (sentence, word), from 0.
    grammar : of the story.

    Returns
    -------
    word -> probability; they sum to 1.

    Raises
    ------
    ValueError
        If no story of the grammar ends like this.

    Examples
    --------
    >>> from bertlab.datasets.stories import default_grammar
    >>> last = ["Ivan", "carried", "the", "eel", "through", "Bristol", "like", "a", "baby", "."]
    >>> from_the_right([last], (0, 1), default_grammar())
    {'carried': 1.0}
    """
    i, j = position
    behind = backward(grammar, sentences[i + 1 :])
    tail = tuple(sentences[i][j + 1 :])
    likely: dict[str, float] = defaultdict(float)
    by_cell = endings(grammar, tail)
    for cell, reached in visits(grammar).items():
        for template, weight, mask in by_cell.get(cell, ()):
            words = template.slots[len(template.slots) - 1 - len(tail)].words
            for rest, after in behind.get(cell, {}).items():
                for word, (p, values) in words.items():
                    chance = prior(grammar, mask & rest & values)
                    if chance:
                        likely[word] += reached * weight * after * p * chance
    return normalised(likely)


@lru_cache(maxsize=20_000)
def endings(grammar: Grammar, tail: tuple[str | None, ...]) -> dict[int, list[Reading]]:
    """List by cell all sentences that have a word before these last ones, weighed as the cells say them."""
    cells: dict[int, list[Reading]] = defaultdict(list)
    for template in grammar.templates:
        if len(template.slots) <= len(tail):
            continue
        weight, mask = 1.0, grammar.everything
        for slot, word in zip(template.slots[len(template.slots) - len(tail) :], tail, strict=True):
            if word is not None:
                p, values = slot.words.get(word, (0.0, 0))
                weight, mask = weight * p, mask & values
        if weight and all(mask & variable.mask for variable in template.variables):
            for cell, p in grammar.said_in[template]:
                cells[cell].append(Reading(template, weight * p, mask))
    return cells


@lru_cache
def unigram(grammar: Grammar) -> Chances:
    """Say how likely each word is, drawn from all words of all stories: exactly."""
    found: dict[str, float] = defaultdict(float)
    for cell, reached in visits(grammar).items():
        templates = grammar.cells[cell].templates
        for template in templates:
            for slot in template.slots:
                for word, (p, values) in slot.words.items():
                    found[word] += reached / len(templates) * p * prior(grammar, values)
    return normalised(found)


def product(left: Mapping[str, float], right: Mapping[str, float], alone: Mapping[str, float]) -> Chances:
    """Join two opinions as if the sides were independent of each other, given the word: p · p' / p(word).

    Raises
    ------
    ValueError
        If no word is possible for both.
    """
    return normalised({word: left[word] * right[word] / alone[word] for word in left if word in right})


def normalised(likely: Mapping[str, float]) -> Chances:
    """Let chances sum to 1, the likeliest first."""
    total = sum(likely.values())
    if not total:
        raise ValueError("no word of the grammar fits: is this a story of another grammar?")
    ordered = sorted(likely.items(), key=lambda pair: (-pair[1], pair[0]))
    return {word: weight / total for word, weight in ordered if weight}

"""Draw synthetic stories, with all labels that the grammar knows: senses, entities, moods, answers."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bertlab.datasets.documents import Document
from bertlab.datasets.stories_grammar import MOODS, Grammar, Slot, Template
from bertlab.datasets.stories_plots import default_grammar

HELD_OUT_SHARE = 0.1  # of all combinations of names


class Sentence(NamedTuple):
    """A sentence of a story, word by word; marks of punctuation are words of their own."""

    words: list[str]
    pos: tuple[str, ...]  # parts of speech, as in Universal Dependencies
    entities: tuple[str, ...]  # BIO labels: B-PER, I-ORG, O, …
    senses: dict[int, str]  # position of an ambiguous word -> its sense, such as "river" for a bank

    @property
    def text(self) -> str:
        """The sentence as it is written."""
        return join_words(self.words)


class Question(NamedTuple):
    """A question about a story, and the words that answer it."""

    words: list[str]
    sentence: int  # the sentence in which the answer stands
    start: int  # of its first word
    end: int  # behind its last word


class Claim(NamedTuple):
    """A sentence that follows from the story, or contradicts it."""

    words: list[str]
    holds: bool


@dataclass(frozen=True, eq=False)
class Story:
    """A synthetic story: its sentences with their labels, and the choices behind it."""

    sentences: tuple[Sentence, ...]
    plot: str
    topic: str
    mood: str  # "positive" or "negative"
    values: dict[str, int] = field(repr=False)  # by name of the variable
    templates: tuple[Template, ...] = field(repr=False)  # of each sentence

    @property
    def words(self) -> list[list[str]]:
        """The words of each sentence."""
        return [sentence.words for sentence in self.sentences]

    @property
    def document(self) -> Document:
        """The story as all document sets of the package have it."""
        return Document([sentence.text for sentence in self.sentences], "synthetic stories")

    @cached_property
    def questions(self) -> list[Question]:
        """Questions that the story answers, by a name in the sentence asked about or before it."""
        found = []
        for i, template in enumerate(self.templates):
            for slots, answer in template.questions:
                for place in range(i, -1, -1):
                    if answer in self.templates[place].names:
                        start, end = self.templates[place].names[answer]
                        found.append(Question(_say(slots, self.values), place, start, end))
                        break
        return found

    @cached_property
    def claims(self) -> list[Claim]:
        """Claims that hold, each followed by one that does not: another name stands in it."""
        found = []
        for template in self.templates:
            for slots in template.claims:
                found.append(Claim(_say(slots, self.values), True))
                found.append(Claim(_say(slots, self._twisted(slots)), False))
        return found

    def _twisted(self, slots: Sequence[Slot]) -> dict[str, int]:
        """Return values with which a claim is wrong: two people or towns exchanged, or another name."""
        names = [slot.variable.name for slot in slots if slot.variable and slot.part == 0]
        for first, second in (("hero", "friend"), ("home", "away"), ("team", "rival")):
            if (first in names or second in names) and {first, second} <= set(self.values):
                return self.values | {first: self.values[second], second: self.values[first]}
        name = names[-1]
        size = next(slot.variable.size for slot in slots if slot.variable and slot.variable.name == name)
        step = 1 + zlib.crc32(repr(sorted(self.values.items())).encode()) % (size - 1)
        return self.values | {name: (self.values[name] + step) % size}


def join_words(words: Iterable[str]) -> str:
    """Write words as a sentence: no space before a mark, nor inside quotation marks.

    Examples
    --------
    >>> join_words(['"', 'No', ',', '"', 'said', 'Ida', '.'])
    '"No," said Ida.'
    """
    text, opened, glue = "", False, True
    for word in words:
        closing = word == '"' and opened
        text += word if glue or closing or word in {".", ",", "!", "?", ":"} else " " + word
        opened ^= word == '"'
        glue = word == '"' and opened
    return text


def is_held_out(sentences: Iterable[Sequence[str]], grammar: Grammar | None = None) -> bool:
    """Tell whether a story is kept for testing, for ever and on every machine: a tenth of all sets of names.

    Parameters
    ----------
    sentences : the words of each sentence. Only the names in them count (people, places, organisations,
        days), so that no two stories with the same names are on different sides.
    grammar : the package's own, if not given.

    Examples
    --------
    >>> is_held_out([["Ida", "slept", "."]]), is_held_out([["Leo", "slept", "."]])
    (False, False)
    """
    names = (grammar or default_grammar()).name_words
    said = {word for sentence in sentences for word in sentence if word in names}
    return zlib.crc32(" ".join(sorted(said)).encode()) < HELD_OUT_SHARE * 2**32


def sample_stories(
    rng: np.random.Generator, n: int, held_out: bool = False, grammar: Grammar | None = None
) -> list[Story]:
    """Draw synthetic stories from the ones for training, or from the ones held out for testing.

    Parameters
    ----------
    rng : source of chance.
    n : how many stories.
    held_out : draw test stories; no combination of names is ever in both kinds.
    grammar : the package's own, if not given.

    Returns
    -------
    n stories of 5 to 9 sentences.

    Examples
    --------
    >>> story = sample_stories(np.random.default_rng(0), 1)[0]
    >>> 5 <= len(story.document.sentences) <= 9
    True
    """
    grammar = grammar or default_grammar()
    chance = _numbers(rng)
    stories: list[Story] = []
    while len(stories) < n:
        plan = _plan(grammar, chance)
        if is_held_out(plan.names(grammar), grammar) == held_out:
            stories.append(plan.tell(grammar, chance))
    return stories


def _numbers(rng: np.random.Generator) -> Iterator[float]:
    """Give evenly distributed numbers one by one; one draw of many is much faster than many draws."""
    while True:
        yield from rng.random(4096).tolist()


class _Plan(NamedTuple):
    """A story without its words: so much is enough to know its names."""

    plot: int
    mood: int
    values: dict[str, int]
    templates: list[Template]

    def names(self, grammar: Grammar) -> list[list[str]]:
        """Return all words of the names that will be said."""
        said = {name for template in self.templates for name in template.names}
        domains = {name: grammar.variables[name].domain for name in said}
        return [list(domains[name].values[self.values[name]]) for name in said]

    def tell(self, grammar: Grammar, chance: Iterator[float]) -> Story:
        """Say every sentence."""
        sentences = tuple(_sentence(template, self.values, chance) for template in self.templates)
        plot = grammar.plots[self.plot]
        return Story(sentences, plot.name, plot.topic, MOODS[self.mood], self.values, tuple(self.templates))


def _plan(grammar: Grammar, chance: Iterator[float]) -> _Plan:
    """Draw plot, mood, values and the way through the stages."""
    cell = _draw(grammar.starts, chance)
    start = grammar.cells[cell]
    values = {}
    for name in grammar.plots[start.plot].variables:
        values[name] = int(next(chance) * grammar.variables[name].size)
    for first, second in grammar.distinct:
        if first in values and second in values:
            size = grammar.variables[first].size
            values[second] = (values[first] + 1 + int(next(chance) * (size - 1))) % size
    templates = []
    while cell >= 0:
        said = grammar.cells[cell].templates
        templates.append(said[int(next(chance) * len(said))])
        cell = _draw(grammar.following[cell], chance)
    return _Plan(start.plot, start.mood, values, templates)


def _draw(ways: Sequence[tuple[int, float]], chance: Iterator[float]) -> int:
    """Draw a cell, or -1 for the end of the story."""
    left = next(chance)
    for cell, p in ways:
        left -= p
        if left < 0:
            return cell
    return -1


def _sentence(template: Template, values: dict[str, int], chance: Iterator[float]) -> Sentence:
    """Say a sentence."""
    words, senses = list(template.literal), dict(template.literal_senses)
    for i, slot in template.open:
        if slot.variable:
            words[i] = slot.said[values[slot.variable.name]]
        else:
            words[i] = slot.said[bisect_right(slot.cumulative, next(chance), hi=len(slot.said) - 1)]
            if words[i] in slot.senses:
                senses[i] = slot.senses[words[i]]
    return Sentence(words, template.pos, template.entities, senses)


def _say(slots: Iterable[Slot], values: dict[str, int]) -> list[str]:
    """Say a question or a claim, in which nothing is left to chance."""
    return [slot.said[values[slot.variable.name] if slot.variable else 0] for slot in slots]

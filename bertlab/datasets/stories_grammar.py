"""The grammar of the synthetic stories: what the files of `story_plots/` say, as tables to sum over.

A story draws a few latent choices: its plot, its mood, and a value of each variable (people, towns, a day).
The plot goes through its stages one by one; a stage that may be left out is left out half of the time. Each
stage says one of its sentences, all equally likely. So every word has a known probability, and what a hidden
word can be is a sum (`stories_inference`). `stories_reader` reads the files.

The signs of the files::

    plot fishing river             a plot and its topic
    stage / stage?                 the sentences below stand for one stage; with ?, it may be left out
    @weather                       here stand the sentences of the group of that name
    + … / - …                      only in stories of good mood / of bad mood
    {hero} {hero.he} {fish.a}      a variable's value; the pronoun, the title or the article that goes with it
    [warm|bright|grey]             one of these words; the second is half as likely as the first, …
    bank:river  to/PART            a word with its sense, or with another part of speech than usual
    ? Who slept ? = hero           a question about the sentence above, and the variable that answers it
    ! {hero} slept .               a claim that follows from the sentence above
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

MOODS = ("negative", "positive")


@dataclass(frozen=True)
class Domain:
    """A kind of things: the values a variable can have."""

    name: str
    entity: str  # PER, LOC, ORG, or O for what is no entity
    pos: str
    values: tuple[tuple[str, ...], ...]  # each a word, or several
    genders: tuple[str, ...]  # "f", "m", or "" for things


@dataclass(frozen=True)
class Variable:
    """What a story chooses once. In a mask, its values are bits, from `shift` on: 1 means still possible."""

    name: str
    domain: Domain
    shift: int

    @cached_property
    def size(self) -> int:
        """How many values there are."""
        return len(self.domain.values)

    @cached_property
    def mask(self) -> int:
        """The bits of this variable."""
        return ((1 << self.size) - 1) << self.shift


@dataclass(frozen=True)
class Slot:
    """One place of a sentence.

    `words` maps each word that can stand here to its probability and to the values of variables that go with
    it: a literal word has 1 and all of them, one of some alternatives less than 1 and all of them, a word of
    a variable 1 and those values that are said in this way.
    """

    words: dict[str, tuple[float, int]]
    pos: str
    entity: str = "O"
    senses: dict[str, str] = field(default_factory=dict)
    variable: Variable | None = None
    part: int | None = (
        None  # which word of the variable's name this is; None for a pronoun, a title, an article
    )
    said: tuple[str, ...] = ()  # the words; of a variable, the word for each value
    cumulative: tuple[float, ...] = ()  # of alternatives: how likely is one of the words up to each


@dataclass(frozen=True, eq=False)
class Template:
    """A sentence with its places, the questions it answers, and the claims that follow from it."""

    source: str  # the line of the file
    slots: tuple[Slot, ...]
    questions: tuple[tuple[tuple[Slot, ...], str], ...]  # words, and the name of the variable that answers
    claims: tuple[tuple[Slot, ...], ...]

    @cached_property
    def pos(self) -> tuple[str, ...]:
        """Part of speech of each word."""
        return tuple(slot.pos for slot in self.slots)

    @cached_property
    def entities(self) -> tuple[str, ...]:
        """BIO label of each word."""
        return tuple(slot.entity for slot in self.slots)

    @cached_property
    def literal(self) -> tuple[str, ...]:
        """The words, with some word in the places that are open."""
        return tuple(slot.said[0] for slot in self.slots)

    @cached_property
    def literal_senses(self) -> dict[int, str]:
        """Senses of the words that are always the same, by position."""
        return {
            i: slot.senses[slot.said[0]]
            for i, slot in enumerate(self.slots)
            if slot.senses and not slot.cumulative
        }

    @cached_property
    def open(self) -> tuple[tuple[int, Slot], ...]:
        """The places where not always the same word stands."""
        return tuple((i, slot) for i, slot in enumerate(self.slots) if slot.variable or slot.cumulative)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Variables that the sentence speaks of."""
        return tuple({slot.variable.name: slot.variable for slot in self.slots if slot.variable}.values())

    @cached_property
    def names(self) -> dict[str, tuple[int, int]]:
        """Variables that are said by name, and where the name begins and is over."""
        found = {}
        for i, slot in reversed(list(enumerate(self.slots))):
            if slot.variable and slot.part == 0:
                found[slot.variable.name] = (i, i + len(slot.variable.domain.values[0]))
        return found


@dataclass(frozen=True)
class Cell:
    """A stage of one plot in one mood, with the sentences that it may say."""

    plot: int
    mood: int
    optional: bool
    templates: tuple[Template, ...]


@dataclass(frozen=True)
class Plot:
    """A course of events."""

    name: str
    topic: str
    variables: tuple[str, ...]  # the ones it uses


@dataclass(frozen=True, eq=False)
class Grammar:
    """All plots as a network of cells: which may come first, which after which, and how likely that is."""

    variables: dict[str, Variable]
    distinct: tuple[tuple[str, str], ...]
    plots: tuple[Plot, ...]
    cells: tuple[Cell, ...]
    following: tuple[
        tuple[tuple[int, float], ...], ...
    ]  # by cell: (next cell, probability); the rest: the end
    starts: tuple[tuple[int, float], ...]

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        """Every sentence once."""
        return tuple(dict.fromkeys(template for cell in self.cells for template in cell.templates))

    @cached_property
    def ends(self) -> tuple[float, ...]:
        """How likely the story ends with each cell."""
        return tuple(max(0.0, 1 - sum(p for _, p in following)) for following in self.following)

    @cached_property
    def index(self) -> dict[tuple[int, int, str], list[Template]]:
        """The sentences of so many words (0: of any number) that can have a word at a position."""
        found: dict[tuple[int, int, str], list[Template]] = {}
        for template in self.templates:
            for i, slot in enumerate(template.slots):
                for word in slot.words:
                    found.setdefault((len(template.slots), i, word), []).append(template)
                    found.setdefault((0, i, word), []).append(template)
        return found

    @cached_property
    def said_in(self) -> dict[Template, list[tuple[int, float]]]:
        """For each sentence, the cells that say it, and how often."""
        found: dict[Template, list[tuple[int, float]]] = {}
        for number, cell in enumerate(self.cells):
            for template in cell.templates:
                found.setdefault(template, []).append((number, 1 / len(cell.templates)))
        return found

    @cached_property
    def before(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """By cell: (cell before, or -1 for the beginning; probability to go from there to here)."""
        found: list[list[tuple[int, float]]] = [[] for _ in self.cells]
        for cell, ways in ((-1, self.starts), *enumerate(self.following)):
            for to, p in ways:
                found[to].append((cell, p))
        return tuple(tuple(ways) for ways in found)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, sorted."""
        return tuple(sorted({word for t in self.templates for slot in t.slots for word in slot.words}))

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words that name people, places, organisations and days."""
        domains = {v.domain for v in self.variables.values() if v.domain.pos == "PROPN"}
        return frozenset(word for domain in domains for value in domain.values for word in value)

    @cached_property
    def everything(self) -> int:
        """The mask in which nothing is known."""
        return sum(variable.mask for variable in self.variables.values())

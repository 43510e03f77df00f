"""Read the files of `story_plots/` into a grammar; `stories_grammar` says what their signs mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from bertlab.datasets.stories_grammar import MOODS, Cell, Domain, Grammar, Plot, Slot, Template, Variable

LEFT_OUT = 0.5  # how often a stage is left out that may be

PARTS_OF_SPEECH = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ VERB"
_BY_GENDER = {
    "f": {"he": "she", "him": "her", "his": "her", "mr": "Mrs."},
    "m": {"he": "he", "him": "him", "his": "his", "mr": "Mr."},
}
_FORM_POS = {"a": "DET", "he": "PRON", "him": "PRON", "his": "PRON", "mr": "PROPN"}
_IN_BRACES = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


class GrammarError(ValueError):
    """A grammar says something that cannot be; the sentence names the line."""


@dataclass
class _Sentence:
    moods: tuple[int, ...]  # in which it may be said
    template: Template


@dataclass
class _Stage:
    optional: bool
    sentences: list[_Sentence] = field(default_factory=list)


def read_grammar(texts: Iterable[str]) -> Grammar:
    """Read a grammar out of the texts of its files; what a text uses must stand in it or in one before.

    Parameters
    ----------
    texts : contents of the files.

    Raises
    ------
    GrammarError
        If a line cannot be understood, or says something that cannot be.

    Examples
    --------
    >>> grammar = read_grammar(['''
    ... pos NOUN: cat
    ... pos VERB: slept purred
    ... pos DET: the
    ... pos PUNCT: .
    ... plot nap animals
    ... stage
    ... The cat [slept|purred] .'''])
    >>> grammar.words
    ('.', 'The', 'cat', 'purred', 'slept')
    """
    reader = _Reader()
    for text in texts:
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                reader.read(line.strip())
    return reader.grammar()


class _Reader:
    """What is known so far, and where the next sentence belongs."""

    def __init__(self) -> None:
        self.pos: dict[str, str] = {}
        self.senses: dict[str, dict[str, str]] = {}  # word -> sense -> part of speech
        self.domains: dict[str, Domain] = {}
        self.variables: dict[str, Variable] = {}
        self.distinct: list[tuple[str, str]] = []
        self.groups: dict[str, list[_Sentence]] = {}
        self.plots: list[tuple[str, str, list[_Stage]]] = []
        self.here: list[_Sentence] | None = None

    def read(self, line: str) -> None:
        """Take in one line."""
        try:
            self._read(line)
        except KeyError as error:
            raise GrammarError(f"in the line {line!r}: {error} is not known there") from None
        except (IndexError, ValueError) as error:
            raise GrammarError(f"in the line {line!r}: {error}") from None

    def _read(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        known = {
            "pos": self._pos, "domain": self._domain, "variable": self._variable, "distinct": self._distinct,
            "sense": self._sense, "group": self._group, "plot": self._plot, "stage": self._stage,
            "stage?": self._stage, "?": self._question, "!": self._claim,
        }  # fmt: skip
        if word in known:
            known[word](line if word.startswith("stage") else rest)
        elif word.startswith("@"):
            self._place().extend(self.groups[word[1:]])
        else:
            moods = {"-": (0,), "+": (1,)}.get(word, tuple(range(len(MOODS))))
            said = rest if word in ("-", "+") else line
            self._place().append(_Sentence(moods, Template(said, self._slots(said), (), ())))

    def _place(self) -> list[_Sentence]:
        if self.here is None:
            raise GrammarError("a sentence needs a group or a stage before it")
        return self.here

    def _pos(self, rest: str) -> None:
        pos, words = rest.split(":", 1)
        if pos not in PARTS_OF_SPEECH.split():
            raise GrammarError(f"{pos} is no part of speech: choose one of {PARTS_OF_SPEECH}")
        self.pos |= dict.fromkeys(words.split(), pos)

    def _domain(self, rest: str) -> None:
        head, values = rest.split(":", 1)
        name, entity, pos = head.split()
        pairs = [value.strip().partition("/") for value in values.split(",")]
        named = tuple(tuple(value.split()) for value, _, _ in pairs)
        if len({len(words) for words in named}) != 1:
            raise GrammarError(f"the values of {name} differ in their number of words: make it the same")
        self.domains[name] = Domain(name, entity, pos, named, tuple(gender for _, _, gender in pairs))

    def _variable(self, rest: str) -> None:
        name, domain = rest.split()
        shift = sum(variable.size for variable in self.variables.values())
        self.variables[name] = Variable(name, self.domains[domain], shift)

    def _distinct(self, rest: str) -> None:
        first, second = rest.split()
        if self.variables[first].domain != self.variables[second].domain:
            raise GrammarError(f"{first} and {second} are of different domains: they differ anyway")
        self.distinct.append((first, second))

    def _sense(self, rest: str) -> None:
        word, senses = rest.split(":", 1)
        self.senses[word] = dict(sense.split() for sense in senses.split(","))

    def _group(self, rest: str) -> None:
        self.here = self.groups[rest] = []

    def _plot(self, rest: str) -> None:
        name, topic = rest.split()
        self.plots.append((name, topic, []))
        self.here = None

    def _stage(self, line: str) -> None:
        stage = _Stage(line.endswith("?"))
        self.plots[-1][2].append(stage)
        self.here = stage.sentences

    def _question(self, rest: str) -> None:
        words, answer = rest.split(" = ")
        question = (self._slots(words, untagged=True), self.variables[answer].name)
        last = self._place()[-1]
        last.template = replace(last.template, questions=(*last.template.questions, question))

    def _claim(self, rest: str) -> None:
        last = self._place()[-1]
        claim = self._slots(rest, untagged=True)
        last.template = replace(last.template, claims=(*last.template.claims, claim))

    def _slots(self, text: str, untagged: bool = False) -> tuple[Slot, ...]:
        """Read places; words of questions and claims need not be in the lexicon."""
        slots: list[Slot] = []
        for token in text.split():
            match = _IN_BRACES.fullmatch(token)
            if match:
                slots += self._variable_slots(match[1], match[2])
            else:
                slots.append(
                    Slot({token: (1.0, -1)}, "", said=(token,)) if untagged else self._word_slot(token)
                )
        return tuple(slots)

    def _variable_slots(self, name: str, form: str | None) -> list[Slot]:
        """Return the places of a name, or the one of a pronoun, title or article that goes with it."""
        variable = self.variables[name]
        domain = variable.domain
        if form is None:
            tags = [("B-" if part == 0 else "I-") + domain.entity for part in range(len(domain.values[0]))]
            return [
                _said(variable, [value[part] for value in domain.values], domain.pos, tag, part)
                for part, tag in enumerate(tags if domain.entity != "O" else "O" * len(tags))
            ]
        if form == "a":
            words = ["an" if value[0][0] in "aeiou" else "a" for value in domain.values]
        else:
            words = [_BY_GENDER[gender][form.lower()] for gender in domain.genders]
        if form[0].isupper():
            words = [word.capitalize() for word in words]
        return [_said(variable, words, _FORM_POS[form.lower()])]

    def _word_slot(self, token: str) -> Slot:
        """Return the place of a word, or of one of several."""
        tokens = token[1:-1].split("|") if token.startswith("[") else [token]
        tagged = [self._tagged(one) for one in tokens]
        words, kinds = [word for word, _, _ in tagged], {pos for _, pos, _ in tagged}
        if len(kinds) > 1:
            raise GrammarError(f"{token} mixes parts of speech {sorted(kinds)}: one place has one")
        if len(set(words)) < len(words):
            raise GrammarError(f"{token} says a word twice")
        weights = [1 / rank for rank in range(1, len(words) + 1)]
        shares = [weight / sum(weights) for weight in weights]
        senses = {word: sense for word, _, sense in tagged if sense}
        meaning = {word: (share, -1) for word, share in zip(words, shares, strict=True)}
        cumulative = tuple(accumulate(shares)) if len(words) > 1 else ()
        return Slot(meaning, kinds.pop(), senses=senses, said=tuple(words), cumulative=cumulative)

    def _tagged(self, token: str) -> tuple[str, str, str]:
        """Take a word apart into itself, its part of speech, and its sense or ""."""
        word, _, sense = token.rpartition(":")
        if word in self.senses:
            return word, self.senses[word][sense], sense
        word, _, pos = token.rpartition("/")
        if word and pos in PARTS_OF_SPEECH.split():
            return word, pos, ""
        for form in (token, token[0].lower() + token[1:]):
            if form in self.senses:
                raise GrammarError(f"{token} has two senses: choose {' or '.join(self.senses[form])}")
            if form in self.pos:
                return token, self.pos[form], ""
        raise GrammarError(f"the lexicon has no part of speech for {token}")

    def grammar(self) -> Grammar:
        """Make the network of cells."""
        cells: list[Cell] = []
        following: list[tuple[tuple[int, float], ...]] = []
        starts: list[tuple[int, float]] = []
        plots = []
        for number, (name, topic, stages) in enumerate(self.plots):
            plots.append(Plot(name, topic, self._used(stages)))
            for mood in range(len(MOODS)):
                first = len(cells)
                for stage in stages:
                    said = tuple(s.template for s in stage.sentences if mood in s.moods)
                    if not said:
                        raise GrammarError(f"a stage of {name} has no sentence in {MOODS[mood]} mood")
                    cells.append(Cell(number, mood, stage.optional, said))
                ways = _ways([stage.optional for stage in stages])
                share = 1 / (len(self.plots) * len(MOODS))
                starts += [(first + to, share * p) for to, p in ways[0]]
                following += [tuple((first + to, p) for to, p in way) for way in ways[1:]]
        return Grammar(
            self.variables, tuple(self.distinct), tuple(plots), tuple(cells), tuple(following), tuple(starts)
        )

    def _used(self, stages: Sequence[_Stage]) -> tuple[str, ...]:
        slots = (slot for stage in stages for sentence in stage.sentences for slot in sentence.template.slots)
        used = {slot.variable.name for slot in slots if slot.variable}
        return tuple(name for name in self.variables if name in used)


def _said(variable: Variable, words: list[str], pos: str, entity: str = "O", part: int | None = None) -> Slot:
    """Return the place of a variable's word; a word that several values share lets all of them stand."""
    masks: dict[str, int] = {}
    others = ~variable.mask
    for value, word in enumerate(words):
        masks[word] = masks.get(word, others) | 1 << (variable.shift + value)
    meaning = {word: (1.0, mask) for word, mask in masks.items()}
    return Slot(meaning, pos, entity, variable=variable, part=part, said=tuple(words))


def _ways(optional: Sequence[bool]) -> list[list[tuple[int, float]]]:
    """Return where one may go from the beginning, and from each stage: (next stage, probability)."""
    ways = []
    for here in range(-1, len(optional)):
        way, left = [], 1.0
        for stage in range(here + 1, len(optional)):
            way.append((stage, left * (1 - LEFT_OUT) if optional[stage] else left))
            left *= LEFT_OUT if optional[stage] else 0
            if not left:
                break
        ways.append(way)
    return ways

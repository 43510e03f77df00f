"""Entities written as a label a word: B-PER begins a person, I-PER goes on with it, O is no entity.

Two schemes are in use. BIO (IOB2): every entity begins with B. IOB1: it begins with I, and with B only where
it follows an entity of its own type at once. A model puts out broken BIO now and then: an I that goes on with
nothing. There are two readings of that, which give different scores:

- lenient, as conlleval: such an I begins an entity. It reads IOB1 rightly too.
- strict: only B begins one, and such an I belongs to none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

Scheme = Literal["BIO", "IOB1"]
Broken = Literal["refuse", "repair"]
Reading = Literal["lenient", "strict"]

OUTSIDE = "O"


class Entity(NamedTuple):
    """An entity: its type, its first word, and the word after its last."""

    kind: str
    start: int
    end: int


def split_label(label: str) -> tuple[str, str]:
    """Take a label apart.

    Raises
    ------
    ValueError
        If it is neither O nor a B or I with a type.

    Examples
    --------
    >>> split_label("B-creative-work"), split_label("O")
    (('B', 'creative-work'), ('O', ''))
    """
    prefix, _, kind = label.partition("-")
    if label != OUTSIDE and not (prefix in {"B", "I"} and kind):
        raise ValueError(f"label {label!r} is neither O nor B-TYPE nor I-TYPE: write it as one of them")
    return prefix, kind


def bio_labels(kinds: Iterable[str]) -> tuple[str, ...]:
    """All labels there are for some types of entities, O first; types in alphabetical order.

    Examples
    --------
    >>> bio_labels(["PER", "LOC"])
    ('O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER')
    """
    return OUTSIDE, *(f"{prefix}-{kind}" for kind in sorted(set(kinds)) for prefix in "BI")


def find_entities(labels: Sequence[str], reading: Reading = "lenient") -> list[Entity]:
    """Read the entities of a sentence off its labels.

    Parameters
    ----------
    labels : one for each word, in BIO or, for the lenient reading, IOB1.
    reading : whether an I that goes on with nothing, or with another type, begins an entity ("lenient") or
        belongs to none ("strict").

    Returns
    -------
    the entities in their order.

    Raises
    ------
    ValueError
        If a label or the reading is unknown.

    References
    ----------
    Lenient: conlleval of the CoNLL-2000 and CoNLL-2003 shared tasks, `startOfChunk` and `endOfChunk`.

    Examples
    --------
    >>> find_entities(["B-PER", "I-PER", "O", "I-LOC"])
    [Entity(kind='PER', start=0, end=2), Entity(kind='LOC', start=3, end=4)]
    >>> find_entities(["B-PER", "I-PER", "O", "I-LOC"], reading="strict")
    [Entity(kind='PER', start=0, end=2)]
    """
    _check_choice("reading", reading, get_args(Reading))
    beginners = {"lenient": "BI", "strict": "B"}[reading]
    found: list[Entity] = []
    kind, start = "", 0  # of the entity that is open; no type is ""
    for i, label in enumerate([*labels, OUTSIDE]):
        prefix, its_kind = split_label(label)
        if prefix == "I" and its_kind == kind:
            continue
        if kind:
            found.append(Entity(kind, start, i))
        kind, start = its_kind if prefix in beginners else "", i
    return found


def to_bio(labels: Sequence[str], scheme: Scheme = "BIO", broken: Broken = "refuse") -> list[str]:
    """Write labels in sound BIO.

    Parameters
    ----------
    labels : one for each word.
    scheme : what they are written in.
    broken : what happens where they break the scheme's rule. In BIO, an I must go on with its own type; in
        IOB1, a B must follow its own type. "refuse": an error. "repair": what breaks it begins an entity, as
        in the lenient reading.

    Returns
    -------
    labels of the same entities, each of which begins with B.

    Raises
    ------
    ValueError
        If a label breaks the rule and `broken` is "refuse", or if a label or a choice is unknown.

    References
    ----------
    Ramshaw & Marcus 1995 (IOB1); Tjong Kim Sang & Veenstra 1999 (both, side by side).

    Examples
    --------
    >>> to_bio(["I-PER", "I-PER", "B-PER", "O"], scheme="IOB1")
    ['B-PER', 'I-PER', 'B-PER', 'O']
    >>> to_bio(["O", "I-LOC", "I-LOC"], broken="repair")
    ['O', 'B-LOC', 'I-LOC']
    """
    _check_choice("scheme", scheme, get_args(Scheme))
    _check_choice("broken", broken, get_args(Broken))
    if broken == "refuse":
        _check_rule(labels, scheme)
    sound = [OUTSIDE] * len(labels)
    for kind, start, end in find_entities(labels, "lenient"):
        sound[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return sound


def _check_rule(labels: Sequence[str], scheme: Scheme) -> None:
    bound = {"BIO": "I", "IOB1": "B"}[scheme]  # the prefix that must follow its own type
    for i, (before, label) in enumerate(zip([OUTSIDE, *labels], labels, strict=False)):
        prefix, kind = split_label(label)
        if prefix == bound and split_label(before)[1] != kind:
            place = f"follows {before}" if i else "is the first"
            other = {"BIO": "IOB1", "IOB1": "BIO"}[scheme]
            raise ValueError(
                f"label {i + 1} is {label} but {place}, which {scheme} does not allow: "
                f'read it as {other} if it is that, or let it be repaired by broken="repair"'
            )


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown: choose one of {choices}")

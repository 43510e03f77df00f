"""`fable_relations()`: who depends on whom in Aesop's fables, to ask attention heads about grammar."""

from __future__ import annotations

import re
from importlib import resources
from typing import NamedTuple

from bertlab.datasets.fables import fables

KINDS = {
    "det": "determiner → noun",
    "subj": "subject → verb",
    "obj": "object → verb",
    "pobj": "object → preposition",
}
WORD = re.compile(r"[\w']+")
Span = tuple[int, int]  # where a word stands in its sentence, in characters


class Relation(NamedTuple):
    """One word that depends on another, its head in the sense of grammar."""

    sentence: int  # number in `fables()`
    kind: str  # of KINDS
    dependent: Span
    head: Span


def fable_relations() -> list[Relation]:
    """Return relations between words of `fables()`, marked by hand.

    Four kinds: a determiner and its noun, a subject and its verb, a direct object and its verb, the object of
    a preposition and the preposition. Not all relations of a sentence are marked, nor are all sentences.

    Returns
    -------
    705 relations in 111 sentences, in their order.

    Examples
    --------
    >>> first = next(one for one in fable_relations() if one.kind == "obj")
    >>> sentence = fables()[first.sentence]
    >>> sentence[slice(*first.dependent)], sentence[slice(*first.head)]
    ('him', 'addressed')
    """
    text = resources.files("bertlab.datasets").joinpath("fable_relations.txt").read_text(encoding="utf-8")
    sentences, found = fables(), list[Relation]()
    for line in text.splitlines():
        if not line.startswith("#"):
            number, *kinds = line.split(" | ")
            i = int(number) - 1
            for kind, *pairs in map(str.split, kinds):
                spans = ([find(name, sentences[i]) for name in pair.split(">")] for pair in pairs)
                found += [Relation(i, kind, dependent, head) for dependent, head in spans]
    return found


def find(name: str, sentence: str) -> Span:
    """Find a word in a sentence by its name: "the", or "the.2" for its second occurrence.

    Raises
    ------
    ValueError
        If it does not stand there, or several times and the name does not say which.

    Examples
    --------
    >>> find("the.2", "the dog saw the cat")
    (12, 15)
    """
    word, _, which = name.partition(".")
    spans = [match.span() for match in WORD.finditer(sentence) if match.group() == word]
    if len(spans) < int(which or 1) or (len(spans) > 1 and not which):
        raise ValueError(f"{word!r} stands {len(spans)} times in {sentence!r}: name it {word}.1, {word}.2, …")
    return spans[int(which or 1) - 1]

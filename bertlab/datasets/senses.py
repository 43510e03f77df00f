"""`senses()`: sentences with four words that mean several things, written for this course."""

from __future__ import annotations

from importlib import resources


def senses() -> dict[str, dict[str, list[str]]]:
    """Return sentences by word and by what the word means in them.

    "bank", "spring", "seal" and "play" in two or three senses each. Each sentence has its word once, in this
    very form. Those of "play" differ in part of speech, too; the others are nouns.

    Returns
    -------
    for each of four words, for each sense, six sentences: 60 in all.

    Examples
    --------
    >>> {word: [*kinds] for word, kinds in senses().items()}["spring"]
    ['season', 'coil', 'water']
    >>> senses()["bank"]["river"][0]
    'We sat on the bank and watched the boats.'
    """
    found: dict[str, dict[str, list[str]]] = {}
    text = resources.files("bertlab.datasets").joinpath("senses.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        word, sense, sentence = line.split("\t")
        found.setdefault(word, {}).setdefault(sense, []).append(sentence)
    return found

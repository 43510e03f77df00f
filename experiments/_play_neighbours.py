"""Which part of life do the neighbours of a word belong to? Sport, the theatre, music, or games at a table.

Two ways. By hand: what each of the 50 nearest words of "play" in the published vectors belongs to, written
down before anything was counted. By lists: four lists of words that belong to one part of life, written for
the parts, not for the neighbours; each list has its middle, the mean of its vectors at length 1, and a word
belongs to the list whose middle is nearest, if only one word in fifty is nearer to that middle. Before
that the mean of all words is taken away: they share a direction (Mu and Viswanath 2018), by which "n't" was
near to games and "go" to sport. The second way can be asked of any word in any set of vectors; the first says
whether it can be trusted.

By hand, the rule is: what is the first sense of the word in a dictionary for learners? "sport", if it is one
of contests between players or teams; "sport or game", if the dictionary says "game or sport" there; "form",
if it is another form of "play" itself; "general", all else. Then a second, generous count: "on sports pages"
are those general words of which a common later sense is one of contests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertlab.text import Vectors

Floats = NDArray[np.floating]
NEAREST = (10, 20, 50)
SHARE = 0.02  # of all words that are near to the middle of a list
MATCHED = 200  # words as frequent as the one that is looked at
LISTS = {
    "sport": (
        "football tennis baseball basketball hockey golf soccer rugby cricket athlete athletes league coach "
        "championship tournament stadium goalkeeper team racing sports wrestling boxing rowing swimming"
    ),
    "theatre": (
        "theatre theater stage drama actor actress actors comedy tragedy playwright scene scenes audience "
        "rehearsal curtain dramatic broadway screenplay"
    ),
    "music": (
        "music piano violin guitar flute organ drums trumpet orchestra concert song songs tune melody "
        "musical musician singer band jazz"
    ),
    "games": "chess cards dice gambling poker whist toys toy doll puzzle dominoes marbles checkers billiards",
}
BY_HAND = {
    "form": "playing played plays",
    "sport": "match matches team score scoring",
    "sport or game": "game games player players winning",
    "theatre": "",
    "music": "",
    "on sports pages": "best starting chance break final season coming back round trick straight career",
    "general": (
        "start time going got good again way go did just but went both making hard really ever first place "
        "n't better come well never easy"
    ),
}


def by_hand(neighbours: Sequence[str]) -> dict[str, dict[str, int]]:
    """Count what the nearest 10, 20 and 50 words of "play" in the published vectors belong to.

    Raises
    ------
    ValueError
        If a word was not labelled.
    """
    label_of = {word: label for label, words in BY_HAND.items() for word in words.split()}
    if strange := [word for word in neighbours[: max(NEAREST)] if word not in label_of]:
        raise ValueError(f"{strange} have no label: these are other vectors than those that were labelled")
    counts = {n: Counter(label_of[word] for word in neighbours[:n]) for n in NEAREST}
    return {str(n): {label: counts[n][label] for label in BY_HAND} for n in NEAREST}


def parts_of_life(vectors: Vectors) -> tuple[list[str], dict[str, Floats]]:
    """Tell of each word to which list it belongs, "" if to none; and its cosine to each middle (V,)."""
    centred, cosines = vectors.unit - vectors.unit.mean(0), dict[str, Floats]()
    unit = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    for name, words in LISTS.items():
        rows = [vectors.place(word) for word in words.split() if word in vectors]
        middle = unit[rows].mean(0)
        cosines[name] = unit @ (middle / np.linalg.norm(middle))
    table = np.stack(list(cosines.values()))  # (lists, V)
    near = table >= np.quantile(table, 1 - SHARE, axis=1, keepdims=True)
    best = table.argmax(0)
    names = list(LISTS)
    belongs = [names[k] if near[k, i] else "" for i, k in enumerate(best)]
    return belongs, cosines


def around(vectors: Vectors, belongs: Sequence[str], word: str, n: int) -> dict[str, int]:
    """Count to which lists the n nearest words belong."""
    counts = Counter(belongs[vectors.place(other)] for other, _ in vectors.neighbours(word, n))
    return {name: counts[name] for name in LISTS}


def matched_words(vectors: Vectors, word: str, n: int = MATCHED) -> list[str]:
    """Take the n words of letters whose places in the order of frequency are nearest to a word's own."""
    own = vectors.place(word)
    order = sorted(range(len(vectors)), key=lambda i: abs(i - own))
    words = (vectors.words[i] for i in order if i != own)
    plain = [other for other in words if other.isascii() and other.isalpha() and len(other) > 2]
    return plain[:n]


def neighbourhood(vectors: Vectors, word: str = "play") -> dict[str, Any]:
    """Look around a word, and around others that are as frequent.

    Returns
    -------
    nearest : the 50 nearest words. belongs : to which list each of them belongs, "" if to none.
    lists : of the nearest 10, 20 and 50, how many belong to each.
    matched : for each list, the mean of the same counts over the matched words; and in what share of them
        there are as many as around the word, of the nearest 50.
    percentile : for each list, the share of the matched words that are less near to its middle.
    """
    belongs, cosines = parts_of_life(vectors)
    most = max(NEAREST)
    nearest = [other for other, _ in vectors.neighbours(word, most)]
    others = matched_words(vectors, word)
    own = {n: around(vectors, belongs, word, n) for n in NEAREST}
    theirs = {n: [around(vectors, belongs, other, n) for other in others] for n in NEAREST}
    places = [vectors.place(other) for other in others]
    return {
        "nearest": nearest,
        "belongs": [belongs[vectors.place(other)] for other in nearest],
        "lists": {str(n): own[n] for n in NEAREST},
        "matched": {
            name: {
                **{str(n): round(float(np.mean([one[name] for one in theirs[n]])), 2) for n in NEAREST},
                "as many": round(float(np.mean([one[name] >= own[most][name] for one in theirs[most]])), 3),
            }
            for name in LISTS
        },
        "percentile": {
            name: round(float((cosines[name][places] < cosines[name][vectors.place(word)]).mean()), 3)
            for name in LISTS
        },
        "cosine": {name: round(float(cosines[name][vectors.place(word)]), 3) for name in LISTS},
        "matched words": len(others),
    }

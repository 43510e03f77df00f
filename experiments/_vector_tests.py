"""What word vectors say of words alone: relations, similarity as people see it, and kinds of things.

All sets are asked about the same words, those that ours and the published ones have, and only these can be
answers. Two pairs of a relation make a question; questions that begin with the same pair are drawn together
when an interval is computed. (They share words with others, too: the intervals are a little narrow.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from bertlab.datasets.word_relations import KINDS, MEANING, RELATIONS
from bertlab.text import Vectors

Floats = NDArray[np.float64]
JUDGED = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}
DRAWS = 2000


def relations(vectors: Vectors, exclude: bool = True) -> dict[str, list[list[float]]]:
    """Ask all questions that can be asked.

    Parameters
    ----------
    vectors : of the words that may be answers.
    exclude : whether the words of the question are no answers.

    Returns
    -------
    for each relation, for each pair (right answers, questions) that begin with it.
    """
    found = {}
    for name, pairs in RELATIONS.items():
        known = [pair for pair in pairs if all(word in vectors for word in pair)]
        scores = [
            vectors.analogies([(*first, *second) for second in known if second != first], exclude)
            for first in known
        ]
        found[name] = [[float(score.right), float(score.asked)] for score in scores]
    return found


def halves(by_relation: dict[str, list[list[float]]]) -> dict[str, list[list[float]]]:
    """Join the relations of meaning, those of grammar, and all."""
    names = {
        "meaning": [name for name in by_relation if name in MEANING],
        "grammar": [name for name in by_relation if name not in MEANING],
        "all": list(by_relation),
    }
    return {half: [row for name in some for row in by_relation[name]] for half, some in names.items()}


@cache
def judged_pairs(name: str) -> tuple[tuple[str, str, float], ...]:
    """Read pairs of words with how much alike people find them; gensim's package carries the lists.

    References
    ----------
    Finkelstein et al. 2002 (WordSim-353: alike or related); Hill et al. 2015 (SimLex-999: alike alone).
    """
    spec = find_spec("gensim")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the lists of judged pairs are in the package gensim: install it")
    path = Path(spec.submodule_search_locations[0]) / "test" / "test_data" / JUDGED[name]
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if line and line[0] != "#"]
    return tuple((one.lower(), other.lower(), float(value)) for one, other, value in rows)


def similarities(vectors: Vectors, name: str) -> tuple[Floats, Floats]:
    """Give what people and the vectors say of the pairs of a list that can be asked: (n,) and (n,)."""
    known = [pair for pair in judged_pairs(name) if pair[0] in vectors and pair[1] in vectors]
    said = [vectors.similarity(one, other) for one, other, _ in known]
    return np.array([value for _, _, value in known]), np.array(said)


def spearman(one: Floats, other: Floats) -> float:
    """Correlate ranks, equals sharing theirs."""
    return float(np.corrcoef(rankdata(one), rankdata(other))[0, 1])


def spearman_draws(gold: Floats, said: Sequence[Floats], draws: int = DRAWS) -> Floats:
    """Correlate with what people say, on pairs drawn anew; of several seeds the mean: (draws,).

    The same draws for every caller with as many pairs, so that two sets of vectors can be compared.
    """
    rows = np.random.default_rng(0).integers(len(gold), size=(draws, len(gold)))
    return np.array([np.mean([spearman(gold[row], one[row]) for one in said]) for row in rows])


def kinds(vectors: Vectors) -> list[list[float]]:
    """For each word of `KINDS`, whether the nearest of all the others is of its kind: [1 or 0, 1]."""
    kind_of = {word: kind for kind, words in KINDS.items() for word in words if word in vectors}
    some = vectors.of(kind_of)
    cosines = some.unit @ some.unit.T
    np.fill_diagonal(cosines, -np.inf)
    words = list(kind_of)
    return [
        [float(kind_of[words[best]] == kind_of[word]), 1.0]
        for word, best in zip(words, cosines.argmax(1), strict=True)
    ]

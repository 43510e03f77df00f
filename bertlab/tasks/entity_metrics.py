"""How many entities were found: precision, recall and F1 over whole entities, as conlleval counts.

An entity is right if its type and both its ends are. Words are no measure: most are outside of any entity, so
that who finds half of the entities may have nine words in ten right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bertlab.tasks.bio import Reading, find_entities


@dataclass(frozen=True)
class Scores:
    """Counts of entities, and the three shares made of them; a share of nothing is 0."""

    n_gold: int
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """Share of the predicted entities that are right."""
        return self.n_correct / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold entities that were found."""
        return self.n_correct / self.n_gold if self.n_gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.n_gold + self.n_predicted
        return 2 * self.n_correct / total if total else 0.0


@dataclass(frozen=True)
class EntityScores:
    """Scores over all entities, and over those of each type that is in gold or predicted."""

    overall: Scores
    by_type: dict[str, Scores]  # in alphabetical order
    word_accuracy: float  # share of words whose label is right: what should not be reported as F1


def entity_scores(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], reading: Reading = "lenient"
) -> EntityScores:
    """Compare the entities of sentences with those that were predicted.

    Parameters
    ----------
    gold, predicted : for each sentence, a label for each word; see `bertlab.tasks.bio`.
    reading : of both. "lenient", as conlleval: an I that goes on with nothing begins an entity. "strict": it
        belongs to none. Say which one a figure was made with; published ones are lenient as a rule.

    Returns
    -------
    the scores, as shares between 0 and 1. Entities of all types count alike in the overall ones.

    Raises
    ------
    ValueError
        If there is no sentence, or gold and predicted have not the same sentences of the same lengths; or if
        a label is neither O nor B or I with a type.

    References
    ----------
    Tjong Kim Sang & De Meulder 2003, and its script conlleval.

    Examples
    --------
    >>> gold, predicted = [["O", "B-LOC", "I-LOC"]], [["O", "I-LOC", "I-LOC"]]
    >>> entity_scores(gold, predicted).overall.f1, entity_scores(gold, predicted, "strict").overall.f1
    (1.0, 0.0)
    """
    _check(gold, predicted)
    counts: tuple[Counter[str], ...] = Counter(), Counter(), Counter()  # gold, predicted, correct
    for right, guessed in zip(gold, predicted, strict=True):
        theirs, ours = set(find_entities(right, reading)), set(find_entities(guessed, reading))
        for counter, entities in zip(counts, (theirs, ours, theirs & ours), strict=True):
            counter.update(entity.kind for entity in entities)
    kinds = sorted(counts[0] | counts[1])
    pairs = [pair for rows in zip(gold, predicted, strict=True) for pair in zip(*rows, strict=True)]
    return EntityScores(
        Scores(*(counter.total() for counter in counts)),
        {kind: Scores(*(counter[kind] for counter in counts)) for kind in kinds},
        sum(right == guessed for right, guessed in pairs) / len(pairs) if pairs else 0.0,
    )


def _check(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> None:
    if not gold:
        raise ValueError("there are 0 sentences to score: give at least one")
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} sentences of gold, {len(predicted)} predicted: give both for the same")
    for i, (right, guessed) in enumerate(zip(gold, predicted, strict=True)):
        if len(right) != len(guessed):
            raise ValueError(
                f"sentence {i} has {len(right)} labels in gold, {len(guessed)} predicted: give one a word"
            )

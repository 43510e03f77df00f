"""How good a model can be on synthetic stories: the best possible scores, with confidence intervals.

Each is an average over drawn stories of what the exact posterior promises. So only the stories are sampled,
not the right answers: a word that may be two things with equal chances counts as half right.

Stories are drawn from those for training. Where the held-out ones are, by their hash, the posterior does
not know; no model that has not learnt the hash can be better on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bertlab.datasets.stories_grammar import Grammar
from bertlab.datasets.stories_inference import (
    mood_posterior,
    next_sentence_posterior,
    posterior,
    sense_posterior,
)
from bertlab.datasets.stories_sampling import Story, sample_stories


class Bound(NamedTuple):
    """The best possible score."""

    accuracy: float
    half_width: float  # of the 95 % confidence interval of the accuracy
    loss: float  # the lowest possible cross-entropy, in nats
    n: int  # how many answers were averaged over


def bayes_accuracy(
    rng: np.random.Generator,
    n: int,
    left_only: bool = False,
    hidden: float = 0.0,
    grammar: Grammar | None = None,
) -> Bound:
    """Say how often the likeliest word is the right one, for a word hidden anywhere in a story.

    Parameters
    ----------
    rng : source of chance.
    n : how many stories; one word is hidden in each. A story counts as often as it has words.
    left_only : the model sees only what stands before the word, as a left-to-right one does.
    hidden : share of the other words that are hidden as well; 0.15 is BERT's pre-training where every
        chosen word is masked. (Of the 80/10/10 rule's wrong and unchanged words, the posterior knows
        nothing.)
    grammar : the package's own, if not given.

    Examples
    --------
    >>> both = bayes_accuracy(np.random.default_rng(0), 50)
    >>> left = bayes_accuracy(np.random.default_rng(0), 50, left_only=True)
    >>> both.accuracy > left.accuracy
    True
    """
    answers, weights = [], []
    for story in sample_stories(rng, n, grammar=grammar):
        places = [(i, j) for i, words in enumerate(story.words) for j in range(len(words))]
        covered = rng.random(len(places)) < hidden
        seen: list[list[str | None]] = [list(words) for words in story.words]
        for (i, j), cover in zip(places, covered.tolist(), strict=True):
            if cover:
                seen[i][j] = None
        answers.append(posterior(seen, places[rng.integers(len(places))], left_only, grammar))
        weights.append(len(places))
    return _bound(answers, weights)


def bayes_sense_accuracy(
    rng: np.random.Generator, n: int, left_only: bool = False, grammar: Grammar | None = None
) -> Bound:
    """Say how often the likelier sense of an ambiguous word is the right one.

    Parameters
    ----------
    rng, n, grammar : see `bayes_accuracy`. A story counts as often as it has ambiguous words.
    left_only : the model sees only the word and what stands before it.
    """
    answers, weights = [], []
    for story in sample_stories(rng, n, grammar=grammar):
        places = [(i, j) for i, sentence in enumerate(story.sentences) for j in sentence.senses]
        if places:
            place = places[rng.integers(len(places))]
            answers.append(sense_posterior(story.words, place, left_only, grammar))
            weights.append(len(places))
    return _bound(answers, weights)


def bayes_mood_accuracy(
    rng: np.random.Generator, n: int, sentences: int | None = None, grammar: Grammar | None = None
) -> Bound:
    """Say how often the likelier mood is the right one, for the first sentences of a story or all of it.

    Parameters
    ----------
    rng, n, grammar : see `bayes_accuracy`.
    sentences : how many are seen; None: all of them.
    """
    stories = sample_stories(rng, n, grammar=grammar)
    return _bound([mood_posterior(s.words[:sentences], sentences is None, grammar) for s in stories])


def bayes_next_sentence_accuracy(
    rng: np.random.Generator, n: int, length: int = 1, grammar: Grammar | None = None
) -> Bound:
    """Say how often one can tell the next sentence of a story from any sentence of another one.

    Parameters
    ----------
    rng, grammar : see `bayes_accuracy`.
    n : how many pairs; half of them are true. All neighbours, and all false second texts, are equally likely.
    length : how many sentences each of both texts has, 1 or 2: the shortest story has five.
    """
    if not 1 <= length <= 2:
        raise ValueError(f"length={length}: compare texts of 1 or 2 sentences")
    pairs = _rows(sample_stories(rng, n, grammar=grammar), 2 * length)
    others = _rows(sample_stories(rng, n, grammar=grammar), length)
    answers = []
    for k in range(n):
        row = pairs[rng.integers(len(pairs))]
        second = others[rng.integers(len(others))] if k % 2 else row[length:]
        true = next_sentence_posterior(row[:length], second, grammar)
        answers.append({"next": true, "other": 1 - true})
    return _bound(answers)


def _rows(stories: Iterable[Story], n: int) -> list[list[list[str]]]:
    """List all rows of n sentences that stand in stories one behind the other."""
    return [story.words[i : i + n] for story in stories for i in range(len(story.words) - n + 1)]


def _bound(answers: Sequence[Mapping[str, float]], weights: list[int] | None = None) -> Bound:
    """Average what posteriors promise; the interval is that of a ratio of two averages."""
    best = np.array([max(answer.values()) for answer in answers])
    surprise = np.array([-sum(p * math.log(p) for p in answer.values() if p) for answer in answers])
    share = np.array(weights or [1] * len(answers), dtype=np.float64)
    share /= share.sum()
    accuracy = float(share @ best)
    half_width = 1.96 * float(np.sqrt((share**2) @ (best - accuracy) ** 2))
    return Bound(accuracy, half_width, float(share @ surprise), len(answers))

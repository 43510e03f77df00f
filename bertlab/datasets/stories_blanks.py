"""Stories with hidden words: what a masked language model is asked, and the best answers there can be."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from bertlab.datasets.stories_grammar import Grammar
from bertlab.datasets.stories_inference import posterior
from bertlab.datasets.stories_sampling import Story


class Blanks(NamedTuple):
    """A story of which some words are hidden."""

    sentences: list[list[str | None]]  # None where a word is hidden
    answers: list[str]  # the hidden words, in the order of the story
    chances: list[dict[str, float]]  # for each blank word -> probability, exactly, the likeliest first


def hide_words(
    story: Story,
    rng: np.random.Generator,
    rate: float = 0.15,
    never: Collection[str] = (),
    grammar: Grammar | None = None,
) -> Blanks:
    """Hide words of a story as BERT's pre-training does where every chosen word is masked.

    Parameters
    ----------
    story : from `sample_stories`.
    rng : source of chance.
    rate : chance of each word to be hidden.
    never : words that are not hidden, those of which a tokenizer makes several pieces.
    grammar : that of the story; the package's own, if not given.

    Returns
    -------
    `Blanks`. Who always says the first of `chances` is right as often as anybody can be on average: each is
    computed from all that is not hidden, on both sides of the blank.

    Examples
    --------
    >>> from bertlab.datasets.stories_sampling import sample_stories
    >>> story = sample_stories(np.random.default_rng(18), 1)[0]
    >>> blanks = hide_words(story, np.random.default_rng(1))
    >>> blanks.sentences[0], blanks.answers[0], round(blanks.chances[0][blanks.answers[0]], 2)
    (['On', 'Thursday', None, 'walked', 'straight', 'to', 'the', 'bank', '.'], 'Ivan', 1.0)
    """
    places = [(i, j) for i, words in enumerate(story.words) for j in range(len(words))]
    hidden = [(i, j) for i, j in places if rng.random() < rate and story.words[i][j] not in never]
    seen: list[list[str | None]] = [list(words) for words in story.words]
    for i, j in hidden:
        seen[i][j] = None
    chances = [posterior(seen, place, grammar=grammar) for place in hidden]
    return Blanks(seen, [story.words[i][j] for i, j in hidden], chances)

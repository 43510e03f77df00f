"""What can be known of a hidden word of a synthetic story, exactly: the best that any model can do.

Only what is visible counts: the words, and where sentences end. Everything that the story chose and does
not say is summed over: plot, mood, values of variables, left-out stages, which sentence of the grammar a
sentence is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from bertlab.datasets.stories_chain import Words, explanations, forward, mass, mass_of_all, prior, readings
from bertlab.datasets.stories_grammar import MOODS, Grammar
from bertlab.datasets.stories_plots import default_grammar


def posterior(
    sentences: Sequence[Words],
    position: tuple[int, int],
    left_only: bool = False,
    grammar: Grammar | None = None,
) -> dict[str, float]:
    """Say how likely each word stands at one position of a synthetic story, given the others: exactly.

    Parameters
    ----------
    sentences : the words of each sentence, None where others are hidden as well.
    position : (sentence, word), from 0. What stands there is not looked at.
    left_only : only what stands before the position is known: not even how the sentence goes on, or the
        story, except that there is a word here.
    grammar : the package's own, if not given.

    Returns
    -------
    word -> probability, the likeliest first; they sum to 1.

    Raises
    ------
    ValueError
        If there is no such position, or no story of the grammar reads like this.

    Examples
    --------
    >>> story = [["On", "Friday", "Ida", "went", "straight", "to", "the", "bank", "."], ["The", "sky", "was"]]
    >>> best = posterior(story, (0, 7), left_only=True)
    >>> list(best)
    ['bank']
    """
    grammar = grammar or default_grammar()
    i, j = _checked(sentences, position)
    likely: dict[str, float] = defaultdict(float)
    if left_only:
        sentence: Words = sentences[i][:j]
    else:
        sentence = [*sentences[i][:j], None, *sentences[i][j + 1 :]]
    for found in explanations(grammar, sentences, i, sentence, left_only):
        if len(found.template.slots) > j:
            for word, (p, mask) in found.template.slots[j].words.items():
                likely[word] += found.weight * p * prior(grammar, found.mask & mask)
    return _normalised(likely, grammar, sentences)


def sense_posterior(
    sentences: Sequence[Words],
    position: tuple[int, int],
    left_only: bool = False,
    grammar: Grammar | None = None,
) -> dict[str, float]:
    """Say how likely the word at one position has each of its senses; "" is no sense of the inventory.

    Parameters
    ----------
    sentences, position, grammar : see `posterior`, which also names the errors; the word itself is known.
    left_only : only the word and what stands before it is known.

    Examples
    --------
    >>> start = [["On", "Friday", "Ida", "went", "straight", "to", "the", "bank", "."]]
    >>> sense_posterior(start, (0, 7), left_only=True)
    {'money': 0.5, 'river': 0.5}
    """
    grammar = grammar or default_grammar()
    i, j = _checked(sentences, position)
    word = sentences[i][j]
    if word is None:
        raise ValueError(f"the word at {position} is hidden: only a word has a sense")
    likely: dict[str, float] = defaultdict(float)
    sentence = sentences[i][: j + 1] if left_only else sentences[i]
    for found in explanations(grammar, sentences, i, sentence, left_only):
        sense = found.template.slots[j].senses.get(word, "")
        likely[sense] += found.weight * prior(grammar, found.mask)
    return _normalised(likely, grammar, sentences)


def mood_posterior(
    sentences: Sequence[Words], whole: bool = True, grammar: Grammar | None = None
) -> dict[str, float]:
    """Say how likely a story has each mood.

    Parameters
    ----------
    sentences : the words of each sentence, None where they are hidden.
    whole : the story ends here; else it may go on.
    grammar : the package's own, if not given.

    Examples
    --------
    >>> mood_posterior([["For", "Ida", "everything", "began", "with", "a", "bat", "."]], whole=False)
    {'negative': 0.5, 'positive': 0.5}
    """
    grammar = grammar or default_grammar()
    likely = dict.fromkeys(MOODS, 0.0)
    for cell, masks in forward(grammar, sentences).items():
        end = grammar.ends[cell] if whole else 1.0
        for mask, weight in masks.items():
            likely[MOODS[grammar.cells[cell].mood]] += end * weight * prior(grammar, mask)
    return _normalised(likely, grammar, sentences)


def next_sentence_posterior(
    first: Sequence[Words], second: Sequence[Words], grammar: Grammar | None = None
) -> float:
    """Say how likely the second of two texts follows the first, where half of the pairs are true.

    The texts are neighbours in one story, or else the second is from another story, where all places are
    equally likely. In both cases the first has something after it, and how long the texts are tells
    nothing.

    Parameters
    ----------
    first, second : the words of each sentence.
    grammar : the package's own, if not given.
    """
    grammar = grammar or default_grammar()
    behind = len(second)
    together = mass(grammar, [*first, *second], 0) / mass_of_all(grammar, len(first) + behind)
    apart = mass(grammar, first, behind) / mass_of_all(grammar, len(first) + behind)
    apart *= mass(grammar, second, 0) / mass_of_all(grammar, behind)
    if not together + apart:
        raise ValueError(f"the grammar has no such texts: {_unread(grammar, [*first, *second])}")
    return together / (together + apart)


def _checked(sentences: Sequence[Words], position: tuple[int, int]) -> tuple[int, int]:
    i, j = position
    if not (0 <= i < len(sentences) and 0 <= j < len(sentences[i])):
        raise ValueError(f"there is no word at {position}: give (sentence, word), both counted from 0")
    return i, j


def _normalised(
    likely: Mapping[str, float], grammar: Grammar, sentences: Sequence[Words]
) -> dict[str, float]:
    total = sum(likely.values())
    if not total:
        raise ValueError(f"no story of the grammar reads like this: {_unread(grammar, sentences)}")
    ordered = sorted(likely.items(), key=lambda pair: (-pair[1], pair[0]))
    return {word: weight / total for word, weight in ordered if weight}


def _unread(grammar: Grammar, sentences: Sequence[Words]) -> str:
    """Name a sentence that is none of the grammar, or else what does not fit together."""
    for sentence in sentences:
        if not readings(grammar, tuple(sentence)):
            return " ".join(word or "___" for word in sentence) + " is no sentence of it"
    return "its sentences do not fit together"

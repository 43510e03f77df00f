r"""Synthetic stories: an endless English corpus made by code, with all labels and the best possible scores.

A story has five to nine sentences and one of seventeen plots: fishing, a cave, a theatre, a wedding. Its
people, towns and things are drawn at random and stay the same; its mood decides how it turns out. 27 words
have two senses (a bank of a river, a bank for money), and which one is often known only later. Each word
has its part of speech, each name its label, each story questions with their answers, and claims that hold
or do not.

All of it is synthetic: made from the grammar in `story_plots/`, whose signs `stories_grammar` explains.
Therefore each word has a probability, and `posterior` gives it exactly. No model can do better; how close
one comes is a measurement without noise in its goal.

Examples
--------
>>> import numpy as np
>>> story = sample_stories(np.random.default_rng(18), 1)[0]
>>> print(*story.document.sentences, sep="\n")
On Thursday Ivan walked straight to the bank.
He had promised Erik an eel for lunch.
They saw a big wave, but it was only a duck.
The water was so cold that even the eel was shivering.
Slowly the line moved, and Ivan pulled out a huge eel.
Ivan carried the eel through Bristol like a baby.
>>> sense_posterior(story.words, (0, 7)), sense_posterior(story.words, (0, 7), left_only=True)
({'river': 1.0}, {'money': 0.5, 'river': 0.5})
>>> list(posterior(story.words, (0, 2)))  # who walked? Later the story says it again
['Ivan']
>>> len(posterior(story.words, (0, 2), left_only=True))  # but at first, it is anybody
40
"""

from __future__ import annotations

from bertlab.datasets.stories_blanks import Blanks, hide_words
from bertlab.datasets.stories_bounds import (
    Bound,
    bayes_accuracy,
    bayes_mood_accuracy,
    bayes_next_sentence_accuracy,
    bayes_sense_accuracy,
)
from bertlab.datasets.stories_grammar import MOODS, Grammar
from bertlab.datasets.stories_inference import (
    mood_posterior,
    next_sentence_posterior,
    posterior,
    sense_posterior,
)
from bertlab.datasets.stories_plots import default_grammar
from bertlab.datasets.stories_reader import GrammarError, read_grammar
from bertlab.datasets.stories_sampling import (
    Claim,
    Question,
    Sentence,
    Story,
    is_held_out,
    join_words,
    sample_stories,
)

__all__ = [
    "MOODS",
    "Blanks",
    "Bound",
    "Claim",
    "Grammar",
    "GrammarError",
    "Question",
    "Sentence",
    "Story",
    "bayes_accuracy",
    "bayes_mood_accuracy",
    "bayes_next_sentence_accuracy",
    "bayes_sense_accuracy",
    "default_grammar",
    "hide_words",
    "is_held_out",
    "join_words",
    "mood_posterior",
    "next_sentence_posterior",
    "posterior",
    "read_grammar",
    "sample_stories",
    "sense_posterior",
]

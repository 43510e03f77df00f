"""Missing words of held-out stories, with all that can be known of each, exactly; and their senses.

In each story a few words are asked for, each alone: all others are read. An answer is judged by the whole
posterior, not by the one word that happened to stand there: its loss is the mean over all words that could
stand there, as likely as they are. So there is no luck in it, and what a model loses beyond the optimum is
its divergence from the posterior.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from _arm_states import Text, choices, features
from _arms import Arm
from _story_opinions import from_the_right, normalised, product, unigram
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from _homographs import Sentence, right_by_word
from bert_stories import GRAMMAR, NEVER, pieces, vocabulary
from bertlab.datasets.stories import Story, posterior, sample_stories, sense_posterior

FLOOR = -30.0  # instead of the logarithm of 0
KNOWN = ("alone", "left", "right", "product", "both")  # what may be known of a word
LONGEST, LEAST = 126, 3  # pieces of a story that is asked about; occurrences of a sense to learn from
Answer = Callable[[Tensor, Tensor], Tensor]  # as `Arm.log_p`


class Exam(NamedTuple):
    """Questions, and what can be known of each of the M words."""

    texts: Tensor  # (N, T) whole stories
    positions: Tensor  # (M,) row * T + column
    known: dict[str, Tensor]  # of `KNOWN`: (M, V) chances; "both" is the truth
    names: NDArray[np.bool_]  # (M,) whether a name stands there
    stories: NDArray[np.int64]  # (M,) number of the story


def exam(n: int, words: int, seed: int) -> Exam:
    """Ask for some words of n held-out stories.

    Parameters
    ----------
    n, words : stories, and places in each, all equally likely.
    seed : of stories and places.
    """
    rng, vocab = np.random.default_rng(seed), vocabulary()
    stories = sample_stories(rng, n, held_out=True, grammar=GRAMMAR)
    rows, places, found, names, numbers = [], [], list[list[Tensor]](), [], []
    for number, story in enumerate(stories):
        rows.append(torch.tensor([vocab.cls_id, *pieces(story.words), vocab.sep_id]))
        asked = [(i, j) for i, told in enumerate(story.words) for j in range(len(told))]
        for k in rng.permutation(len(asked))[:words]:
            i, j = asked[int(k)]
            chances = opinions(story, (i, j))
            if any(word in NEVER for known in chances.values() for word in known):
                continue  # a word of two pieces could stand there
            places.append((number, place_of(story, (i, j))))
            found.append([dense(chances[name]) for name in KNOWN])
            names.append(story.words[i][j] in GRAMMAR.name_words)
            numbers.append(number)
    texts = pad_sequence(rows, True, vocab.pad_id)
    if texts.shape[1] > LONGEST + 2:
        raise ValueError(f"a story has {texts.shape[1]} positions: choose a larger LONGEST than {LONGEST}")
    positions = torch.tensor([row * texts.shape[1] + column for row, column in places])
    known = dict(zip(KNOWN, map(torch.stack, zip(*found, strict=True)), strict=True))
    return Exam(texts, positions, known, np.array(names), np.array(numbers))


def opinions(story: Story, place: tuple[int, int]) -> dict[str, dict[str, float]]:
    """Say what can be known of a word from either side, from both at once, and by multiplying."""
    left = posterior(story.words, place, left_only=True, grammar=GRAMMAR)
    right, alone = from_the_right(story.words, place, GRAMMAR), unigram(GRAMMAR)
    return {
        "alone": normalised({word: p for word, p in alone.items() if word not in NEVER}),
        "left": left,
        "right": right,
        "product": product(left, right, alone),
        "both": posterior(story.words, place, grammar=GRAMMAR),
    }


def place_of(story: Story, place: tuple[int, int]) -> int:
    """Position of a word's first piece in a story behind [CLS]."""
    i, j = place
    return 1 + len(pieces(story.words[:i])) + len(pieces([story.words[i][:j]]))


def dense(chances: dict[str, float]) -> Tensor:
    """Write chances as (V,)."""
    ids, row = vocabulary().ids, torch.zeros(len(vocabulary()))
    row[[ids[word] for word in chances]] = torch.tensor(list(chances.values()))
    return row


def logarithms(known: Tensor) -> Tensor:
    """Logarithms of chances, of 0 a small number."""
    return known.log().clamp(min=FLOOR)


@torch.no_grad()
def answered(answer: Answer, asked: Exam) -> NDArray[np.float64]:
    """Judge the answers to an exam by the truth: loss and chance to be right of each word, (M, 2)."""
    return judged(answer(asked.texts, asked.positions), asked)


def judged(log_p: Tensor, asked: Exam) -> NDArray[np.float64]:
    """Judge log probabilities (M, V): see `answered`."""
    truth = asked.known["both"]
    loss = -(truth * log_p.clamp(min=FLOOR)).sum(1)
    right = truth[torch.arange(len(truth)), log_p.argmax(1)]
    return torch.stack([loss, right], 1).double().numpy()


def means(values: NDArray[np.float64], asked: Exam) -> dict[str, float]:
    """Means of what `judged` gives, over all words, names, and others."""
    parts = {"": np.ones(len(values), bool), " of names": asked.names, " of others": ~asked.names}
    found = dict[str, float]()
    for part, own in parts.items():
        if own.any():
            loss, accuracy = values[own].mean(0).tolist()
            found |= {f"loss{part}": round(loss, 4), f"accuracy{part}": round(accuracy, 4)}
    return found


class Senses(NamedTuple):
    """Occurrences of words with two senses, to learn from and to ask about."""

    learnt: list[Sentence]
    asked: list[Sentence]
    best: dict[str, float]  # how often the likelier sense is right: known from the left, from both sides


@cache
def senses(n_learnt: int, n_asked: int, seed: int) -> Senses:
    """Collect the occurrences in so many stories, and what can be known of those that are asked about.

    A word counts if each of its two senses occurs a few times in what is learnt from.
    """
    rng = np.random.default_rng(seed)
    some = sample_stories(rng, n_learnt, grammar=GRAMMAR)
    learnt = [one for story in some for one, _ in occurrences(story)]
    counts = Counter((one.word, one.sense) for one in learnt)
    often = Counter(word for (word, _), n in counts.items() if n >= LEAST)
    words = {word for word, n in often.items() if n == 2}
    asked, chances = list[Sentence](), dict[str, list[float]](left=[], both=[])
    for story in sample_stories(rng, n_asked, held_out=True, grammar=GRAMMAR):
        for one, place in occurrences(story):
            if one.word in words:
                asked.append(one)
                for name in chances:
                    known = sense_posterior(story.words, place, name == "left", GRAMMAR)
                    chances[name].append(max(known.values()))
    best = {name: round(float(np.mean(p)), 4) for name, p in chances.items()}
    return Senses([one for one in learnt if one.word in words], asked, best)


def occurrences(story: Story) -> list[tuple[Sentence, tuple[int, int]]]:
    """List the words of a story that have two senses, and their places."""
    vocab = vocabulary()
    ids = [vocab.cls_id, *pieces(story.words), vocab.sep_id]
    found = list[tuple[Sentence, tuple[int, int]]]()
    for i, sentence in enumerate(story.sentences):
        for j, sense in sentence.senses.items():
            at = place_of(story, (i, j))
            one = Sentence(sentence.words[j].lower(), sense, ids, slice(at, at + 1))
            found.append((one, (i, j)))
    return found


def probed(arm: Arm, asked: Senses) -> dict[str, Any]:
    """Probe the words for their senses: accuracy by layer, and of all layers side by side."""
    some = [*asked.learnt, *asked.asked]
    texts = [Text(one.ids, [0] * len(one.ids), [(one.pieces.start, one.pieces.stop - 1)]) for one in some]
    n, found = len(asked.learnt), dict[str, Any]()
    for name, x in choices(features(arm, texts, words=True)).items():
        by_word = right_by_word(x[:n], x[n:], asked.learnt, asked.asked).values()
        found[name] = round(sum(one.right for one in by_word) / len(asked.asked), 4)
        found["majority"] = round(sum(one.usual for one in by_word) / len(asked.asked), 4)
    return found

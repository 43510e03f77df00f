"""The four tasks in small, each with a rule that a BERT of 2 layers of 32 finds within seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bertlab.nn import BertConfig, BertModel
from bertlab.tasks.classification import Example
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.heads import BertForClassification, BertForSpans, BertForTokens, Head
from bertlab.tasks.squad import Answer, Question
from bertlab.tasks.task import Answers, Classification, Entities, Part, Task
from bertlab.text import SPECIAL, WordPiece

FILLERS = ("a", "cat", "sat", "on", "the", "mat", "##s", "very", "big", "dog", "ran", "away")
NAMES = ("ivo", "hart", "##well", "ska", "##r", "##n")
SIGNS = ("good", "bad", "not", "red", "blue", "which", "color")
TOKENIZER = WordPiece([*SPECIAL, *FILLERS, *NAMES, *SIGNS])
LABELS = ("O", "B-PER", "I-PER", "B-LOC")
KINDS = ("text", "pair", "entities", "answers")


def parts_of(kind: str, sizes: dict[Part, int], shuffled: bool = False) -> dict[Part, list[Any]]:
    """Make examples; shuffled: the answers of train belong to other inputs."""
    rng = np.random.default_rng(0)
    return {part: MAKERS[kind](rng, n, shuffled and part == "train") for part, n in sizes.items()}


def made(kind: str, parts: dict[Part, list[Any]]) -> Task[Any]:
    """Make the task of some examples."""
    if kind in ("text", "pair"):
        return Classification(parts, ("no", "yes"), TOKENIZER, max_length=32)
    if kind == "entities":
        return Entities(parts, LABELS, TOKENIZER, max_length=32)
    return Answers(parts, TOKENIZER, max_length=16, step=7)


def tiny(kind: str, seed: int = 0, **changes) -> Head:
    """Make a model for it, which has learnt nothing yet."""
    torch.manual_seed(seed)
    sizes = {"d_model": 32, "n_layers": 2, "n_heads": 2, "d_ff": 64, "max_positions": 32, "dropout": 0.0}
    config = BertConfig(vocab_size=len(TOKENIZER.vocab), **{**sizes, "attention_dropout": 0.0, **changes})
    bert = BertModel(config, pooler=kind in ("text", "pair"))
    if kind in ("text", "pair"):
        return BertForClassification(bert, 2)
    return BertForTokens(bert, len(LABELS)) if kind == "entities" else BertForSpans(bert)


def words(rng: np.random.Generator, least: int, most: int) -> list[str]:
    return rng.choice([word for word in FILLERS if word[0] != "#"], rng.integers(least, most + 1)).tolist()


def with_word(some: list[str], word: str, rng: np.random.Generator) -> list[str]:
    place = int(rng.integers(len(some) + 1))
    return [*some[:place], word, *some[place:]]


def texts(rng: np.random.Generator, n: int, shuffled: bool) -> list[Example]:
    """Yes, if "good" is said, no if "bad" is."""
    right = rng.permutation(np.arange(n) % 2)
    said = rng.permutation(right) if shuffled else right
    return [
        Example(" ".join(with_word(words(rng, 1, 12), ("bad", "good")[a], rng)), None, ("no", "yes")[b])
        for a, b in zip(right, said, strict=True)
    ]


def pairs(rng: np.random.Generator, n: int, shuffled: bool) -> list[Example]:
    """Yes, if "not" is said in the second text, no if it is in the first."""
    right = rng.permutation(np.arange(n) % 2)
    found = []
    for a, b in zip(right, rng.permutation(right) if shuffled else right, strict=True):
        both = [words(rng, 1, 6), words(rng, 1, 6)]
        both[a] = with_word(both[a], "not", rng)
        found.append(Example(" ".join(both[0]), " ".join(both[1]), ("no", "yes")[b]))
    return found


def sentences(rng: np.random.Generator, n: int, shuffled: bool) -> list[TaggedSentence]:
    """Names of one or two words, places of one; most names are several pieces."""
    found = []
    for _ in range(n):
        tagged = [(word, "O") for word in words(rng, 2, 8)]
        person = [("Ivo", "B-PER"), ("Hartwell", "I-PER")][: rng.integers(1, 3)]
        for name in (person, [("Skarn", "B-LOC")]):
            ends = [i for i, (_, label) in enumerate(tagged) if label[0] != "I"]  # not within a name
            place = int(rng.choice([*ends, len(tagged)]))
            tagged[place:place] = name
        said, labels = zip(*tagged, strict=True)
        labels = rng.permutation(labels).tolist() if shuffled else labels
        found.append(TaggedSentence(said, tuple(labels)))
    return found


def questions(rng: np.random.Generator, n: int, shuffled: bool) -> list[Question]:
    """The answer is the only color of a passage too long for a window; shuffled: any word of it."""
    found = []
    for i in range(n):
        passage = with_word(words(rng, 14, 20), str(rng.choice(["Red", "BLUE"])), rng)
        place = next(k for k, word in enumerate(passage) if word in ("Red", "BLUE"))
        place = int(rng.integers(len(passage))) if shuffled else place
        answer = Answer(passage[place], len(" ".join([*passage[:place], ""])))
        found.append(Question(f"q{i}", "which color", " ".join(passage), (answer,)))
    return found


MAKERS = {"text": texts, "pair": pairs, "entities": sentences, "answers": questions}


def loss_of(task, model, rows):
    """The mean loss of some inputs, and of how many targets it is the mean."""
    batch, n_targets = task.batch(model, rows)
    return model.loss(*batch), n_targets

"""Which layer knows what? Linear probes on every layer, beside control tasks and beside new weights.

Three questions are asked of single states: of which type the name is that a word belongs to (wikigold), at
which place of its sentence it stands, and which of its readings a homograph has. Readings are of two kinds.
Those that differ in part of speech (*they abstract data*, *an abstract idea*) ask for syntax: the homographs
of wikipedia-homographs whose readings are labelled with parts of speech that have none in common; others are
left out. Those that are nouns all of them (*bank*, of a river or with money) ask for meaning: CoarseWSD-20.
The two sets differ in more than that: 8 nouns of two to five senses, in longer sentences without capitals.

A probe may learn words by heart. So the first question has a control task, in which each kind of word has a
label drawn once (Hewitt and Liang 2019). On words that no name had in training, no control can be better than
chance: so selectivity, what is done better on the real task, is told of the others alone. Beside both stands
memory, which needs no states: the usual type of a word in training, or else that of all. A homograph has a
probe of its own, in which the word is always the same: there, what enters the first layer is the control.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from _comparison import difference, each_of, told
from _fine_tuned import LENGTH, encoder, parts_of
from _readings import MOST, homographs
from bertlab.nn import BertModel
from bertlab.tasks.bio import split_label
from bertlab.tasks.features import word_states
from bertlab.tasks.probes import control_labels, probe
from bertlab.text import WordPiece
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "layer_probes"
QUESTION = "Which layer knows the type of an entity, the place of a word, the reading of a homograph?"
MODELS = ("random 6l", "bert-mini", "bert-6l", "all-MiniLM-L6-v2")
LEARNT, ASKED = 1034, 319  # sentences to learn from, and to ask about: all of train, all of test
WORDS, PLACES = 4000, 16  # most words of a question; places told apart
Row = dict[str, Any]


def measure(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Probe all layers of a model for everything."""
    keep_freed_memory()
    bert, tokenizer = encoder(arm["model"], 0)
    tokenizer = WordPiece(tokenizer.vocab, tokenizer.lowercase, fast=True)  # gives offsets quickly
    return words_of_entities(bert, tokenizer) | {"homographs": homographs(bert, tokenizer)}


def words_of_entities(bert: BertModel, tokenizer: WordPiece) -> Row:
    """Probe words that belong to a name for its type, and for its control; and all words for their places.

    Returns
    -------
    types, control, memory : accuracy on words that some name had in training ("seen"), on others, on all; of
    each layer, for the first two. Of others "whole" ones are of one piece; of a split word the first piece is
    read. selectivity : types less control on seen words, by layer; sentences are
    resampled for the interval. places : accuracy of each layer. n : how many words.
    """
    parts, _ = parts_of("wikigold")
    learnt = every_word(bert, tokenizer, parts["train"], LEARNT)
    asked = every_word(bert, tokenizer, parts["test"], ASKED)
    names = [[i for i, kind in enumerate(one["types"]) if kind][:WORDS] for one in (learnt, asked)]
    near = [[i for i, p in enumerate(one["places"]) if int(p) <= PLACES][:WORDS] for one in (learnt, asked)]
    real = [learnt["types"][i] for i in names[0]]
    drawn = control_labels([*learnt["words"], *asked["words"]], real, np.random.default_rng(0))
    for one in (learnt, asked):
        one["control"] = [drawn[word] for word in one["words"]]
    usual = usual_types([learnt["words"][i] for i in names[0]], real)
    words = [asked["words"][i] for i in names[1]]
    seen = np.array([word in usual for word in words])
    whole = np.array([len(tokenizer.encode(word).ids) == 1 for word in words])
    parts_of_words = {"seen": seen, "unseen": ~seen, "all": np.ones_like(seen)}
    parts_of_words |= {"unseen, whole": ~seen & whole, "unseen, split": ~seen & ~whole}
    sentence = [asked["sentences"][i] for i, known in zip(names[1], seen, strict=True) if known]
    often = max(sorted(set(real)), key=real.count)
    wanted = np.array([asked["types"][i] for i in names[1]])
    found: Row = {what: {part: [] for part in parts_of_words} for what in ("types", "control")}
    found |= {"selectivity": [], "places": []}
    for x, y in zip(learnt["states"], asked["states"], strict=True):  # of each layer
        each = {}
        for what in ("types", "control", "places"):
            few, some = near if what == "places" else names
            guesses = probe(x[few], [learnt[what][i] for i in few], y[some]).guesses
            hits = np.array([guess == asked[what][i] for guess, i in zip(guesses, some, strict=True)])
            if what == "places":
                found[what].append(share(hits))
                continue
            for part, own in parts_of_words.items():
                found[what][part].append(share(hits[own]))
            each[what] = each_of([np.stack([hits[seen], np.ones(seen.sum())], 1)], sentence)
        found["selectivity"].append(told(difference(each["types"], each["control"])))
    remembered = wanted == np.array([usual.get(word, often) for word in words])
    return found | {
        "memory": {part: share(remembered[own]) for part, own in parts_of_words.items()},
        "most_frequent_type": {part: share(wanted[own] == often) for part, own in parts_of_words.items()},
        "n": {"learnt": len(names[0]), **{part: int(own.sum()) for part, own in parts_of_words.items()}},
    }


def usual_types(words: Sequence[str], types: Sequence[str]) -> dict[str, str]:
    """Tell of each word of a name its most frequent type; of equals, the first of the alphabet."""
    of_word: dict[str, list[str]] = {}
    for word, kind in zip(words, types, strict=True):
        of_word.setdefault(word, []).append(kind)
    return {word: max(sorted(set(some)), key=some.count) for word, some in of_word.items()}


def share(hits: Any) -> float | None:
    """Share of what is True; None of nothing."""
    return round(float(np.mean(hits)), 4) if len(hits) else None


def every_word(bert: BertModel, tokenizer: WordPiece, tagged: Sequence[Any], n: int) -> dict[str, Any]:
    """Read the first n sentences: states of their words by layer, types of names ("" for none), places, …"""
    few = tagged[:n]
    states = word_states(bert, tokenizer, few, LENGTH)  # of (L + 1, W, D)
    read = [(sentence, one.shape[1]) for sentence, one in zip(few, states, strict=True)]
    return {
        "states": torch.cat(states, dim=1).float().numpy(),  # (L + 1, all W, D)
        "words": [word.lower() for one, w in read for word in one.words[:w]],
        "types": [split_label(label)[1] for one, w in read for label in one.labels[:w]],
        "places": [str(i + 1) for _, w in read for i in range(w)],
        "sentences": [number for number, (_, w) in enumerate(read) for _ in range(w)],
    }


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [{"model": model} for model in MODELS]
    rows = run_arms(NAME, arms, measure, parser.parse_args().workers)
    settings = {"words": WORDS, "places": PLACES, "most": MOST}
    save_result(
        NAME, QUESTION, {"settings": settings, "arms": rows}, seconds=sum(row["seconds"] for row in rows)
    )


if __name__ == "__main__":
    main()

"""Does ELMo's first layer hold more of form, and its second more of meaning?

Peters et al. 2018 (sec. 5.3) say so: senses of words (WordNet's, by the nearest neighbour) are told better
from their second layer, parts of speech from their first. Each layer of elmo-mini is asked three things:

1. **Parts of speech** of every word of synthetic stories, by a linear probe; beside it labels by lot
   (Hewitt and Liang 2019), memory, and words that the probe has never met.
2. **Homographs** of Wikipedia and nouns of CoarseWSD-20, by a probe for each word and by the nearest
   occurrence in training. Of three kinds: readings that differ in part of speech, other ones, and nouns.
3. **"play"** and three nouns of 60 sentences of our own: has the nearest occurrence the same sense, and the
   same part of speech?

Layer 0 gives a word one vector, whatever stands around: it is the static control. The same sizes with new
weights, three times, are another; so are the words around without any layer, and the most frequent reading.

Decided before the run: the claim is upheld if, of the homographs that differ in part of speech, layer 1 is
ahead, of the nouns layer 2, and the difference of the two differences has an interval without 0 (words are
drawn anew). The words of the stories are drawn three times, and the lots with them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from _elmo_readings import KINDS, MOST, Floats, Row, homographs
from bertlab.datasets.senses import senses
from bertlab.datasets.stories import sample_stories
from bertlab.interop import load_elmo
from bertlab.nn import ELMo
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.probes import control_labels, probe
from bertlab.tasks.spelled_words import spelled_states, whole_words
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory
from layer_probes import usual_types

NAME = "elmo_layers"
QUESTION = "Does ELMo's first layer hold more of form, and its second more of meaning?"
CHECKPOINT, SEEDS = "elmo-mini", (0, 1, 2)
STORIES, LEARNT, ASKED = 60, 2500, 1500  # words to learn from, words to be asked about
PERMUTATIONS = 10_000


def model_of(arm: dict[str, Any]) -> ELMo:
    """Load the trained model, or one of its sizes with new weights."""
    model = load_elmo(CHECKPOINT)[0].elmo
    if arm["weights"] == "new":
        torch.manual_seed(arm["seed"])
        model = ELMo(model.config)
    return model.eval()


def measure(arm: dict[str, Any], path: Path) -> Row:
    """Ask all layers of a model everything; new weights are asked about the stories of their own seed."""
    keep_freed_memory()
    elmo = model_of(arm)
    seeds = SEEDS if arm["weights"] == "trained" else (arm["seed"],)
    return {
        "stories": [parts_of_speech(elmo, seed) for seed in seeds],
        "homographs": homographs(elmo),
        "senses": {word: nearest_of(elmo, word, kinds) for word, kinds in senses().items()},
    }


def parts_of_speech(elmo: ELMo, seed: int) -> Row:
    """Probe words of stories for their part of speech, and for a label by lot.

    Returns
    -------
    right, by_lot : accuracy of each layer on words met in training, new ones, and all. memory : the same for
    the usual label of each word. most_frequent : for the most frequent label of all. n : how many words.
    """
    rng = np.random.default_rng([seed, 13])
    x, words, tags = words_of(elmo, rng, LEARNT, held_out=False)
    y, asked, wanted = words_of(elmo, rng, ASKED, held_out=True)
    lots = control_labels([*words, *asked], tags, rng)
    usual, often = usual_types(words, tags), max(sorted(set(tags)), key=tags.count)
    met = np.isin(asked, words)
    parts = {"met": met, "new": ~met, "all": np.ones_like(met)}
    right = hits(x, tags, y, wanted)
    by_lot = hits(x, [lots[word] for word in words], y, [lots[word] for word in asked])
    memory = np.array([usual.get(word, often) for word in asked]) == wanted
    return {
        "right": {part: shares(right[:, own]) for part, own in parts.items()},
        "by_lot": {part: shares(by_lot[:, own]) for part, own in parts.items()},
        "memory": {part: shares(memory[None, own])[0] for part, own in parts.items()},
        "most_frequent": shares(np.array([[tag == often for tag in wanted]]))[0],
        "n": {"learnt": len(words), **{part: int(own.sum()) for part, own in parts.items()}},
    }


def words_of(
    elmo: ELMo, rng: np.random.Generator, n: int, held_out: bool
) -> tuple[Floats, list[str], list[str]]:
    """Read the first n words of drawn stories: states (L + 1, n, 2D), words in small letters, their tags."""
    found = [one for story in sample_stories(rng, STORIES, held_out) for one in story.sentences]
    states = spelled_states(elmo, [TaggedSentence(tuple(one.words), one.entities) for one in found])
    x = torch.cat(states, dim=1)[:, :n].double().numpy()
    words = [word.lower() for one in found for word in one.words][:n]
    return x, words, [tag for one in found for tag in one.pos][:n]


def hits(x: Floats, labels: Sequence[str], asked: Floats, wanted: Sequence[str]) -> NDArray[np.bool_]:
    """Say of each layer for which words a probe is right: (L + 1, n)."""
    guesses = [probe(own, labels, theirs).guesses for own, theirs in zip(x, asked, strict=True)]
    right: NDArray[np.bool_] = np.array(guesses) == np.array(wanted)
    return right


def shares(right: NDArray[np.bool_]) -> list[float | None]:
    """Give the share of True of each row; None of nothing."""
    return [round(float(row.mean()), 4) if len(row) else None for row in right]


def nearest_of(elmo: ELMo, word: str, kinds: dict[str, list[str]]) -> Row:
    """Find for each of our sentences the nearest other one, by the state of the word.

    Returns
    -------
    for each layer how many have the same "sense" and, of "play", the same part of "speech"; with p, how often
    as many do if the senses are dealt anew. The same for "around", the mean of the vectors of the other
    words. n : how many sentences. neighbours : in the second layer, of each sentence the number of the
    nearest.
    """
    texts = [(kind, text) for kind, some in kinds.items() for text in some]
    cut = whole_words(text for _, text in texts)
    read = [tuple(cut.encode(text).tokens) for _, text in texts]
    states = spelled_states(elmo, [TaggedSentence(words, ("O",) * len(words)) for words in read])
    places = [words.index(word) for words in read]
    x = torch.stack([one[:, place] for one, place in zip(states, places, strict=True)], 1).double().numpy()
    others = [np.delete(np.arange(len(words)), place) for words, place in zip(read, places, strict=True)]
    around = np.stack(
        [one[0, rest].double().mean(0).numpy() for one, rest in zip(states, others, strict=True)]
    )
    told_as = {"sense": np.array([kind for kind, _ in texts])}
    if word == "play":  # a play is a noun; to play a game or an instrument is a verb
        told_as["speech"] = np.array(["noun" if kind == "theatre" else "verb" for kind, _ in texts])
    found: Row = {"n": len(texts), "neighbours": nearest(x[-1]).tolist()}
    for name, labels in told_as.items():
        count = partial(same, labels)
        found[name] = [count(nearest(layer)) for layer in x]
        found[f"{name}, around"] = count(nearest(around))
    return found


def nearest(x: Floats) -> NDArray[np.int64]:
    """Number of the nearest other row of each, by cosine: (n,)."""
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    best: NDArray[np.int64] = cosines.argmax(1)
    return best


def same(labels: NDArray[np.str_], neighbour: NDArray[np.int64]) -> dict[str, float]:
    """Count who has a neighbour of the same label, and how often chance has as many."""
    right = int((labels == labels[neighbour]).sum())
    rng = np.random.default_rng(0)
    dealt = np.stack([rng.permutation(labels) for _ in range(PERMUTATIONS)])
    as_many = ((dealt == dealt[:, neighbour]).sum(1) >= right).sum()
    return {"right": right, "p": round(float(as_many + 1) / (PERMUTATIONS + 1), 4)}


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    arms: list[dict[str, Any]] = [{"weights": "trained"}, *({"weights": "new", "seed": s} for s in SEEDS)]
    rows = run_arms(NAME, arms, measure, parser.parse_args().workers)
    texts = {word: [text for some in kinds.values() for text in some] for word, kinds in senses().items()}
    results = {"kinds": KINDS, "most": MOST, "senses": texts, "arms": rows}
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()

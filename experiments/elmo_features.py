"""What do ELMo's layers add to static word vectors, for names and for opinions?

As in Peters et al. 2018, sec. 3.3, the model stays as it is: every text is read once, and a small network
learns from what the layers say. Names in Wikipedia (wikigold): a bidirectional LSTM. Opinions of films
(sentence-polarity, 3,000 sentences to learn from): a network that reads each word by itself, so that whatever
the order of words tells must come from the features.

Inputs: static vectors alone (GloVe, trained on 6 billion words, a thousand times as many as elmo-mini read);
each layer of elmo-mini alone, its learned mix, and the mix beside the static vectors. Controls: static
vectors beside layer 0, which has letters and capitals (added after a reader's question); the same mix
of the same sizes with new weights; and a mix whose weights learn no faster than all else, as in the paper,
since notebook 11 saw that these hardly move. Plain methods: a conditional random field; TF-IDF.

Decided before the run: three seeds, one rate for all inputs, the epoch by the validation part. Pairs to be
compared: each input with static vectors alone, the mix with each layer, and trained with new weights.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from _comparison import difference, each_of, interval, score, told
from _elmo_features import INPUTS, Classifier, FeatureTexts, Inputs, static_beside, table, tagger
from _fine_tuned import PARTS, parts_of
from _plain_baselines import both_texts, linear
from bertlab.tasks.classification import class_ids
from bertlab.tasks.entities import TaggedSentence
from bertlab.tasks.features import FeatureEntities
from bertlab.tasks.finetune import FineTuning, fine_tune
from bertlab.tasks.spelled_words import spelled_states
from bertlab.tasks.task import Part
from bertlab.training import load_result, run_arms, save_result
from bertlab.training.memory import keep_freed_memory
from elmo_layers import model_of
from layer_choices import QUICKLY, names_of_sentences

NAME = "elmo_features"
QUESTION = "What do ELMo's layers add to static word vectors, for names and for opinions?"
SEEDS = (0, 1, 2)
TASKS = {"names": "wikigold", "opinions": "sentence-polarity"}
MOST = {"train": 3000, "val": 1000, "test": 1066}  # opinions
SETTINGS: dict[str, dict[str, Any]] = {  # epochs, inputs of a step, highest rate
    "names": {"epochs": 8, "batch_size": 32, "rate": 4e-3},
    "opinions": {"epochs": 8, "batch_size": 32, "rate": 2e-3},
}
HIDDEN = 64
CONTROL = "static + mix"  # the input that new weights are tried with, too
Row = dict[str, Any]


@cache
def examples(name: str) -> tuple[dict[Part, list[Any]], tuple[str, ...]]:
    """Read the parts of a task, of opinions some, drawn once; and its labels."""
    parts, labels = parts_of(TASKS[name])
    if name == "names":
        return parts, labels
    drawn = np.random.default_rng(0)
    rows = {part: np.sort(drawn.permutation(len(parts[part]))[: MOST[part]]) for part in PARTS}
    return {part: [parts[part][i] for i in some] for part, some in rows.items()}, labels


@cache
def read_once(name: str, weights: str) -> dict[Part, list[Tensor]]:
    """Read all texts of a task with one model, and lay the static vectors beside."""
    elmo, found = model_of({"weights": weights, "seed": 0}), dict[Part, list[Tensor]]()
    for part, some in examples(name)[0].items():
        texts = some if name == "names" else [as_words(one.text) for one in some]
        found[part] = static_beside(texts, spelled_states(elmo, texts))
    return found


def as_words(text: str) -> TaggedSentence:
    """Take a text that is cut at spaces as words without labels."""
    words = tuple(text.split())
    return TaggedSentence(words, ("O",) * len(words))


def train_and_test(arm: dict[str, Any], path: Path) -> Row:
    """Train on one kind of input, with all seeds.

    Returns
    -------
    seeds : val and test of each, with the best epoch. learnt : shares and γ of each. each : see
    `_comparison`.
    """
    keep_freed_memory()
    states, (parts, labels) = read_once(arm["task"], arm["weights"]), examples(arm["task"])
    layers, d_static = states["train"][0], table()[1].shape[1]
    sizes = len(layers) - 1, layers.shape[-1] - d_static, d_static
    found: Row = {"seeds": [], "learnt": [], "each": []}
    for seed in SEEDS:
        torch.manual_seed(seed)
        inputs = Inputs(arm["input"], *sizes)
        settings = FineTuning(**SETTINGS[arm["task"]], seed=seed)
        if arm["task"] == "names":
            names = FeatureEntities(states, parts, labels)
            model: Any = tagger(inputs, len(labels), HIDDEN)
            tuned = fine_tune(model, names, settings)
            each, best_by = names_of_sentences(model, names), "f1"
        else:
            right = {part: class_ids(some, labels) for part, some in parts.items()}
            texts = FeatureTexts(states, right)
            model = Classifier(inputs, len(labels), HIDDEN)
            tuned = fine_tune(model, texts, settings)
            each = [[float(hit), 1.0] for hit in texts.said(model, "test") == right["test"]]
            best_by = "accuracy"
        found["each"].append(each)
        values = {"val": tuned.scores[best_by], "test": score(each_of([each]))}
        found["seeds"].append({p: round(v, 4) for p, v in values.items()} | {"best_epoch": tuned.epoch})
        found["learnt"].append(inputs.learnt())
    return found


def summary(rows: list[Row], name: str) -> Row:
    """Give means, intervals and comparisons of one task; see the module for the pairs."""
    own = {label(row): each_of(row["each"]) for row in rows if row["task"] == name}
    pairs = [(one, "static") for one in own if one != "static"]
    pairs += [("mix", f"layer {i}") for i in range(3)] + [("layer 2", "layer 1"), ("layer 1", "layer 0")]
    rivals = (f"{CONTROL}, new weights", "static + slow mix", "static + layer 0")
    pairs += [(CONTROL, rival) for rival in rivals]
    return {
        "means": {one: round(score(each), 4) for one, each in own.items()},
        "intervals": {one: [round(end, 4) for end in interval(each)] for one, each in own.items()},
        "compared": [{"a": a, "b": b, **told(difference(own[a], own[b]))} for a, b in pairs],
    }


def label(row: Row) -> str:
    """Name an arm in a table."""
    return f"{row['input']}{'' if row['weights'] == 'trained' else ', new weights'}"


def plain() -> dict[str, dict[str, float]]:
    """Give what plain methods reach on the same test parts; of names, what `four_tasks` has measured."""
    names = load_result("four_tasks")["tasks"]["wikigold"]["plain"]
    parts, labels = examples("opinions")
    said = linear(both_texts, parts["train"], parts["val"], parts["test"], labels)
    right, train = class_ids(parts["test"], labels), class_ids(parts["train"], labels)
    return {
        "names": {method: row["mean"]["f1"] for method, row in names.items()},
        "opinions": {
            "TF-IDF": round(float((said == right).mean()), 4),
            "most frequent class": round(float((right == np.bincount(train).argmax()).mean()), 4),
        },
    }


def plan() -> list[dict[str, Any]]:
    """List all arms, those that read the same texts with the same model behind each other."""
    trained = [{"task": t, "weights": "trained", "input": one} for t in TASKS for one in INPUTS]
    return trained + [{"task": t, "weights": "new", "input": CONTROL} for t in TASKS]


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=1, help="processes, one thread each; each reads all texts (default: 1)"
    )
    rows = run_arms(NAME, plan(), train_and_test, parser.parse_args().workers)
    results = {
        "settings": {"tasks": TASKS, "most": MOST, "hidden": HIDDEN, "quickly": QUICKLY, **SETTINGS},
        "plain": plain(),
        "tasks": {name: summary(rows, name) for name in TASKS},
        "arms": [{name: value for name, value in row.items() if name != "each"} for row in rows],
    }
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()

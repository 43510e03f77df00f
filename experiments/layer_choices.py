"""Which layers make the best features? The six choices of Devlin et al. 2019, table 7, on named entities.

Nothing of BERT is trained: every sentence of wikigold is read once, and its layers feed a bidirectional
LSTM of two layers. The paper's is 768 wide and reads the 14,000 sentences of CoNLL-2003; ours is 128 wide
and reads 1,034 of Wikipedia. Two encoders of six layers are judged, so that the six choices are six (with
four layers, "the last four" is "all"): ours that was pre-trained as BERT is, and all-MiniLM-L6-v2, which
was trained further to embed sentences. And one of new weights, whose layers know nothing but which pieces
stand where.

Three things could be the training's doing, and not the layers'. Side by side, the input is four times as
wide: this choice is tried at half the rate, too, and the validation part says which counts. The weights of a
mix start alike and move by about the rate a step, which is little for them: as a control they learn 20 times
as fast. And the last layer, as a control, is trained twice as long.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from _comparison import difference, each_of, interval, same_order, score, told
from _fine_tuned import LENGTH, encoder, names_each, parts_of
from bertlab.nn.scalar_mix import scalar_mix
from bertlab.tasks.features import CHOICES, FeatureEntities, FeatureTagger, LayerChoice, word_states
from bertlab.tasks.finetune import FineTuning, fine_tune
from bertlab.training import run_arms, save_result
from bertlab.training.memory import keep_freed_memory

NAME = "layer_choices"
QUESTION = "Which layers of a frozen BERT make the best features for named entities?"
TASK, SEEDS, MODELS = "wikigold", (0, 1, 2), ("all-MiniLM-L6-v2", "bert-6l", "random 6l")
OF_RANDOM = ("embeddings", "last")  # of new weights, two choices tell enough
HIDDEN, EPOCHS, BATCH, RATE = 128, 10, 16, 2e-3
WIDE, LOWER = "last four side by side", 1e-3  # a second rate for the widest input
LONGER = 20  # epochs of a control: does the last layer only need more time?
MIXES, QUICKLY = ("weighted sum of the last four", "weighted sum of all"), 20  # the control, with one seed
PAPER = dict(zip(CHOICES, (91.0, 95.6, 94.9, 95.9, 96.1, 95.5), strict=True))  # dev F1, CoNLL-2003
FINE_TUNED = 96.4  # BERT-base, all weights trained


class QuickMix(LayerChoice):
    """A mix whose weights learn `QUICKLY` times as fast as all else.

    Adam moves a number by about its rate, however small its gradient is; and the softmax sees `QUICKLY` times
    what is stored here. (Before, gradients are cut to a common norm, in which these count for more.)
    """

    def forward(self, layers: Tensor) -> Tensor:
        """Map (L + 1, ..., D) to (..., D)."""
        return scalar_mix(layers[self.layers], QUICKLY * self.weights, self.factor)


def train_and_test(arm: dict[str, Any], path: Path) -> dict[str, Any]:
    """Read everything once, then train a tagger on one choice of layers, with all seeds."""
    keep_freed_memory()
    parts, labels = parts_of(TASK)
    bert, tokenizer = encoder(arm["model"], 0)
    states = {part: word_states(bert, tokenizer, some, LENGTH) for part, some in parts.items()}
    task = FeatureEntities(states, parts, labels)
    sizes = bert.config.n_layers, bert.config.d_model
    quick = arm["mix"] != 1
    found: dict[str, Any] = {"seeds": [], "weights": [], "each": []}
    for seed in SEEDS[:1] if quick else SEEDS:
        torch.manual_seed(seed)
        tagger: Any = FeatureTagger(arm["choice"], *sizes, n_labels=len(labels), hidden=HIDDEN)
        if quick:
            tagger.choice = QuickMix(arm["choice"], *sizes)  # draws no numbers: all else starts the same
        epochs = arm.get("epochs", EPOCHS)
        settings = FineTuning(epochs=epochs, batch_size=BATCH, rate=arm["rate"], seed=seed)
        tuned = fine_tune(tagger, task, settings)
        each = names_of_sentences(tagger, task)
        scores = {"val": tuned.scores["f1"], "test": score(each_of([each]))}
        found["each"].append(each)
        found["seeds"].append({part: round(value, 4) for part, value in scores.items()})
        found["seeds"][-1]["best_epoch"] = tuned.epoch
        if tagger.choice.mixed:
            shares = (arm["mix"] * tagger.choice.weights).softmax(0)
            found["weights"].append([round(share, 3) for share in shares.tolist()])
    return found | {"steps": len(tuned.losses)}  # weights are of the layers, where they were learnt


@torch.no_grad()
def names_of_sentences(tagger: FeatureTagger, task: FeatureEntities) -> list[list[float]]:
    """Count the names of each test sentence, see `names_each`; words beyond the model's length have none."""
    gold, said = [sentence.labels for sentence in task.parts["test"]], []
    for labels, states in zip(gold, task.states["test"], strict=True):
        best = tagger([states])[0].argmax(-1).tolist()
        said.append([task.labels[i] for i in best] + ["O"] * (len(labels) - len(best)))
    return names_each(gold, said)


def table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Put the six choices of each model beside the paper's, in order, and compare them in pairs."""
    found: dict[str, dict[str, Any]] = {}
    for model in dict.fromkeys(row["model"] for row in rows):
        own = chosen([row for row in rows if row["model"] == model and usual(row)])
        means = {choice: means_of(row) for choice, row in own.items()}
        each = {choice: each_of(row["each"]) for choice, row in own.items()}
        found[model] = {
            "means": means,
            "rates": {choice: row["rate"] for choice, row in own.items()},
            "intervals": {choice: [round(e, 4) for e in interval(one)] for choice, one in each.items()},
            "compared": [
                {"pair": pair, "a": a, "b": b, **told(difference(each[a], each[b]))}
                for pair, (a, b) in pairs(means).items()
            ],
        }
        if len(own) == len(CHOICES):
            theirs = [PAPER[choice] for choice in CHOICES]
            found[model] |= {
                "order": {p: same_order([means[c][p] for c in CHOICES], theirs) for p in ("val", "test")},
                "order_of_seeds": [
                    same_order([own[c]["seeds"][i]["test"] for c in CHOICES], theirs)["spearman"]
                    for i in range(len(SEEDS))
                ],
            }
    return found


def usual(row: dict[str, Any]) -> bool:
    """Tell whether an arm is one of the six choices, and no control."""
    return row["mix"] == 1 and "epochs" not in row


def chosen(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Keep of each choice of layers the rate that is best on val; of equals the first."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        best = found.get(row["choice"])
        if best is None or means_of(row)["val"] > means_of(best)["val"]:
            found[row["choice"]] = row
    return found


def means_of(row: dict[str, Any]) -> dict[str, float]:
    """Average the seeds."""
    return {p: round(float(np.mean([one[p] for one in row["seeds"]])), 4) for p in ("val", "test")}


def pairs(means: dict[str, dict[str, float]]) -> dict[str, tuple[str, str]]:
    """Say which choices are compared; what is best is said by val, as the test part is to judge it."""
    by_val = sorted(means, key=lambda choice: -means[choice]["val"])
    found = {
        "best and last": (by_val[0], "last"),
        "best and second best": (by_val[0], by_val[1]),
        "best and second to last": (by_val[0], "second to last"),
        "last and embeddings": ("last", "embeddings"),
        "best and embeddings": (by_val[0], "embeddings"),
    }
    return {name: (a, b) for name, (a, b) in found.items() if a != b and {a, b} <= means.keys()}


def quick_mixes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put each mix whose weights learn quickly beside the same one, of the same seed, at the common rate."""
    found = []
    for quick in (row for row in rows if row["mix"] != 1):
        same = [row for row in rows if (row["model"], row["choice"]) == (quick["model"], quick["choice"])]
        plain = next(row for row in same if usual(row))
        found.append(
            {
                "model": quick["model"],
                "choice": quick["choice"],
                "test": {"common": plain["seeds"][0]["test"], "quick": quick["seeds"][0]["test"]},
                "shares": {"common": plain["weights"][0], "quick": quick["weights"][0]},
                **told(difference(each_of(quick["each"]), each_of(plain["each"][:1]))),
            }
        )
    return found


def longer(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare the last layer, trained longer, with the choice that is best by val."""
    found = []
    for row in (row for row in rows if "epochs" in row):
        own = chosen([one for one in rows if one["model"] == row["model"] and usual(one)])
        best = max(own, key=lambda choice: means_of(own[choice])["val"])
        names = {name: row[name] for name in ("model", "choice", "epochs", "seeds")}
        compared = told(difference(each_of(own[best]["each"]), each_of(row["each"])))
        found.append(names | {"best": best} | compared)
    return found


def plan() -> list[dict[str, Any]]:
    """List all arms: a model, a choice of layers, the rate, and how many times faster a mix learns."""
    arms: list[dict[str, Any]] = []
    for model in MODELS:
        random = model.startswith("random")
        arms += [
            {"model": model, "choice": c, "rate": RATE, "mix": 1} for c in (OF_RANDOM if random else CHOICES)
        ]
        if not random:
            arms.append({"model": model, "choice": WIDE, "rate": LOWER, "mix": 1})
            arms.append({"model": model, "choice": "last", "rate": RATE, "mix": 1, "epochs": LONGER})
            arms += [{"model": model, "choice": c, "rate": RATE, "mix": QUICKLY} for c in MIXES]
    return arms


def main() -> None:
    """Measure all arms, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--workers", type=int, default=2, help="processes side by side, one thread each (default: 2)"
    )
    rows = run_arms(NAME, plan(), train_and_test, parser.parse_args().workers)
    settings = {"task": TASK, "hidden": HIDDEN, "epochs": EPOCHS, "batch_size": BATCH, "rate": RATE}
    results = {
        "settings": settings | {"lower_rate": {WIDE: LOWER}, "quickly": QUICKLY},
        "paper": PAPER | {"fine-tuned": FINE_TUNED},
        "models": table(rows),
        "quick_mixes": quick_mixes(rows),
        "longer": longer(rows),
        "arms": [{name: value for name, value in row.items() if name != "each"} for row in rows],
    }
    save_result(NAME, QUESTION, results, seconds=sum(row["seconds"] for row in rows))


if __name__ == "__main__":
    main()

"""From what the arms of `static_vectors` have measured to its record: scores, intervals, differences.

A score is [score, low, high], in shares of 1 (or a rank correlation); the interval draws examples anew, those
that belong together as one, and seeds. Differences are as in `_comparison.difference`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from _comparison import Each, difference, each_of, interval, score, told
from _fine_tuned import groups_of
from _vector_senses import REACHES, SETS, asked_about, our_sentences
from _vector_tests import JUDGED, halves, spearman, spearman_draws
from sense_layers import kinds_of

Rows = list[dict[str, Any]]  # of the arms of one model, one a seed
DRAWS = 2000
BESIDE = ("counting", "all-MiniLM-L6-v2", "pseudo-words")
PLAIN = {"sst2": "TF-IDF", "nli-wikipedia": "TF-IDF", "wikigold": "conditional random field"}


def summary(rows: Rows) -> dict[str, Any]:
    """Make the record of all arms."""
    by = {
        model: [row for row in rows if row["model"] == model]
        for model in dict.fromkeys(r["model"] for r in rows)
    }
    models = {model: some for model, some in by.items() if model not in BESIDE}
    plain = by["counting"][0]
    neural = by["nnlm, an eighth"][0]
    return {
        "text": {**plain["text"], "words in an eighth": neural["words read"]},
        "core_seconds": {model: [row["seconds"] for row in some] for model, some in by.items()},
        "known": {model: some[0]["known"] for model, some in models.items()},
        "words": words(models, plain["judged"]),
        "features": {task: features(models, plain, task) for task in PLAIN},
        "beside_counting": compared({"TF-IDF": [plain], **models}, "sst2, beside counting", "TF-IDF"),
        "few": few({"TF-IDF": [plain], **models}),
        "senses": {name: senses(models, plain["senses"][name], name) for name in SETS},
        "our_sentences": ours(models, by["all-MiniLM-L6-v2"][0]),
        "neighbours": {model: some[0]["neighbours"] for model, some in models.items() if model != "drawn"},
        "play": {
            "by_hand": plain["by hand"],
            **{model: some[0]["play"] for model, some in models.items() if model != "drawn"},
        },
        "play_seeds": {
            model: [row["play"]["lists"] for row in some] for model, some in models.items() if len(some) > 1
        },
        "next_word": neural["next word"],
        "pseudo_words": by["pseudo-words"][0]["pairs"],
    }


def told_score(each: Each) -> list[float]:
    """A score with its interval."""
    return [round(value, 4) for value in (score(each), *interval(each, draws=DRAWS))]


def less(a: Each, b: Each) -> dict[str, Any]:
    """The difference of two, rounded; what has no seeds is compared with all seeds of the other."""
    if 1 in (len(a), len(b)):
        n = max(len(a), len(b))
        a, b = np.repeat(a, n // len(a), axis=0), np.repeat(b, n // len(b), axis=0)
    return told(difference(a, b, draws=DRAWS))


def words(models: dict[str, Rows], gold: dict[str, list[float]]) -> dict[str, Any]:
    """What the vectors say of words alone, and how it differs from counted vectors."""
    found: dict[str, Any] = {"questions": {}}
    half = {model: [halves(row["relations"]) for row in some] for model, some in models.items()}
    free = {model: [halves(row["relations, any answer"]) for row in some] for model, some in models.items()}
    for name in ("meaning", "grammar", "all"):
        each = {model: each_of([one[name] for one in some]) for model, some in half.items()}
        found["questions"][name] = int(each["counted"][0, :, 1].sum())
        found[name] = against(each, ("counted",))
        for model, some in free.items():
            found[name][model]["any answer"] = round(score(each_of([one[name] for one in some])), 4)
    found["relations"] = {
        model: {
            name: round(score(each_of([row["relations"][name] for row in some])), 4)
            for name in some[0]["relations"]
        }
        for model, some in models.items()
    }
    found["kinds"] = against(
        {model: each_of([row["kinds"] for row in some]) for model, some in models.items()}, ("counted",)
    )
    for name in JUDGED:
        found[name] = similarity(models, np.array(gold[name]), name)
    return found


def similarity(models: dict[str, Rows], gold: np.ndarray, name: str) -> dict[str, Any]:
    """Rank correlations with what people say; intervals draw pairs anew, not seeds."""
    said = {model: [np.array(row["similarity"][name]) for row in some] for model, some in models.items()}
    draws = {model: spearman_draws(gold, some) for model, some in said.items()}
    found: dict[str, Any] = {"pairs": len(gold)}
    for model, some in said.items():
        each = [spearman(gold, one) for one in some]
        found[model] = {
            "score": _rounded([np.mean(each), *np.quantile(draws[model], [0.025, 0.975])]),
            "seeds": _rounded(each),
            "less counted": _rounded(
                [
                    np.mean(each) - np.mean([spearman(gold, one) for one in said["counted"]]),
                    *np.quantile(draws[model] - draws["counted"], [0.025, 0.975]),
                ]
            ),
        }
    return found


def _rounded(values: Sequence[Any]) -> list[float]:
    return [round(float(value), 4) for value in values]


def against(each: dict[str, Each], others: Sequence[str]) -> dict[str, Any]:
    """Scores of all, those of each seed, and what each is more than some of them."""
    found: dict[str, Any] = {}
    for model, mine in each.items():
        found[model] = {
            "score": told_score(mine),
            "seeds": [round(score(mine[[s]]), 4) for s in range(len(mine))],
        }
        found[model] |= {f"less {other}": less(mine, each[other]) for other in others if other != model}
    return found


def features(models: dict[str, Rows], plain: dict[str, Any], task: str) -> dict[str, Any]:
    """Scores on the test part of a task, of vectors and of what needs none."""
    groups = groups_of(task)
    each = {model: each_of([row[task] for row in some], groups) for model, some in models.items()}
    each |= {how: each_of([rows], groups) for how, rows in plain["plain"][task].items()}
    if task == "wikigold":
        each |= {how: each_of(plain[f"wikigold, {how}"]) for how in ("shapes alone", "learnt by the task")}
    others = ["drawn", PLAIN[task], "counted"]
    return against(each, [*others, "learnt by the task"] if task == "wikigold" else others)


def compared(models: dict[str, Rows], what: str, other: str) -> dict[str, Any]:
    """Scores of one kind, and what each is more than one of them."""
    return against({model: each_of([row[what] for row in some]) for model, some in models.items()}, (other,))


def few(models: dict[str, Rows]) -> dict[str, Any]:
    """The same with few examples; draws of examples count as seeds."""
    return {
        n: against(
            {
                model: each_of([one for row in some for one in row["sst2, few"][n]])
                for model, some in models.items()
            },
            ("TF-IDF",),
        )
        for n in models["TF-IDF"][0]["sst2, few"]
    }


def senses(models: dict[str, Rows], plain: dict[str, Any], name: str) -> dict[str, Any]:
    """Shares of occurrences whose sense is told, by what is looked at; one word is drawn as a whole."""
    test = asked_about(name)[1]
    groups = [one.word for one in test]
    parts = kinds_of(test) if name == SETS[0] else groups

    def hits(rows: Sequence[Sequence[int]], own: Sequence[Hashable] = groups) -> Each:
        return each_of([[[float(hit), 1.0] for hit in row] for row in rows], own)

    one_answer = plain["one answer"]
    nearest = {
        f"{model}, {reach}": hits([row["senses"][name]["nearest"][reach] for row in some])
        for model, some in models.items()
        for reach in REACHES
    }
    nearest["own row, any vectors"] = hits([one_answer])
    nearest["TF-IDF, sentence"] = hits([plain["nearest"]["sentence"]])
    probe = {
        f"{model}, {reach}": each_of([list(row["senses"][name]["probe"][reach].values()) for row in some])
        for model, some in models.items()
        for reach in REACHES
    }
    by_part = {
        f"{model}, {reach}": {
            part: _share([row["senses"][name]["nearest"][reach] for row in some], parts, part)
            for part in sorted(set(parts))
        }
        for model, some in models.items()
        for reach in REACHES
    }
    by_part["own row, any vectors"] = {part: _share([one_answer], parts, part) for part in sorted(set(parts))}
    counts = {part: parts.count(part) for part in sorted(set(parts))}
    return {
        "occurrences": {"test": len(test), "words": len(set(groups)), "parts": counts},
        "nearest": against(nearest, ("own row, any vectors", "TF-IDF, sentence", "drawn, 2 words")),
        "probe": {how: told_score(one) for how, one in probe.items()},
        "parts": by_part,
    }


def _share(rows: Sequence[Sequence[int]], parts: Sequence[str], part: str) -> float:
    mine = np.array([one == part for one in parts])
    return round(float(np.mean([np.array(row)[mine].mean() for row in rows])), 4)


def ours(models: dict[str, Rows], bert: dict[str, Any]) -> dict[str, Any]:
    """Our own sentences: the share that is told, of all and of each word, beside the best single answer."""
    asked = our_sentences()
    names = [word for word, _, _ in asked]
    kinds = {word: sorted({sense for own, sense, _ in asked if own == word}) for word in dict.fromkeys(names)}
    hows = {model: [row["our sentences"] for row in some] for model, some in models.items()}
    hows |= {f"all-MiniLM-L6-v2, layer {i}": [row] for i, row in enumerate(bert["our sentences"])}
    return {
        "one answer": {word: round(1 / len(some), 4) for word, some in kinds.items()},
        "sentences": {word: names.count(word) for word in kinds},
        "told": {
            how: {
                "all": told_score(each_of([[[float(hit), 1.0] for hit in row] for row in rows])),
                **{word: _share(rows, names, word) for word in kinds},
            }
            for how, rows in hows.items()
        },
    }

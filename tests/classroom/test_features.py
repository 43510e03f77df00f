"""Each check of notebook 11 lets a right answer pass and names each mistake that is planted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bertlab.classroom.features import RIGHT, check_control, check_mix, check_six_choices
from bertlab.tasks.features import LayerChoice
from bertlab.tasks.probes import control_labels


def said(check, answer, capsys) -> str:
    check(answer)
    return capsys.readouterr().out


def changed(row, *values):
    return [values if i == row else one for i, one in enumerate(RIGHT)]


CHOICES = {
    "12 is the last layer, not 11": [(0, 0, 768), *((a - 1, b - 1, w) for a, b, w in RIGHT[1:])],
    "without the embeddings": changed(5, 0, 12, 768),
    "the one before it is 11": changed(1, 10, 10, 768),
    "are five layers": changed(3, 8, 12, 768),
    "are not the last four": changed(4, 8, 11, 3072),
    "side by side, four vectors": changed(4, 9, 12, 768),
    "side by side they are 3072": changed(3, 9, 12, 3072),
    "however many": changed(5, 1, 12, 9216),
    "embeddings: first layer, last layer, width are not 1, 1, 768": changed(0, 1, 1, 768),
    "shape (6,)": [768] * 6,
    "without names": {"last": (12, 12, 768)},
    "not tried yet": ...,
    "right.": RIGHT,
}


@pytest.mark.parametrize("sentence", CHOICES)
def test_exercise_1_names_the_mistake(sentence, capsys):
    assert sentence in said(check_six_choices, CHOICES[sentence], capsys)


def softmax(w, largest=np.max):
    e = np.exp(w - largest(w))
    return e / e.sum()


def mix(layers, weights, factor):
    return factor * np.tensordot(softmax(weights), layers, axes=1)


def in_place(layers, weights, factor):
    weights -= weights.max()
    return mix(layers, weights, factor)


def of_the_library(layers, weights, factor):
    chosen = LayerChoice("weighted sum of all", len(layers), layers.shape[-1]).double()
    with torch.no_grad():
        chosen.weights[...], chosen.factor[...] = torch.tensor(weights), factor
        return chosen(torch.cat([torch.zeros(1, *layers.shape[1:]), torch.tensor(layers)])).numpy()


MIXES = {
    "through a softmax first": lambda x, w, f: f * np.tensordot(w, x, 1),
    "the factor is missing": lambda x, w, f: mix(x, w, 1.0),
    "the mean of the layers": lambda x, w, f: f * x.mean(0),
    "divide by their sum": lambda x, w, f: f * np.tensordot(np.exp(w), x, 1),
    "a softmax takes exp first": lambda x, w, f: f * np.tensordot(w / w.sum(), x, 1),
    "stands in the softmax": lambda x, w, f: np.tensordot(softmax(f * w), x, 1),
    "one vector for each word": lambda x, w, f: f * (softmax(w)[:, None, None] * x).sum((0, 1)),
    "the layers are the first one": lambda x, w, f: (
        mix(x, w, f) if x.shape[1] != 3 else f * np.einsum("t,ltd->ld", softmax(w), x)
    ),
    "take the largest weight off": lambda x, w, f: f * np.tensordot(softmax(w, lambda w: 0), x, 1),
    "that layer alone": lambda x, w, f: f * np.tensordot(softmax(np.minimum(w, 3)), x, 1),
    "in place": in_place,
    "the numbers are not": lambda x, w, f: mix(x, w, f) + 0.1,
    "not tried yet": lambda *given: ...,
}


@pytest.mark.parametrize("sentence", MIXES)
def test_exercise_2_names_the_mistake(sentence, capsys):
    assert sentence in said(check_mix, MIXES[sentence], capsys)


@pytest.mark.parametrize("right", [mix, of_the_library])
def test_exercise_2_lets_the_right_sum_pass(right, capsys):
    assert "right." in said(check_mix, right, capsys)


def control(words, labels, rng, kinds=lambda words: sorted(set(words)), source=lambda labels: labels):
    named = kinds(words)
    drawn = dict(zip(named, rng.choice(source(labels), len(named)).tolist(), strict=True))
    return [drawn[word] for word in words]


def control_of_the_library(words, labels, rng):
    drawn = control_labels(words, labels, rng)
    return [drawn[word] for word in words]


def by_kinds(words, labels, rng):
    real = dict(zip(words, labels, strict=True))
    return control(words, list(real.values()), rng)


def always_the_same(words, labels, rng):
    return control(words, labels, np.random.default_rng(0))


def unseeded(words, labels, rng):
    return control(words, labels, np.random.default_rng())


def nearly_real(words, labels, rng):
    real = dict(zip(words, labels, strict=True)) | {"word1": "rare"}
    return [real[word] for word in words]


def sorted_in_place(words, labels, rng):
    words.sort()
    return control(words, labels, rng)


CONTROLS = {
    "draw once for each *kind*": lambda words, labels, rng: rng.choice(labels, len(words)).tolist(),
    "two labels or more": lambda words, labels, rng: rng.permutation(labels).tolist(),
    "these are the real labels": lambda words, labels, rng: labels,
    "that they have in truth": nearly_real,
    "equally often": lambda words, labels, rng: control(
        words, labels, rng, source=lambda some: sorted(set(some))
    ),
    "with all its repetitions": by_kinds,
    "none of the real ones": lambda words, labels, rng: control(
        words, labels, rng, source=lambda some: ["x", "y"]
    ),
    "draw everything from `rng`": unseeded,
    "two seeds give the same": always_the_same,
    "for each of the 9,000 words": lambda words, labels, rng: control(words, labels, rng)[:10],
    "in place": sorted_in_place,
    "not tried yet": lambda *given: ...,
}


@pytest.mark.parametrize("sentence", CONTROLS)
def test_exercise_3_names_the_mistake(sentence, capsys):
    assert sentence in said(check_control, CONTROLS[sentence], capsys)


@pytest.mark.parametrize("right", [control, control_of_the_library])
def test_exercise_3_lets_right_answers_pass(right, capsys):
    assert "right." in said(check_control, right, capsys)

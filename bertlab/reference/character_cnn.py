"""A word's vector out of its characters: filters slide over them, and the best match of each counts."""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.functional import embedding_vjp, linear, linear_vjp, relu, relu_vjp
from bertlab.reference.highway import highway, highway_vjp
from bertlab.reference.parameters import join_parameters, split_numbered, split_parameters
from bertlab.reference.types import Bools, Floats, Ints

PARTS = ("characters", "filters", "highways", "project")
Params = Mapping[str, Floats]


def character_cnn(characters: Ints, params: Params) -> Floats:
    """Spell a word and make a vector of it: embed, convolve, take maxima, pass highways, project.

    A filter of width w looks at w characters at a time, once from each character of the word on; beyond the
    end it sees zeros. Its best match is its number.

    Parameters
    ----------
    characters : (..., C) integer array of rows of the character table; 0 where a word has ended. A word of
        zeros alone is padding: its filters find 0.
    params : the names and layout of the `state_dict` of `bertlab.nn.CharacterCNN`: characters.weight (N, A),
        filters.0.weight (F0, A, w0), filters.0.bias (F0,), …, highways.0.…, project.weight, project.bias.

    Returns
    -------
    (..., D) float array.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or a character has no row.

    References
    ----------
    Kim et al. 2016, sec. 3.2 and 3.3; with a projection: Jozefowicz et al. 2016, sec. 3.1, as in ELMo.
    """
    # Departs from ELMo, which fills each word up to 50 characters and lets its filters read the filling.
    part, words = split_parameters(params, PARTS), characters.reshape(-1, characters.shape[-1])
    found, _ = _best_matches(words, part)
    for layer in split_numbered(part["highways"]):
        found = highway(found, layer)
    return linear(found, **part["project"]).reshape(*characters.shape[:-1], -1)


def character_cnn_vjp(grad: Floats, characters: Ints, params: Params) -> dict[str, Floats]:
    """Pull a gradient back through `character_cnn`, to the parameters.

    Parameters
    ----------
    grad : (..., D) float array, gradient with respect to the output.
    characters, params : as in `character_cnn`.

    Returns
    -------
    A dict of gradients by name.
    """
    part, words = split_parameters(params, PARTS), characters.reshape(-1, characters.shape[-1])
    inputs = [_best_matches(words, part)[0]]
    layers = split_numbered(part["highways"])
    for layer in layers:
        inputs.append(highway(inputs[-1], layer))
    rows = grad.reshape(-1, grad.shape[-1])
    d_found, *d_project = linear_vjp(rows, inputs[-1], **part["project"])
    d_highways = {}
    for i in reversed(range(len(layers))):
        d_found, d_highways[str(i)] = highway_vjp(d_found, inputs[i], layers[i])
    named = {"project": dict(zip(("weight", "bias"), d_project, strict=True))}
    named |= {"highways": join_parameters(d_highways)}
    return join_parameters(named | _best_matches_vjp(d_found, words, part))


def _best_matches(words: Ints, part: dict[str, dict[str, Floats]]) -> tuple[Floats, list[Ints]]:
    """The highest activation of each filter (N, F), and for each width from where it comes (N, F of it)."""
    x, real = _embedded(words, part["characters"]["weight"])  # (N, C, A), (N, C)
    best, places = [], []
    for one in split_numbered(part["filters"]):
        scores = linear(_windows(x, one["weight"].shape[-1]), _flat(one["weight"]), one["bias"])  # (N, C, f)
        scores = np.where(real[..., None], scores, -np.inf)
        places.append(scores.argmax(axis=1))
        best.append(np.where(real.any(axis=1, keepdims=True), scores.max(axis=1), 0))
    return relu(np.concatenate(best, axis=-1)), places


def _best_matches_vjp(
    grad: Floats, words: Ints, part: dict[str, dict[str, Floats]]
) -> dict[str, dict[str, Floats]]:
    """Gradients of the filters and of the character table: only the best match of a filter moves it."""
    found, places = _best_matches(words, part)
    x, real = _embedded(words, part["characters"]["weight"])
    grad = relu_vjp(grad, found) * real.any(axis=1, keepdims=True)
    d_x, d_filters, start = np.zeros(x.shape), {}, 0
    for i, (one, place) in enumerate(zip(split_numbered(part["filters"]), places, strict=True)):
        n_filters, _, width = one["weight"].shape
        d_scores = np.zeros((*words.shape, n_filters))  # (N, C, f)
        np.put_along_axis(d_scores, place[:, None], grad[:, None, start : start + n_filters], axis=1)
        windows, start = _windows(x, width), start + n_filters
        d_windows, d_weight, d_bias = linear_vjp(d_scores, windows, _flat(one["weight"]), one["bias"])
        for k, d_shifted in enumerate(np.split(d_windows, width, axis=-1)):  # k characters further on
            d_x[:, k:] += d_shifted[:, : max(words.shape[1] - k, 0)]
        d_filters[str(i)] = {"weight": _unflat(d_weight, one["weight"]), "bias": d_bias}
    d_table = embedding_vjp(d_x * real[..., None], words, part["characters"]["weight"])
    return {"characters": {"weight": d_table}, "filters": join_parameters(d_filters)}


def _embedded(words: Ints, table: Floats) -> tuple[Floats, Bools]:
    """Characters as vectors (N, C, A), zeros behind the end of a word, and which are real (N, C)."""
    strange = words[(words < 0) | (words >= len(table))]
    if strange.size:
        raise ValueError(
            f"character {strange[0]} has no row in a table of {len(table)}: they lie in [0, {len(table)})"
        )
    real = words != 0
    return np.where(real[..., None], table[words], 0.0), real


def _windows(x: Floats, width: int) -> Floats:
    """What a filter sees from each character on: (N, C, A) -> (N, C, width A)."""
    longer = np.pad(x, ((0, 0), (0, width - 1), (0, 0)))
    return np.concatenate([longer[:, k : k + x.shape[1]] for k in range(width)], axis=-1)


def _flat(weight: Floats) -> Floats:
    """Filters (F, A, w), as `torch.nn.Conv1d` keeps them, as rows (F, w A)."""
    return weight.swapaxes(1, 2).reshape(len(weight), -1)


def _unflat(rows: Floats, weight: Floats) -> Floats:
    n_filters, width_in, width = weight.shape
    return rows.reshape(n_filters, width, width_in).swapaxes(1, 2)

"""Two readers of the same vectors that never meet: LSTMs from the left, and LSTMs from the right.

Each direction is a stack of its own. A state from the left knows nothing of what follows, in any layer; so
each direction can be a language model, and asked for the word that it reaches next.
"""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.parameters import check_names, join_parameters, split_numbered, split_parameters
from bertlab.reference.recurrent import lstm, lstm_vjp
from bertlab.reference.types import Bools, Floats

PARTS = ("forwards", "backwards")
WEIGHTS = ("w_input", "w_hidden", "b_input", "b_hidden", "w_project")
Params = Mapping[str, Floats]


def bidirectional_lm(x: Floats, params: Params, mask: Bools | None = None) -> tuple[Floats, ...]:
    """Read vectors from the left and from the right, each direction by layers of LSTMs with projections.

    From the second layer on, what enters a layer is added to what it says.

    Parameters
    ----------
    x : (B, T, D) float array.
    params : names such as "forwards.0.w_input" and "backwards.1.w_project", for each direction and layer the
        weights of `lstm`, with states of width D.
    mask : (B, T) bool array, True = a real token; None if all are.

    Returns
    -------
    L + 1 float arrays (B, T, 2D): x twice, side by side, then of each layer the states from the left and
    those from the right; zero at padding.

    Raises
    ------
    ValueError
        If a parameter is missing or left over, or the shapes do not fit.

    References
    ----------
    Peters et al. 2018, sec. 3.1; the residual connection is in sec. 3.4.
    """
    _, sides = _both_ways(x, params, mask)
    return tuple(np.concatenate(pair, axis=-1) for pair in zip(*sides, strict=True))


def bidirectional_lm_vjp(
    grads: tuple[Floats, ...], x: Floats, params: Params, mask: Bools | None = None
) -> tuple[Floats, dict[str, Floats]]:
    """Pull gradients back through `bidirectional_lm`.

    Parameters
    ----------
    grads : L + 1 float arrays (B, T, 2D), gradients with respect to all layers.
    x, params, mask : as in `bidirectional_lm`.

    Returns
    -------
    d_x, d_params : (B, T, D) float array, and a dict of gradients by name.
    """
    stacks, sides = _both_ways(x, params, mask)
    d_x, d_params = np.zeros(x.shape), {}
    for i, (name, stack, layers) in enumerate(zip(PARTS, stacks, sides, strict=True)):
        halves = [np.split(grad, 2, axis=-1)[i] for grad in grads]
        d_side, d_params[name] = _one_way_vjp(halves, layers, stack, mask, reverse=i == 1)
        d_x += d_side
    return d_x if mask is None else np.where(mask[..., None], d_x, 0.0), join_parameters(d_params)


def _both_ways(
    x: Floats, params: Params, mask: Bools | None
) -> tuple[list[list[dict[str, Floats]]], list[list[Floats]]]:
    """Weights of each layer of each direction, and what enters and leaves its layers."""
    part = split_parameters(params, PARTS)
    stacks = [split_numbered(part[name]) for name in PARTS]
    return stacks, [_one_way(x, stack, mask, reverse=i == 1) for i, stack in enumerate(stacks)]


def _one_way(x: Floats, stack: list[dict[str, Floats]], mask: Bools | None, reverse: bool) -> list[Floats]:
    """Read in one direction: x, then the states of each layer, (B, T, D) each."""
    layers = [x]
    for i, weights in enumerate(stack):
        check_names(weights, WEIGHTS)
        states, _ = lstm(layers[-1], mask, **weights, reverse=reverse)
        layers.append(states + layers[-1] if i else states)  # no way around the first layer
    return [x if mask is None else np.where(mask[..., None], x, 0.0), *layers[1:]]


def _one_way_vjp(
    grads: list[Floats],
    layers: list[Floats],
    stack: list[dict[str, Floats]],
    mask: Bools | None,
    reverse: bool,
) -> tuple[Floats, dict[str, Floats]]:
    """Walk the layers of `_one_way` back."""
    grad, d_stack = grads[-1], {}
    for i in reversed(range(len(stack))):
        nothing = np.zeros((len(grad), stack[i]["w_project"].shape[1]))  # nobody asked for the last state
        d_last = np.zeros_like(grad[:, 0]), nothing
        d_x, *gates, _, _, project = lstm_vjp((grad, d_last), layers[i], mask, **stack[i], reverse=reverse)
        d_stack[str(i)] = dict(zip(WEIGHTS, (*gates, project), strict=True))
        grad = d_x + grads[i] + (grad if i else 0)
    return grad, join_parameters(d_stack)

"""GRU and LSTM read sequences: forward, and backward through time. Their single steps are in `cells`.

A mask here is (B, T), True = a real token. At padding the state is carried on unchanged and the output is
zero: sequences padded on the right need no sorting, and the reverse direction starts at the last real token.
That rule is written once, in `_read` and `_read_vjp`, for both kinds of cell. A state has one part in a GRU,
(h,), and two in an LSTM, (h, c).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bertlab.reference.cells import gru_cell as gru_cell
from bertlab.reference.cells import gru_cell_vjp as gru_cell_vjp
from bertlab.reference.cells import lstm_cell as lstm_cell
from bertlab.reference.cells import lstm_cell_vjp as lstm_cell_vjp
from bertlab.reference.types import Bools, Floats

Arrays = Sequence[Floats]


def gru(
    x: Floats,
    mask: Bools | None,
    w_input: Floats,
    w_hidden: Floats,
    b_input: Floats,
    b_hidden: Floats,
    h0: Floats | None = None,
    reverse: bool = False,
) -> tuple[Floats, Floats]:
    """Read sequences with a gated recurrent unit, in one direction.

    Parameters
    ----------
    x : (B, T, D_in) float array.
    mask : (B, T) bool array, True = a real token; None if all are. At padding the state is carried on
        unchanged, so sequences padded on the right need no sorting, and the reverse direction starts at the
        last real token.
    w_input, w_hidden, b_input, b_hidden : as in `gru_cell`.
    h0 : (B, D) float array, the state before the first step; zeros if None.
    reverse : read from the end.

    Returns
    -------
    states, last : (B, T, D) and (B, D) float arrays: the state after each token (zero at padding), after all.

    Raises
    ------
    ValueError
        If the shapes do not fit, or the mask is not boolean.

    References
    ----------
    Cho et al. 2014, sec. 2.3; for reading in both directions Bahdanau et al. 2015, sec. 3.2.

    Examples
    --------
    >>> x, mask = np.ones((1, 3, 1)), np.array([[True, True, False]])
    >>> w_input, w_hidden, bias = np.array([[0.0], [0.0], [9.0]]), np.zeros((3, 1)), np.zeros(3)
    >>> states, last = gru(x, mask, w_input, w_hidden, bias, bias)
    >>> states.round(4).tolist(), last.round(4).tolist()  # halfway to 1, halfway again, padding
    ([[[0.5], [0.75], [0.0]]], [[0.75]])
    """
    weights = (w_input, w_hidden, b_input, b_hidden)
    states, (last,), _ = _read(_gru_step, x, mask, [_first(x, w_hidden.shape[-1], h0)], weights, reverse)
    return states, last


def gru_vjp(
    grad: tuple[Floats, Floats],
    x: Floats,
    mask: Bools | None,
    w_input: Floats,
    w_hidden: Floats,
    b_input: Floats,
    b_hidden: Floats,
    h0: Floats | None = None,
    reverse: bool = False,
) -> tuple[Floats | Any, ...]:
    """Pull gradients back through `gru`: backpropagation through time.

    Parameters
    ----------
    grad : (B, T, D) and (B, D) float arrays, gradients with respect to `states` and `last`.
    x, mask, w_input, w_hidden, b_input, b_hidden, h0, reverse : as in `gru`.

    Returns
    -------
    d_x, d_w_input, d_w_hidden, d_b_input, d_b_hidden, d_h0 : float arrays, each shaped like its argument.
        `d_h0` is None where `h0` is.

    References
    ----------
    Werbos 1990, "Backpropagation through time".

    Examples
    --------
    >>> x, weight, bias, h0 = np.zeros((1, 3, 1)), np.zeros((3, 1)), np.zeros(3), np.zeros((1, 1))
    >>> d_last = np.zeros((1, 3, 1)), np.ones((1, 1))
    >>> gru_vjp(d_last, x, None, weight, weight, bias, bias, h0)[-1].item()  # halved at each of three steps
    0.125
    """
    weights, first = (w_input, w_hidden, b_input, b_hidden), [_first(x, w_hidden.shape[-1], h0)]
    d_states, d_last = grad
    _, _, before = _read(_gru_step, x, mask, first, weights, reverse)
    d_x, (d_h0,), d_weights = _read_vjp(_gru_step_vjp, d_states, [d_last], x, mask, before, weights, reverse)
    return d_x, *d_weights, None if h0 is None else d_h0


def lstm(
    x: Floats,
    mask: Bools | None,
    w_input: Floats,
    w_hidden: Floats,
    b_input: Floats,
    b_hidden: Floats,
    h0: Floats | None = None,
    c0: Floats | None = None,
    reverse: bool = False,
    w_project: Floats | None = None,
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Read sequences with a long short-term memory, in one direction.

    Parameters
    ----------
    x, mask, reverse : as in `gru`.
    w_input, w_hidden, b_input, b_hidden, w_project : as in `lstm_cell`.
    h0, c0 : (B, D) float arrays, state and memory before the first step; zeros if None. With a projection
        the state is (B, P).

    Returns
    -------
    states, (h, c) : (B, T, D) and twice (B, D) float arrays: the state after each token (zero at padding),
        then state and memory after all. With a projection, states have width P.

    Raises
    ------
    ValueError
        If the shapes do not fit, or the mask is not boolean.

    References
    ----------
    Hochreiter & Schmidhuber 1997, sec. 4; for both directions Graves & Schmidhuber 2005.

    Examples
    --------
    >>> x, zero = np.zeros((1, 2, 1)), np.zeros((4, 1))
    >>> states, (h, c) = lstm(x, None, zero, zero, zero[:, 0], zero[:, 0], c0=np.full((1, 1), 8.0))
    >>> c.tolist()  # half of the memory is forgotten at each step
    [[2.0]]
    """
    weights, first = _lstm_weights(x, h0, c0, w_input, w_hidden, b_input, b_hidden, w_project)
    states, (h, c), _ = _read(lstm_cell, x, mask, first, weights, reverse)
    return states, (h, c)


def lstm_vjp(
    grad: tuple[Floats, tuple[Floats, Floats]],
    x: Floats,
    mask: Bools | None,
    w_input: Floats,
    w_hidden: Floats,
    b_input: Floats,
    b_hidden: Floats,
    h0: Floats | None = None,
    c0: Floats | None = None,
    reverse: bool = False,
    w_project: Floats | None = None,
) -> tuple[Floats | Any, ...]:
    """Pull gradients back through `lstm`: backpropagation through time.

    Parameters
    ----------
    grad : gradients with respect to `states` and `(h, c)`: a (B, T, D) and a pair of (B, D) float arrays.
    x, mask, w_input, w_hidden, b_input, b_hidden, h0, c0, reverse, w_project : as in `lstm`.

    Returns
    -------
    d_x, d_w_input, d_w_hidden, d_b_input, d_b_hidden, d_h0, d_c0, d_w_project : float arrays shaped like the
        arguments. The last three are None where `h0`, `c0` or `w_project` is.

    References
    ----------
    Werbos 1990, "Backpropagation through time".

    Examples
    --------
    >>> x, weight, bias, zero = np.zeros((1, 3, 1)), np.zeros((4, 1)), np.zeros(4), np.zeros((1, 1))
    >>> d_last = np.zeros((1, 3, 1)), (zero, np.ones((1, 1)))
    >>> lstm_vjp(d_last, x, None, weight, weight, bias, bias, zero, zero)[-2].item()  # forget gates of a half
    0.125
    """
    weights, first = _lstm_weights(x, h0, c0, w_input, w_hidden, b_input, b_hidden, w_project)
    d_states, d_last = grad
    _, _, before = _read(lstm_cell, x, mask, first, weights, reverse)
    d_x, (d_h0, d_c0), d_weights = _read_vjp(
        lstm_cell_vjp, d_states, d_last, x, mask, before, weights, reverse
    )
    d_w_project = None if w_project is None else d_weights[4]
    return d_x, *d_weights[:4], None if h0 is None else d_h0, None if c0 is None else d_c0, d_w_project


def _read(
    step: Callable[..., Arrays], x: Floats, mask: Bools | None, state: Arrays, weights: Arrays, reverse: bool
) -> tuple[Floats, Arrays, list[Arrays]]:
    """Take one step for each token: the states of all, the last state, and the state before each step."""
    states, before = np.zeros((*x.shape[:2], state[0].shape[-1])), []  # (B, T, D)
    for t, real in _steps(x, mask, reverse):  # real: (B, 1)
        before.append(state)
        new = step(x[:, t], *state, *weights)
        state = [np.where(real, a, b) for a, b in zip(new, state, strict=True)]
        states[:, t] = np.where(real, state[0], 0)
    return states, state, before


def _read_vjp(
    step_vjp: Callable[..., Arrays],
    d_states: Floats,
    d_state: Arrays,
    x: Floats,
    mask: Bools | None,
    before: list[Arrays],
    weights: Arrays,
    reverse: bool,
) -> tuple[Floats, Arrays, Arrays]:
    """Walk the steps of `_read` back: gradients of the inputs, the first state and the weights."""
    d_x, d_weights = np.zeros(x.shape), [np.zeros(w.shape) for w in weights]
    for (t, real), state in zip(_steps(x, mask, not reverse), reversed(before), strict=True):
        d_state = [d_state[0] + np.where(real, d_states[:, t], 0), *d_state[1:]]  # what the output at t adds
        d_new = [np.where(real, d, 0) for d in d_state]  # this part goes through the step ...
        d_kept = [np.where(real, 0, d) for d in d_state]  # ... and padding lets this part pass
        d_x[:, t], *d_rest = step_vjp(d_new, x[:, t], *state, *weights)
        d_state = [kept + d for kept, d in zip(d_kept, d_rest, strict=False)]
        # not strict: `lstm_cell_vjp` has one more gradient, None, where there is no projection
        d_weights = [total + d for total, d in zip(d_weights, d_rest[len(state) :], strict=False)]
    return d_x, d_state, d_weights


def _gru_step(*arguments: Floats) -> Arrays:
    """`gru_cell` with its one state in a tuple."""
    return (gru_cell(*arguments),)


def _gru_step_vjp(grad: Arrays, *arguments: Floats) -> Arrays:
    """`gru_cell_vjp` for `_gru_step`."""
    return gru_cell_vjp(grad[0], *arguments)


def _lstm_weights(
    x: Floats, h0: Floats | None, c0: Floats | None, w_input: Floats, w_hidden: Floats, *others: Floats | None
) -> tuple[Arrays, Arrays]:
    """Weights that are there, and state and memory before the first step; a projection parts their widths."""
    first = [_first(x, w_hidden.shape[-1], h0), _first(x, len(w_hidden) // 4, c0)]
    return [w_input, w_hidden, *(one for one in others if one is not None)], first


def _first(x: Floats, width: int, state: Floats | None) -> Floats:
    """Return the state before the first step: the given one, or zeros."""
    shape = (len(x), width)
    if state is not None and state.shape != shape:
        raise ValueError(
            f"a first state of shape {state.shape} does not fit: give one of shape {shape}, (B, D)"
        )
    return np.zeros(shape) if state is None else state


def _steps(x: Floats, mask: Bools | None, reverse: bool) -> list[tuple[int, Bools]]:
    """List the positions in the order of reading, each with its (B, 1) part of the mask."""
    if x.ndim != 3:
        raise ValueError(
            f"x has shape {x.shape}, expected (B, T, D_in): add a batch axis to one sequence with x[None]"
        )
    B, T, _ = x.shape
    if mask is None:
        mask = np.ones((B, T), dtype=bool)
    if mask.dtype != np.bool_ or mask.shape != (B, T):
        raise ValueError(
            f"the mask is {mask.dtype} of shape {mask.shape}, expected bool of {(B, T)}: pass ids != pad_id"
        )
    return [(t, mask[:, t, None]) for t in (reversed(range(T)) if reverse else range(T))]

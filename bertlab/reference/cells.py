"""One step of a GRU and of an LSTM, forward and backward.

Weights have the layout and the order of gates of `torch.nn.GRU` and `torch.nn.LSTM`: the gates lie on top of
each other in one matrix, so that a step needs only two products, one with the input and one with the state.
An LSTM may have a projection: what it hands on is then narrower than its memory.
"""

from typing import Any

import numpy as np

from bertlab.reference.functional import linear, linear_vjp, sigmoid
from bertlab.reference.types import Floats


def gru_cell(
    x: Floats, h: Floats, w_input: Floats, w_hidden: Floats, b_input: Floats, b_hidden: Floats
) -> Floats:
    """Take one step of a gated recurrent unit.

    Parameters
    ----------
    x, h : (B, D_in) and (B, D) float arrays, the input and the state so far.
    w_input, w_hidden : (3D, D_in) and (3D, D) float arrays: the rows of reset, update, candidate.
    b_input, b_hidden : (3D,) float arrays.

    Returns
    -------
    (B, D) float array, the new state: between the old one (update gate 1) and the candidate (update gate 0).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    Cho et al. 2014, sec. 2.3, eq. (5) to (8).

    Examples
    --------
    >>> w_input, w_hidden, bias = np.zeros((3, 2)), np.zeros((3, 1)), np.zeros(3)
    >>> gru_cell(np.ones((1, 2)), np.array([[8.0]]), w_input, w_hidden, bias, bias).tolist()  # halfway to 0
    [[4.0]]
    """
    _, z, n, _ = _gru_gates(x, h, w_input, w_hidden, b_input, b_hidden)
    return (1 - z) * n + z * h


def _gru_gates(
    x: Floats, h: Floats, w_input: Floats, w_hidden: Floats, b_input: Floats, b_hidden: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Reset gate, update gate, candidate, and the candidate's part that came from the state: each (B, D)."""
    _check_gates(w_input, w_hidden, n_gates=3)
    x_r, x_z, x_n = np.split(linear(x, w_input, b_input), 3, axis=-1)  # (B, 3D) -> three times (B, D)
    h_r, h_z, h_n = np.split(linear(h, w_hidden, b_hidden), 3, axis=-1)
    r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    # Departs from Cho et al. 2014, eq. (8), as torch and cuDNN do: the reset gate comes after the product,
    # r * (W h + b) and not W (r * h), so that one product serves all three gates. The paper writes no biases.
    return r, z, np.tanh(x_n + r * h_n), h_n


def gru_cell_vjp(
    grad: Floats, x: Floats, h: Floats, w_input: Floats, w_hidden: Floats, b_input: Floats, b_hidden: Floats
) -> tuple[Floats, ...]:
    """Pull a gradient back through `gru_cell`.

    Parameters
    ----------
    grad : (B, D) float array, gradient with respect to the new state.
    x, h, w_input, w_hidden, b_input, b_hidden : as in `gru_cell`.

    Returns
    -------
    d_x, d_h, d_w_input, d_w_hidden, d_b_input, d_b_hidden : float arrays, each shaped like its argument.

    Examples
    --------
    >>> x, weight, bias = np.ones((1, 1)), np.zeros((3, 1)), np.zeros(3)
    >>> gradients = gru_cell_vjp(np.ones((1, 1)), x, np.array([[8.0]]), weight, weight, bias, bias)
    >>> gradients[1].tolist(), gradients[4].tolist()  # half of it goes to h; the biases of r, z and n
    ([[0.5]], [0.0, 2.0, 0.5])
    """
    r, z, n, h_n = _gru_gates(x, h, w_input, w_hidden, b_input, b_hidden)
    d_z = grad * (h - n) * z * (1 - z)  # through the sigmoid
    d_n = grad * (1 - z) * (1 - n**2)  # through the tanh
    d_r = d_n * h_n * r * (1 - r)
    d_from_x = np.concatenate([d_r, d_z, d_n], axis=-1)  # (B, 3D)
    d_from_h = np.concatenate([d_r, d_z, d_n * r], axis=-1)  # (B, 3D), its last part behind the reset gate
    d_x, d_w_input, d_b_input = linear_vjp(d_from_x, x, w_input, b_input)
    d_h, d_w_hidden, d_b_hidden = linear_vjp(d_from_h, h, w_hidden, b_hidden)
    d_h = d_h + grad * z  # the straight way from state to state, past all weights
    return d_x, d_h, d_w_input, d_w_hidden, d_b_input, d_b_hidden


def lstm_cell(
    x: Floats,
    h: Floats,
    c: Floats,
    w_input: Floats,
    w_hidden: Floats,
    b_input: Floats,
    b_hidden: Floats,
    w_project: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Take one step of a long short-term memory.

    Parameters
    ----------
    x, h, c : (B, D_in), (B, D) and (B, D) float arrays: the input, the state and the memory so far.
    w_input, w_hidden : (4D, D_in) and (4D, D) float arrays: the rows of input, forget, candidate, output.
    b_input, b_hidden : (4D,) float arrays.
    w_project : (P, D) float array, optional: the state is projected to width P. `h` is then (B, P) and
        `w_hidden` (4D, P); the memory keeps its width.

    Returns
    -------
    h, c : (B, D or P) and (B, D) float arrays, the new state and the new memory.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    References
    ----------
    Hochreiter & Schmidhuber 1997, sec. 4. The forget gate: Gers et al. 2000, "Learning to forget", sec. 3.
    The projection: Sak et al. 2014, sec. 2.2.

    Examples
    --------
    >>> x, weight, bias = np.zeros((1, 1)), np.zeros((4, 1)), np.zeros(4)
    >>> h, c = lstm_cell(x, x, np.array([[8.0]]), weight, weight, bias, bias)
    >>> c.tolist(), h.round(4).tolist()  # the forget gate is half open
    ([[4.0]], [[0.4997]])
    """
    i, f, g, o = _lstm_gates(x, h, w_input, w_hidden, b_input, b_hidden, w_project)
    c = f * c + i * g  # Departs from Hochreiter & Schmidhuber 1997, who always keep all of c (f = 1)
    out = o * np.tanh(c)
    return out if w_project is None else linear(out, w_project), c


def _lstm_gates(
    x: Floats,
    h: Floats,
    w_input: Floats,
    w_hidden: Floats,
    b_input: Floats,
    b_hidden: Floats,
    w_project: Floats | None,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Input gate, forget gate, candidate and output gate: each (B, D)."""
    _check_gates(w_input, w_hidden, 4, w_project)
    i, f, g, o = np.split(linear(x, w_input, b_input) + linear(h, w_hidden, b_hidden), 4, axis=-1)
    return sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)


def lstm_cell_vjp(
    grad: tuple[Floats, Floats],
    x: Floats,
    h: Floats,
    c: Floats,
    w_input: Floats,
    w_hidden: Floats,
    b_input: Floats,
    b_hidden: Floats,
    w_project: Floats | None = None,
) -> tuple[Floats | Any, ...]:
    """Pull a gradient back through `lstm_cell`.

    Parameters
    ----------
    grad : two float arrays, gradients with respect to the new state and the new memory.
    x, h, c, w_input, w_hidden, b_input, b_hidden, w_project : as in `lstm_cell`.

    Returns
    -------
    d_x, d_h, d_c, d_w_input, d_w_hidden, d_b_input, d_b_hidden, d_w_project : float arrays, each shaped like
        its argument; the last one None where there is no projection.

    Examples
    --------
    >>> x, weight, bias = np.zeros((1, 1)), np.zeros((4, 1)), np.zeros(4)
    >>> gradients = lstm_cell_vjp((x, np.ones((1, 1))), x, x, np.array([[8.0]]), weight, weight, bias, bias)
    >>> gradients[2].tolist(), gradients[5].tolist()  # half of it goes to c; the biases of i, f, g and o
    ([[0.5]], [0.0, 2.0, 0.5, 0.0])
    """
    i, f, g, o = _lstm_gates(x, h, w_input, w_hidden, b_input, b_hidden, w_project)
    out = np.tanh(f * c + i * g)  # what the output gate lets through
    d_out, d_c_new = grad
    d_w_project = None
    if w_project is not None:
        d_out, d_w_project, _ = linear_vjp(d_out, o * out, w_project)  # (B, P) -> (B, D)
    d_c_new = d_c_new + d_out * o * (1 - out**2)  # the memory is also seen through the state
    d_i, d_f = d_c_new * g * i * (1 - i), d_c_new * c * f * (1 - f)
    d_g, d_o = d_c_new * i * (1 - g**2), d_out * out * o * (1 - o)
    d_gates = np.concatenate([d_i, d_f, d_g, d_o], axis=-1)  # (B, 4D)
    d_x, d_w_input, d_b_input = linear_vjp(d_gates, x, w_input, b_input)
    d_h, d_w_hidden, d_b_hidden = linear_vjp(d_gates, h, w_hidden, b_hidden)
    d_c = d_c_new * f  # the straight way from memory to memory, past all weights
    return d_x, d_h, d_c, d_w_input, d_w_hidden, d_b_input, d_b_hidden, d_w_project


def _check_gates(w_input: Floats, w_hidden: Floats, n_gates: int, w_project: Floats | None = None) -> None:
    """Refuse weights that belong to another kind of cell."""
    width = w_hidden.shape[-1]
    if w_project is not None:
        if len(w_project) != width:
            raise ValueError(
                f"w_project of shape {w_project.shape} makes states of width {len(w_project)}, but w_hidden "
                f"of shape {w_hidden.shape} reads {width}: make both the same"
            )
        width = w_project.shape[-1]
    if len(w_input) != n_gates * width or len(w_hidden) != n_gates * width:
        raise ValueError(
            f"w_input has {len(w_input)} rows and w_hidden {len(w_hidden)}: "
            f"{n_gates} gates for a state of width {width} need {n_gates * width} rows in both"
        )

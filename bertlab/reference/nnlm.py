"""The neural language model of 2003: look up the last words' vectors, and score each word that may follow."""

from collections.abc import Mapping

import numpy as np

from bertlab.reference.functional import embedding, embedding_vjp, linear, linear_vjp
from bertlab.reference.parameters import check_names, join_parameters, split_parameters
from bertlab.reference.types import Floats, Ints

NAMES = ("table.weight", "hidden.weight", "hidden.bias", "output.weight", "output.bias")
DIRECT = "direct.weight"


def nnlm(context: Ints, params: Mapping[str, Floats]) -> Floats:
    """Score every word as the next one, from the vectors of the last few words, one behind the other.

    Parameters
    ----------
    context : (B, N) integer array, the last N words, the oldest first.
    params : the names and layout of the `state_dict` of `bertlab.nn.NNLM`. With "direct.weight", the vectors
        also reach the scores without passing the hidden layer.

    Returns
    -------
    (B, V) float array of logits: ``b + W x + U tanh(d + H x)``, where x are the N vectors in one.

    Raises
    ------
    ValueError
        If an id has no row, a parameter is missing or left over, or N is not what the hidden layer reads.

    References
    ----------
    Bengio et al. 2003, sec. 2, eq. (1). The rows of "table.weight", their C, are the word vectors.

    Examples
    --------
    >>> params = {"table.weight": np.array([[0.0], [1.0]]), "output.weight": np.array([[0.0], [3.0]])}
    >>> params |= {"hidden.weight": np.array([[1.0, -1.0]]), "hidden.bias": np.zeros(1)}
    >>> nnlm(np.array([[1, 1], [1, 0]]), params | {"output.bias": np.zeros(2)}).round(2).tolist()
    [[0.0, 0.0], [0.0, 2.28]]
    """
    part, _, joined, inner = _inside(context, params)
    logits = linear(np.tanh(inner), part["output"]["weight"], part["output"]["bias"])  # (B, F) -> (B, V)
    return logits + linear(joined, part["direct"]["weight"]) if "direct" in part else logits


def nnlm_vjp(grad: Floats, context: Ints, params: Mapping[str, Floats]) -> dict[str, Floats]:
    """Pull a gradient back through `nnlm`, to the parameters.

    Parameters
    ----------
    grad : (B, V) float array, gradient with respect to the logits.
    context, params : as in `nnlm`.

    Returns
    -------
    A dict of gradients by name.
    """
    part, vectors, joined, inner = _inside(context, params)
    hidden = np.tanh(inner)
    d_hidden, d_output, d_output_bias = linear_vjp(
        grad, hidden, part["output"]["weight"], part["output"]["bias"]
    )
    d_joined, d_weight, d_bias = linear_vjp(
        d_hidden * (1 - hidden**2), joined, part["hidden"]["weight"], part["hidden"]["bias"]
    )
    found = {
        "hidden": {"weight": d_weight, "bias": d_bias},
        "output": {"weight": d_output, "bias": d_output_bias},
    }
    if "direct" in part:
        straight, d_direct, _ = linear_vjp(grad, joined, part["direct"]["weight"])
        d_joined, found["direct"] = d_joined + straight, {"weight": d_direct}
    found["table"] = {
        "weight": embedding_vjp(d_joined.reshape(vectors.shape), context, part["table"]["weight"])
    }
    return join_parameters(found)


def _inside(
    context: Ints, params: Mapping[str, Floats]
) -> tuple[dict[str, dict[str, Floats]], Floats, Floats, Floats]:
    """Parameters by part; the vectors (B, N, D), joined (B, N * D), and the hidden layer before its tanh."""
    check_names(params, (*NAMES, DIRECT) if DIRECT in params else NAMES)
    part = split_parameters(params, ("table", "hidden", "output", *(["direct"] if DIRECT in params else [])))
    vectors = embedding(context, part["table"]["weight"])  # (B, N, D)
    joined = vectors.reshape(len(vectors), -1)  # (B, N * D)
    return part, vectors, joined, linear(joined, part["hidden"]["weight"], part["hidden"]["bias"])

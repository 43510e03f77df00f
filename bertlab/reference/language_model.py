"""What GPT is pre-trained with: at each position, the next token."""

from collections.abc import Mapping

from bertlab.reference.feed_forward import Activation
from bertlab.reference.functional import linear, linear_vjp
from bertlab.reference.gpt import gpt, gpt_vjp
from bertlab.reference.losses import cross_entropy, cross_entropy_vjp
from bertlab.reference.types import Floats, Ints

TABLE = "embeddings.token.weight"


def language_model_loss(
    ids: Ints,
    labels: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    norm_first: bool = False,
    activation: Activation = "gelu_tanh",
    eps: float = 1e-5,
) -> float:
    """Ask GPT at each position for what comes next: the mean surprise in nats.

    A token is scored by the dot product of its own embedding with what the position says.

    Parameters
    ----------
    ids : (B, T) integer array.
    labels : (B, T) integer array: the token behind each position, -100 where nothing is asked.
    params, n_heads, norm_first, activation, eps : as in `gpt`.

    Returns
    -------
    float, 0 where nothing is asked anywhere.

    Raises
    ------
    ValueError
        As in `gpt` and `cross_entropy`.

    References
    ----------
    Radford et al. 2018, sec. 3.1, eq. (1) and (2): softmax(h We'). The paper adds up where we take the mean.
    """
    layers, _ = gpt(ids, params, n_heads, norm_first, activation, eps)
    return cross_entropy(linear(layers[-1], params[TABLE]), labels)  # (B, T, D) -> (B, T, V)


def language_model_loss_vjp(
    grad: float,
    ids: Ints,
    labels: Ints,
    params: Mapping[str, Floats],
    n_heads: int,
    norm_first: bool = False,
    activation: Activation = "gelu_tanh",
    eps: float = 1e-5,
) -> dict[str, Floats]:
    """Pull a gradient back through `language_model_loss`, to the parameters.

    Parameters
    ----------
    grad : gradient with respect to the loss; 1.0 where the loss is the end of the line.
    ids, labels, params, n_heads, norm_first, activation, eps : as in `language_model_loss`.

    Returns
    -------
    A dict of gradients by name. The token table has two: of the output, and of the input.
    """
    choices = (n_heads, norm_first, activation, eps)
    states, table = gpt(ids, params, *choices)[0][-1], params[TABLE]
    d_logits = cross_entropy_vjp(grad, linear(states, table), labels)
    d_states, d_table, _ = linear_vjp(d_logits, states, table)
    d_params = gpt_vjp(d_states, ids, params, *choices)
    d_params[TABLE] = d_params[TABLE] + d_table
    return d_params

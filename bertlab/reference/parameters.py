"""Parameters in a dict, under the names that the `state_dict` of the module in `bertlab.nn` gives them."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from bertlab.reference.types import Floats

Shapes: TypeAlias = dict[str, tuple[int, ...]]


def split_parameters(params: Mapping[str, Floats], parts: Collection[str]) -> dict[str, dict[str, Floats]]:
    """Sort parameters by the first word of their names, and take that word off.

    Parameters
    ----------
    params : arrays by names such as "attention.query.weight", as in a `state_dict`.
    parts : the first words that must occur.

    Returns
    -------
    A dict of parameters for each part.

    Raises
    ------
    ValueError
        If a part has no parameter, or a parameter belongs to no part.

    Examples
    --------
    >>> split_parameters({"inner.weight": np.ones(1), "outer.weight": np.zeros(1)}, ("inner", "outer"))
    {'inner': {'weight': array([1.])}, 'outer': {'weight': array([0.])}}
    """
    found: dict[str, dict[str, Floats]] = {part: {} for part in parts}
    check_names({name.partition(".")[0] for name in params}, parts)
    for name, value in params.items():
        part, _, rest = name.partition(".")
        found[part][rest] = value
    return found


def join_parameters(parts: Mapping[str, Mapping[str, Floats]]) -> dict[str, Floats]:
    """Put the first words back before the names: the inverse of `split_parameters`.

    Parameters
    ----------
    parts : a dict of parameters, or of gradients, for each part.

    Returns
    -------
    All of them in one dict.

    Examples
    --------
    >>> list(join_parameters({"inner": {"weight": np.ones(1)}, "outer": {"weight": np.zeros(1)}}))
    ['inner.weight', 'outer.weight']
    """
    return {f"{part}.{name}": value for part, params in parts.items() for name, value in params.items()}


def stack_shapes(
    layer_parts: Sequence[str], n_layers: int, d_model: int, d_ff: int, norm_first: bool
) -> Shapes:
    """List the parameters of a stack of layers.

    Parameters
    ----------
    layer_parts : what a layer is made of, attention where the name says no other.
    n_layers, d_model, d_ff : L, D and F.
    norm_first : pre-LN, which has one more norm at the end, if true.

    Returns
    -------
    The shape of each parameter by name.
    """
    D, F = d_model, d_ff
    norm: Shapes = {"weight": (D,), "bias": (D,)}
    square: Shapes = {"weight": (D, D), "bias": (D,)}
    attention = _under(dict.fromkeys(("query", "key", "value", "output"), square))
    network = _under({"inner": {"weight": (F, D), "bias": (F,)}, "outer": {"weight": (D, F), "bias": (D,)}})

    def shapes_of(part: str) -> Shapes:
        if part.endswith("_residual"):
            return _under({"norm": norm})
        return network if part == "feed_forward" else attention

    layer = _under({part: shapes_of(part) for part in layer_parts})
    layers = _under({f"layers.{i}": layer for i in range(n_layers)})
    return layers | (_under({"norm": norm}) if norm_first else {})


def _under(parts: Mapping[str, Shapes]) -> Shapes:
    return {f"{part}.{name}": shape for part, shapes in parts.items() for name, shape in shapes.items()}


def initial_parameters(shapes: Shapes, rng: np.random.Generator) -> dict[str, Floats]:
    """Draw parameters to begin training with.

    Parameters
    ----------
    shapes : the shape of each parameter, for instance from `encoder_shapes`.
    rng : source of randomness.

    Returns
    -------
    A matrix gets uniform numbers within ``±sqrt(6 / (D_in + D_out))``, a bias zeros, the gain of a norm ones.

    References
    ----------
    Glorot & Bengio 2010, sec. 4.2.1, eq. (16): "Xavier".

    Examples
    --------
    >>> initial_parameters({"norm.weight": (2,), "norm.bias": (2,)}, np.random.default_rng(0))
    {'norm.weight': array([1., 1.]), 'norm.bias': array([0., 0.])}
    """

    def draw(name: str, shape: tuple[int, ...]) -> Floats:
        if len(shape) == 2:
            bound = np.sqrt(6 / sum(shape))
            return rng.uniform(-bound, bound, size=shape)
        return np.zeros(shape) if name.endswith("bias") else np.ones(shape)

    return {name: draw(name, shape) for name, shape in shapes.items()}


def split_numbered(params: Mapping[str, Floats]) -> list[dict[str, Floats]]:
    """Sort parameters by the number that their names begin with.

    Parameters
    ----------
    params : with names like "0.weight", "1.weight".

    Returns
    -------
    A dict of parameters for each number, in the order of the numbers.

    Raises
    ------
    ValueError
        If a number is left out.

    Examples
    --------
    >>> [list(one) for one in split_numbered({"0.weight": np.ones(1), "1.bias": np.ones(1)})]
    [['weight'], ['bias']]
    """
    n = len({name.partition(".")[0] for name in params})
    return list(split_parameters(params, [str(i) for i in range(n)]).values())


def split_stack(
    params: Mapping[str, Floats], norm_first: bool
) -> tuple[list[dict[str, Floats]], dict[str, Floats] | None]:
    """Take the parameters of a stack apart: those of each layer, and those of the last norm.

    Parameters
    ----------
    params : the `state_dict` of an encoder or a decoder, with names like "layers.0.attention.query.weight".
    norm_first : pre-LN if true, post-LN, which has no last norm, if false.

    Returns
    -------
    layers, norm : a dict of parameters for each layer, and ``{"weight": (D,), "bias": (D,)}`` or None.

    Raises
    ------
    ValueError
        If a layer is left out, or a parameter of the last norm is missing or one too many.
    """
    part = split_parameters(params, ("layers", "norm") if norm_first else ("layers",))
    if norm_first:
        check_names(part["norm"], ("weight", "bias"))
    return split_numbered(part["layers"]), part.get("norm")


def check_names(names: Collection[str], wanted: Collection[str]) -> None:
    """Refuse parameters that lack a name or have one too many.

    Raises
    ------
    ValueError
        If a name is missing or left over.

    Examples
    --------
    >>> check_names({"norm.weight"}, {"norm.weight", "norm.bias"})
    Traceback (most recent call last):
    ValueError: params lacks ['norm.bias'] and has [] left over: use the names of the state_dict
    """
    missing, left_over = sorted(set(wanted) - set(names)), sorted(set(names) - set(wanted))
    if missing or left_over:
        raise ValueError(
            f"params lacks {missing} and has {left_over} left over: use the names of the state_dict"
        )

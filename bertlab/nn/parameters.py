"""Parameters in a dict, part by part: twin of `bertlab.reference.parameters`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from torch import Tensor


def split_parameters(params: Mapping[str, Tensor], parts: Collection[str]) -> dict[str, dict[str, Tensor]]:
    """Sort parameters by the first word of their names, and take that word off.

    Parameters
    ----------
    params : tensors by names such as "attention.query.weight", as in a `state_dict`.
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
    >>> import torch
    >>> split_parameters({"inner.weight": torch.ones(1), "outer.weight": torch.zeros(1)}, ("inner", "outer"))
    {'inner': {'weight': tensor([1.])}, 'outer': {'weight': tensor([0.])}}
    """
    found: dict[str, dict[str, Tensor]] = {part: {} for part in parts}
    check_names({name.partition(".")[0] for name in params}, parts)
    for name, value in params.items():
        part, _, rest = name.partition(".")
        found[part][rest] = value
    return found


def split_numbered(params: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
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
    >>> import torch
    >>> [list(one) for one in split_numbered({"0.weight": torch.ones(1), "1.bias": torch.ones(1)})]
    [['weight'], ['bias']]
    """
    n = len({name.partition(".")[0] for name in params})
    return list(split_parameters(params, [str(i) for i in range(n)]).values())


def split_stack(
    params: Mapping[str, Tensor], norm_first: bool
) -> tuple[list[dict[str, Tensor]], dict[str, Tensor] | None]:
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

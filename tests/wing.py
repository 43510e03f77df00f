"""Both wings behind one face: NumPy arrays in and out, and `f_vjp` by autograd where it is not written."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

MODULES = (
    "functional",
    "masking",
    "attention",
    "recurrent",
    "positions",
    "feed_forward",
    "residual",
    "sublayers",
    "encoder",
    "decoder",
    "bert",
    "bert_heads",
    "nnlm",
    "negative_sampling",
    "word2vec",
    "glove",
    "highway",
    "character_cnn",
    "scalar_mix",
    "bidirectional_lm",
    "elmo",
    "gpt",
    "language_model",
)


class Wing:
    """The functions of `bertlab.reference` or `bertlab.nn` as attributes, found by name alone."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.modules = [importlib.import_module(f"bertlab.{name}.{module}") for module in MODULES]

    def find(self, function: str) -> Callable[..., Any]:
        """The function itself, as a user of the wing imports it."""
        for module in self.modules:
            if hasattr(module, function):
                return getattr(module, function)
        raise AttributeError(f"bertlab.{self.name} has no {function} in {', '.join(MODULES)}")

    def __getattr__(self, function: str) -> Callable[..., Any]:
        if self.name == "reference":
            return self.find(function)
        if function.endswith("_vjp"):
            return lambda grad, *arguments, **options: _autograd(
                self.find(function.removesuffix("_vjp")), grad, *arguments, **options
            )
        return lambda *arguments, **options: to_numpy(
            self.find(function)(*map(to_torch, arguments), **{key: to_torch(o) for key, o in options.items()})
        )


def to_torch(value: Any) -> Any:
    """Arrays become tensors, in tuples and dicts as well; everything else stays what it is."""
    if isinstance(value, dict):
        return {key: to_torch(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map(to_torch, value))
    return torch.tensor(value) if isinstance(value, np.ndarray) else value


def to_numpy(value: Any) -> Any:
    """The way back from `to_torch`; a tensor with one number and no axis becomes a float."""
    if isinstance(value, tuple):
        return tuple(map(to_numpy, value))
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().numpy() if value.dim() else value.item()


def flat(value: Any) -> list[Any]:
    """All arrays of a nested tuple or dict in order; None counts as one."""
    if isinstance(value, dict):
        return [item for key in sorted(value) for item in flat(value[key])]
    return [item for part in value for item in flat(part)] if isinstance(value, tuple) else [value]


def differentiated(concept: str, outputs: Any) -> Any:
    """The outputs that a `_vjp` takes gradients for: not the weights of attention, nor parts of a loss."""
    if concept == "bert":
        return outputs[0][-1], outputs[1]
    if concept == "gpt":
        return outputs[0][-1]
    beside = ("attention", "encoder", "decoder", "pretraining_loss", "bidirectional_lm_loss")
    return outputs[0] if concept == "attend" or any(word in concept for word in beside) else outputs


def _autograd(function: Callable[..., Any], grad: Any, *arguments: Any, **options: Any) -> Any:
    """What the reference calls `f_vjp(grad, ...)`, computed by PyTorch."""
    bound = inspect.signature(function).bind(*map(to_torch, arguments), **options)
    bound.apply_defaults()
    inputs = {name: value for name, value in bound.arguments.items() if _is_differentiable(name, value)}
    leaves = [leaf.requires_grad_() for value in inputs.values() for leaf in flat(value) if leaf is not None]
    grads = [torch.as_tensor(g, dtype=torch.float64) for g in flat(grad)]
    outputs = flat(differentiated(function.__name__, function(*bound.args, **bound.kwargs)))
    found = iter(torch.autograd.grad(outputs, leaves, grads, allow_unused=True, materialize_grads=True))
    gradients = tuple(_like(value, found) for value in inputs.values())
    return gradients[0] if len(gradients) == 1 else gradients


def _is_differentiable(name: str, value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.is_floating_point()
    return isinstance(value, dict) or (value is None and name not in ("mask", "memory_mask", "device"))


def _like(value: Any, found: Any) -> Any:
    """The next gradients in the shape of the argument: an array, a dict of arrays, or None."""
    if isinstance(value, dict):
        gradients = {key: next(found).numpy() for key in sorted(value)}
        return {key: gradients[key] for key in value}
    return None if value is None else next(found).numpy()


REFERENCE, NN = Wing("reference"), Wing("nn")

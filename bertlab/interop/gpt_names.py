"""Names and layout of GPT's parameters: ours, and those of Hugging Face's two formats, openai-gpt and gpt2.

Their linear layers are OpenAI's "Conv1D", whose matrices are stored as (D_in, D_out): ours, transposed. And
query, key and value lie side by side in one matrix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

from bertlab.nn import GPT, GPTConfig

Kind = Literal["openai-gpt", "gpt2"]

TABLES: dict[Kind, dict[str, str]] = {
    "openai-gpt": {"token": "tokens_embed.weight", "position": "positions_embed.weight"},
    "gpt2": {"token": "wte.weight", "position": "wpe.weight"},
}
LAST_NORM = "ln_f"  # of gpt2 alone
NORMS = {"attention_residual.norm": "ln_1", "feed_forward_residual.norm": "ln_2"}
LINEAR = {
    "attention.output": "attn.c_proj",
    "feed_forward.inner": "mlp.c_fc",
    "feed_forward.outer": "mlp.c_proj",
}
PROJECTIONS, JOINED = ("query", "key", "value"), "attn.c_attn"
OUTPUT = "lm_head.weight"
BUFFERS = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)|position_ids")  # the mask and 0, 1, 2 …: no weights


def kind_of(config: GPTConfig) -> Kind:
    """Say in which of the two formats a GPT is written: the order of its norms decides."""
    return "gpt2" if config.norm_first else "openai-gpt"


def to_theirs(params: Mapping[str, Tensor], config: GPTConfig) -> dict[str, Tensor]:
    """Bring parameters, or their gradients, into the names and the layout of Hugging Face.

    Parameters
    ----------
    params : by the names of the `state_dict` of a `GPT`.
    config : of that GPT.

    Returns
    -------
    The same by their names, without "transformer." before them.
    """
    tables = TABLES[kind_of(config)]
    found = {theirs: params[f"embeddings.{ours}.weight"] for ours, theirs in tables.items()}
    for i in range(config.n_layers):
        own, their = f"encoder.layers.{i}", f"h.{i}"
        for part in ("weight", "bias"):
            joined = torch.cat([params[f"{own}.attention.{name}.{part}"] for name in PROJECTIONS])
            found[f"{their}.{JOINED}.{part}"] = _transposed(joined)  # (3D, D) -> (D, 3D), or (3D,)
            for ours, theirs in LINEAR.items():
                found[f"{their}.{theirs}.{part}"] = _transposed(params[f"{own}.{ours}.{part}"])
            for ours, theirs in NORMS.items():
                found[f"{their}.{theirs}.{part}"] = params[f"{own}.{ours}.{part}"]
    if config.norm_first:
        found |= {f"{LAST_NORM}.{part}": params[f"encoder.norm.{part}"] for part in ("weight", "bias")}
    return found


def to_ours(tensors: Mapping[str, Tensor], config: GPTConfig) -> dict[str, Tensor]:
    """Undo `to_theirs`.

    Parameters
    ----------
    tensors : by their names, without "transformer." before them; all that the config wants.
    config : of the GPT.

    Returns
    -------
    The same by the names of the `state_dict` of a `GPT`.
    """
    tables = TABLES[kind_of(config)]
    found = {f"embeddings.{ours}.weight": tensors[theirs] for ours, theirs in tables.items()}
    for i in range(config.n_layers):
        own, their = f"encoder.layers.{i}", f"h.{i}"
        for part in ("weight", "bias"):
            joined = _transposed(tensors[f"{their}.{JOINED}.{part}"])  # (D, 3D) -> (3D, D), or (3D,)
            for name, tensor in zip(PROJECTIONS, joined.chunk(3), strict=True):
                found[f"{own}.attention.{name}.{part}"] = tensor
            for ours, theirs in LINEAR.items():
                found[f"{own}.{ours}.{part}"] = _transposed(tensors[f"{their}.{theirs}.{part}"])
            for ours, theirs in NORMS.items():
                found[f"{own}.{ours}.{part}"] = tensors[f"{their}.{theirs}.{part}"]
    if config.norm_first:
        found |= {f"encoder.norm.{part}": tensors[f"{LAST_NORM}.{part}"] for part in ("weight", "bias")}
    return found


def _transposed(tensor: Tensor) -> Tensor:
    """Turn a matrix round; a bias has nothing to turn."""
    return tensor.T if tensor.dim() == 2 else tensor


def their_shapes(config: GPTConfig) -> dict[str, torch.Size]:
    """List the tensors that a GPT of this config has in Hugging Face's format, with their shapes."""
    with torch.device("meta"):
        return {name: t.shape for name, t in to_theirs(GPT(config).state_dict(), config).items()}


def normalised(
    tensors: Mapping[str, Tensor], config: GPTConfig, ignore: tuple[str, ...] = ()
) -> dict[str, Tensor]:
    """Bring the names of any checkpoint to one form, and give each weight once.

    Parameters
    ----------
    tensors : by names with or without "transformer." before them.
    config : tells the format.
    ignore : what begins with one of these is left out.

    Returns
    -------
    The same without "transformer.", without the output matrix, which is the table of token embeddings, and
    without masks and numbers of positions, which are no weights.

    Raises
    ------
    ValueError
        If two tensors have one name in that form, or the output is another matrix than the token embeddings.
    """
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if ignore and name.startswith(ignore):
            continue
        plain = name.removeprefix("transformer.")
        if plain in found:
            raise ValueError(f"{plain} is there twice, as {name} and under another name: keep one of them")
        if not BUFFERS.fullmatch(plain):
            found[plain] = tensor
    table = TABLES[kind_of(config)]["token"]
    output = found.pop(OUTPUT, None)
    if output is not None and not torch.equal(output, found.setdefault(table, output)):
        raise ValueError(f"{OUTPUT} differs from {table}: one parameter in GPT; a model with two is another")
    return found

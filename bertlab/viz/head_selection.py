"""What a reader of the head view has chosen to see: whole words, one sentence, the strongest weights.

The browser does the same (static/head_numbers.js); here it is done once more for the still picture.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bertlab.viz.attentions import AttentionLayers
from bertlab.viz.word_pieces import is_special, merge, word, word_groups

SENTENCES = ("all", "AA", "AB", "BA", "BB")  # from which sentence of a pair, to which


class Rows(NamedTuple):
    """One column of the head view: what is written in each row, and the tokens that it stands for."""

    labels: list[str]
    groups: list[list[int]]

    def of(self, positions: Sequence[int]) -> list[int]:
        """Rows that stand for any of these tokens."""
        wanted = set(positions)
        return [row for row, group in enumerate(self.groups) if wanted & set(group)]


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
    groups = word_groups(tokens) if merge_words else [[i] for i in range(len(tokens))]
    if hide_special:
        groups = [group for group in groups if not is_special(tokens[group[0]])]
    if sentence is not None:
        groups = [group for group in groups if ("B" if group[0] >= b else "A") == sentence]
    labels = [word([tokens[i] for i in group]) if merge_words else tokens[group[0]] for group in groups]
    return Rows(labels, groups)


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

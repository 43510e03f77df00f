"""Word pieces put together to words, and what a merged head's weights are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array

# [MASK] and [UNK] stand for words; these stand for none.
SPECIAL = frozenset(
    ("[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "<pad>", "<bos>", "<eos>", "<cls>", "<sep>", "<|endoftext|>")
)
STARTS = ("Ġ", "▁")  # what a word begins with in byte-level BPE and in SentencePiece; Ċ is a line break


def word_groups(tokens: Sequence[str]) -> list[list[int]]:
    """Positions of the tokens of each word.

    WordPiece marks what goes on ("##ing"); byte-level BPE and SentencePiece mark where a word begins
    ("Ġplay", "▁play"). Without any such mark every token is a word. A special token is a word of its own.

    >>> word_groups(["[CLS]", "play", "##ing", "[SEP]"])
    [[0], [1, 2], [3]]
    """
    marks_starts = not any(_goes_on(token) for token in tokens) and any(t.startswith(STARTS) for t in tokens)
    groups: list[list[int]] = []
    for i, token in enumerate(tokens):
        goes_on = not token.startswith((*STARTS, "Ċ")) if marks_starts else _goes_on(token)
        alone = token in SPECIAL or (i > 0 and tokens[i - 1] in SPECIAL)
        if groups and goes_on and not alone:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _goes_on(token: str) -> bool:
    return token.startswith("##") and len(token) > 2


def word(tokens: Sequence[str]) -> str:
    """The word that pieces make: ["play", "##ing"] is "playing"."""
    return "".join(piece.removeprefix("##") if _goes_on(piece) else piece for piece in tokens)


def merge(weights: ArrayLike, query_groups: list[list[int]], key_groups: list[list[int]]) -> np.ndarray:
    """Weights between words: to a word, the sum over its pieces; from a word, the mean over its pieces.

    So every row still sums to what it did.

    Parameters
    ----------
    weights : (Tq, Tk) array
    query_groups, key_groups : lists of lists of positions

    Returns
    -------
    (len(query_groups), len(key_groups)) array

    References
    ----------
    Clark et al. 2019, What Does BERT Look At?, sec. 4.1.
    """
    array = as_array(weights)
    summed = np.stack([array[:, group].sum(axis=1) for group in key_groups], axis=1)
    return np.stack([summed[group].mean(axis=0) for group in query_groups])


def is_special(token: str) -> bool:
    """Whether a token stands for no word, such as [CLS], [SEP] or padding."""
    return token in SPECIAL

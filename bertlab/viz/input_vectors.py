"""What goes into BERT: three vectors for each token, checked and added."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertlab.viz.attentions import strings
from bertlab.viz.payload import as_array

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of segments
SAME = 1e-5  # of the largest number: two vectors that differ by less are one
UNLIKE = 0.05  # of its spread: what a layer norm of the sum can leave unexplained, in half precision
NAMES = ("token_vectors", "segment_vectors", "position_vectors")
TABLES = (
    "a row of its table for each token, as in token_table[ids], segment_table[segments], position_table[:{}]"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class InputVectors:
    """Tokens of one sentence, or of a pair, with the three vectors that BERT adds for each.

    Arrays may be given as PyTorch tensors, and with a batch of one; they are kept as float64 arrays.

    Attributes
    ----------
    tokens : sequence of T strings
        With [CLS] and [SEP].
    segments : sequence of T whole numbers
        0 for the first sentence (A), 1 for the second (B).
    token_vectors, segment_vectors, position_vectors : (T, D) arrays
        One row of each table for each token.
    ids : sequence of T whole numbers, optional
        Rows of the token table.
    normed : (T, D) array, optional
        What the model's layer norm makes of the sum, without dropout. Its gain and bias are not known here;
        that there are some which explain it is checked, for what that is worth: two tokens always have them.

    Raises
    ------
    ValueError
        If shapes do not fit, if one segment (or one id) has two vectors, or `normed` is no layer norm of the
        sum.

    References
    ----------
    Devlin et al. 2019, sec. 3, fig. 2.
    """

    tokens: Sequence[str]
    segments: Any
    token_vectors: Any
    segment_vectors: Any
    position_vectors: Any
    ids: Any = None
    normed: Any = None

    def __post_init__(self) -> None:
        """Turn everything into arrays of one sentence, and see that it belongs together."""
        tokens = strings(self.tokens, "tokens")
        width = None
        for name in (*NAMES, *(("normed",) if self.normed is not None else ())):
            vectors = _vectors(getattr(self, name), name, len(tokens), width)
            object.__setattr__(self, name, vectors)
            width = vectors.shape[1]
        segments = _whole_numbers(self.segments, "segments", len(tokens))
        if not all(0 <= segment < len(LETTERS) for segment in segments):
            raise ValueError(f"segments={list(segments)!r:.60}: give 0 for sentence A, and 1 for sentence B")
        _check_one_vector_each(segments, self.segment_vectors, "segment", "segment_vectors")
        ids = None if self.ids is None else _whole_numbers(self.ids, "ids", len(tokens))
        if ids is not None:
            _check_one_vector_each(ids, self.token_vectors, "id", "token_vectors")
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "segments", segments)
        object.__setattr__(self, "ids", ids)
        if self.normed is not None and not _is_layer_norm(self.normed, self.sums):
            raise ValueError(
                "normed is not a layer norm of the sum: no gain and bias make one of the other; give what "
                "comes out of the embeddings, before the first layer, without dropout (model.eval())"
            )

    @property
    def width(self) -> int:
        """D: of each of the three vectors, and of their sum."""
        return int(self.token_vectors.shape[1])

    @property
    def sums(self) -> np.ndarray:
        """(T, D): the three vectors of each token, added."""
        return np.asarray(self.token_vectors + self.segment_vectors + self.position_vectors)

    @property
    def letters(self) -> list[str]:
        """The segment of each token as a letter."""
        return [LETTERS[segment] for segment in self.segments]

    @property
    def rows(self) -> dict[str, np.ndarray]:
        """All vectors there are, in the order in which they come about."""
        rows = dict(
            zip(("token", "segment", "position"), (getattr(self, name) for name in NAMES), strict=True)
        )
        return rows | {"sum": self.sums} | ({} if self.normed is None else {"norm": self.normed})


def _vectors(values: Any, name: str, n_tokens: int, width: int | None) -> np.ndarray:
    if values is None:
        raise ValueError(f"{name} is None: give {TABLES.format(n_tokens)}")
    array = as_array(values)
    if array.ndim == 3 and len(array) > 1:
        raise ValueError(
            f"{name} has shape {array.shape}, a batch of {len(array)}: choose one, as in {name}[0]"
        )
    array = array[0] if array.ndim == 3 and len(array) == 1 else array
    if array.ndim != 2 or len(array) != n_tokens or not array.size:
        raise ValueError(
            f"{name} has shape {array.shape}, but there are {n_tokens} tokens: give {TABLES.format(n_tokens)}"
        )
    if width not in (None, array.shape[1]):
        raise ValueError(
            f"{name} is {array.shape[1]} wide, {NAMES[0]} {width}: the vectors are added number by number, "
            "so give all in one width"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds nan or infinity: give the numbers of the model's table")
    return array


def _whole_numbers(values: Any, name: str, n_tokens: int) -> tuple[int, ...]:
    array = np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    array = array[0] if array.ndim == 2 and len(array) == 1 else array
    if array.shape != (n_tokens,) or array.dtype.kind not in "iub":
        raise ValueError(
            f"{name} of shape {array.shape} and type {array.dtype}: give a whole number for each of the "
            f"{n_tokens} tokens of one example"
        )
    return tuple(int(value) for value in array)


def _check_one_vector_each(labels: tuple[int, ...], vectors: np.ndarray, kind: str, name: str) -> None:
    first: dict[int, int] = {}
    peak = float(np.abs(vectors).max()) or 1.0
    for i, label in enumerate(labels):
        j = first.setdefault(label, i)
        if np.abs(vectors[i] - vectors[j]).max() > SAME * peak:
            raise ValueError(
                f"tokens {j} and {i} have the same {kind} {label}, but different rows of {name}: give rows "
                "of the model's table, before anything is added"
            )


def _is_layer_norm(normed: np.ndarray, sums: np.ndarray) -> bool:
    """Whether a gain and a bias for each dimension make `normed` of the normalised sum."""
    spread = sums.std(axis=1, keepdims=True)
    z = (sums - sums.mean(axis=1, keepdims=True)) / np.where(spread == 0, 1, spread)  # (T, D)
    x, y = z - z.mean(axis=0), normed - normed.mean(axis=0)
    gain = (x * y).sum(axis=0) / np.maximum((x * x).sum(axis=0), 1e-12)  # (D,): least squares
    left, whole = np.square(y - gain * x).sum(), np.square(y).sum()
    return bool(left <= UNLIKE**2 * whole)

"""Published word vectors: GloVe, out of the package that carries it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet

from bertlab.datasets import UnknownName, load, pretrained
from bertlab.datasets.glove_sample import glove_sample
from bertlab.text import Vectors

SETS = ("glove-sample", "glove-6b-50d-top20k", "glove-6b-50d")


def load_vectors(name: str | Path) -> Vectors:
    """Load word vectors by name, or from a file.

    Parameters
    ----------
    name : "glove-sample", the directions of 3,133 words of GloVe 6B, always there; "glove-6b-50d-top20k", the
        20,000 most frequent words (2 MB, fetched if not there); "glove-6b-50d", all 400,000, which
        `python -m bertlab get glove-6b-50d` brings; or the path of a file that `Vectors.load` reads.

    Returns
    -------
    Vectors in float32, the most frequent word first.

    Raises
    ------
    UnknownName
        If it is neither.
    DataUnavailable
        If the vectors are not on this machine and cannot be fetched.

    References
    ----------
    Pennington et al. 2014: trained on 6 billion words of Wikipedia (2014) and news (Gigaword 5).

    Examples
    --------
    >>> load_vectors("glove-sample").analogy("man", "king", "woman", 1)[0][0]
    'queen'
    """
    if name == SETS[0]:
        return Vectors(*glove_sample())
    if name == SETS[1]:
        data = load(SETS[1])
        matrix = np.load(data.path("vectors_f16.npy"), allow_pickle=False)
        return Vectors(data.lines("words.txt"), matrix.astype(np.float32))
    if name == SETS[2]:
        folder = pretrained(SETS[2])
        matrix = np.load(folder / "glove_6B_50d_emb.npy", allow_pickle=False)
        table = pyarrow.parquet.read_table(folder / "glove_6B_index.parquet")
        return Vectors(table.column(0).to_pylist(), matrix)
    if not Path(name).is_file():
        raise UnknownName(
            f"{name} is no file and no set of vectors: give a path, or one of {', '.join(SETS)}"
        )
    return Vectors.load(name)

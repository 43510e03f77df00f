"""How word vectors are trained: the settings of each kind, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from bertlab.text import Vectors


class TrainedVectors(NamedTuple):
    """Word vectors, and how their training went."""

    vectors: Vectors
    losses: list[float]  # mean loss, in the unit of the model, of stretches of equal length


@dataclass(frozen=True, kw_only=True)
class Word2VecConfig:
    """Skip-gram or CBOW with negative sampling; the defaults are word2vec's, but for rate and optimiser.

    References
    ----------
    Mikolov et al. 2013a and b; word2vec.c.

    Examples
    --------
    >>> Word2VecConfig(model="cbow", epochs=3).window
    5
    """

    model: Literal["skip-gram", "cbow"] = "skip-gram"
    d_model: int = 100  # D
    window: int = 5  # words to each side at most; how many is drawn anew for each word
    negatives: int = 5  # k, words of noise that a true one is told from
    epochs: int = 5
    rate: float = 0.4  # of AdaGrad, falling in a line to almost 0
    threshold: float = 1e-3  # share of the text from which a word is thinned out; 0: none is
    seed: int = 0

    def __post_init__(self) -> None:
        if self.model not in ("skip-gram", "cbow"):
            raise ValueError(f"model={self.model!r}: choose 'skip-gram' or 'cbow'")
        _check(self, "d_model", "window", "negatives", "epochs", "rate")


@dataclass(frozen=True, kw_only=True)
class GloVeConfig:
    """GloVe; the defaults are those of the paper, but for width, epochs and rate.

    A step takes thousands of entries here, so the rate is larger. (In GloVe's own code the paper's 0.05 also
    enters the sums of squares, which begin with 1: that is a rate of 1 with sums that begin with 400.)

    References
    ----------
    Pennington et al. 2014, sec. 4.2: AdaGrad, cut at 100, power 3/4, windows of ten words.
    """

    d_model: int = 100  # D
    window: int = 10  # greatest distance of two words that meet
    cut: float = 100.0  # the count from which an entry has its full weight
    power: float = 0.75
    epochs: int = 20
    rate: float = 0.5  # of AdaGrad
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self, "d_model", "window", "cut", "epochs", "rate")


@dataclass(frozen=True, kw_only=True)
class NNLMConfig:
    """The neural language model, with AdamW in place of the plain descent of 2003.

    References
    ----------
    Bengio et al. 2003, sec. 4.2: the last two or four words, 30 to 60 numbers each, 50 or 100 hidden units.
    """

    d_model: int = 100  # D
    d_hidden: int = 60  # F
    n_context: int = 4  # N, words it looks back
    direct: bool = False  # whether the vectors also reach the scores directly
    epochs: int = 1
    batch_size: int = 512
    rate: float = 2e-3  # of AdamW: up over the first tenth, then down in a line
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self, "d_model", "d_hidden", "n_context", "epochs", "batch_size", "rate")


def _check(config: object, *names: str) -> None:
    """Refuse what must be above 0 and is not."""
    for name in names:
        if not getattr(config, name) > 0:
            raise ValueError(f"{name}={getattr(config, name)}: choose a number above 0")

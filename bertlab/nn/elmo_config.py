"""Sizes and choices of an ELMo, and how many parameters each of its parts has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FILTERS = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))


@dataclass(frozen=True, kw_only=True)
class ELMoConfig:
    """Sizes and choices of an ELMo; the defaults are those of the original, which spells its words.

    Raises
    ------
    ValueError
        If a value does not make a model; the sentence names it and the fix.

    References
    ----------
    Peters et al. 2018, sec. 3.4; filters and highway layers are in the authors' options.json.

    Examples
    --------
    >>> config = ELMoConfig.original()
    >>> twice = config.parts["second biases of the LSTMs"]  # PyTorch has two where the authors have one
    >>> f"{config.n_parameters - twice:,}"  # they say 93.6 million
    '93,600,848'
    >>> ELMoConfig.mini(vocab_size=8192).d_model
    256
    """

    vocab_size: int = 793_471  # V, tokens that the softmax chooses among
    d_model: int = 512  # D, width of word vectors and of the states of one direction
    d_memory: int = 4096  # M, width of an LSTM's memory, "cell size"
    n_layers: int = 2  # L
    dropout: float = 0.1  # probability in [0, 1) of dropping a number of what enters a layer or the softmax
    pad_id: int = 0
    n_characters: int = 261  # rows of the character table; 0: ids have a table of vectors instead
    d_character: int = 16  # A
    filters: tuple[tuple[int, int], ...] = FILTERS  # width in characters, and how many
    n_highway: int = 2

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "d_model", "d_memory", "n_layers", "d_character", "n_highway")
        for name in sizes:
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: choose at least 1")
        if not 0 <= self.dropout < 1:
            raise ValueError(
                f"dropout={self.dropout} is not a probability in [0, 1): choose one, 0 switches it off"
            )
        if not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(f"pad_id={self.pad_id} is none of {self.vocab_size} ids: choose that of [PAD]")
        if self.n_characters < 0:
            raise ValueError(
                f"n_characters={self.n_characters}: choose 0 for a table of ids, or 261 for bytes"
            )
        if not self.filters or any(min(one) < 1 for one in self.filters):
            raise ValueError(f"filters={self.filters}: give pairs of a width and a number, 1 or more each")

    @classmethod
    def original(cls, **changes: Any) -> ELMoConfig:
        """2 layers with memories of 4096 and states of 512, over characters: 93.6M parameters."""
        return cls(**changes)

    @classmethod
    def tiny(cls, **changes: Any) -> ELMoConfig:
        """2 layers of 128 over pieces: as many parameters as `BertConfig.tiny` has with its heads."""
        return cls(**{"d_model": 128, "d_memory": 104, "n_characters": 0, **changes})

    @classmethod
    def mini(cls, **changes: Any) -> ELMoConfig:
        """2 layers of 256 over pieces: as many parameters as `BertConfig.mini` has with its heads."""
        return cls(**{"d_model": 256, "d_memory": 368, "n_characters": 0, **changes})

    @property
    def parts(self) -> dict[str, int]:
        """Number of parameters of each part, the softmax last."""
        D, M, V, n = self.d_model, self.d_memory, self.vocab_size, 2 * self.n_layers
        lstms = {
            "LSTMs": n * (4 * M * (D + D) + 4 * M + D * M),
            "second biases of the LSTMs": n * 4 * M,
        }
        if not self.n_characters:
            return {"embeddings": V * D, **lstms, "softmax": V}
        F = sum(number for _, number in self.filters)
        return {
            "characters": self.n_characters * self.d_character,
            "filters": sum(number * (width * self.d_character + 1) for width, number in self.filters),
            "highway layers": self.n_highway * 2 * (F * F + F),
            "projection of the words": F * D + D,
            **lstms,
            "softmax": V * D + V,
        }

    @property
    def n_parameters(self) -> int:
        """Number of parameters without the softmax, as an `ELMo` has them.

        The authors' table of models says 93.6M; theirs reads padding, which has a row of 16 numbers, and has
        one bias for a gate. PyTorch's LSTM has two, which are added.
        """
        return sum(number for part, number in self.parts.items() if part != "softmax")

"""Sizes and choices of a GPT, and how many parameters each of its parts has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bertlab.nn.encoder import LayerOptions
from bertlab.nn.feed_forward import Activation, check_activation


@dataclass(frozen=True, kw_only=True)
class GPTConfig:
    """Sizes and choices of a GPT; the defaults are those of GPT-1.

    Raises
    ------
    ValueError
        If a value does not make a model; the sentence names it and the fix.

    References
    ----------
    Radford et al. 2018, sec. 4.1, "Model specifications". The small sizes are those of `BertConfig`.

    Examples
    --------
    >>> GPTConfig.gpt1().n_parameters, GPTConfig.gpt2().n_parameters
    (116534784, 124439808)
    >>> GPTConfig.mini(vocab_size=8192, norm_first=True).d_model
    256
    """

    vocab_size: int = 40_478  # V
    d_model: int = 768  # D, "n_embd" in published configs
    n_layers: int = 12  # L
    n_heads: int = 12  # H
    d_ff: int = 3072  # F: 4 D in all published sizes
    max_positions: int = 512  # rows of the table of positions, the longest text
    norm_first: bool = False  # post-LN as GPT-1; True: pre-LN and a last norm, as GPT-2
    dropout: float = 0.1  # probability in [0, 1) of dropping a number behind embeddings and sublayers
    attention_dropout: float = 0.1  # the same for attention weights
    activation: Activation = "gelu_tanh"
    eps: float = 1e-5  # added to the variance in the norms
    pad_id: int = 0  # fills rows up; no position of a text ever looks there
    end_id: int | None = None  # what ends a text; GPT-1 has nothing of the kind

    def __post_init__(self) -> None:
        for name in ("vocab_size", "d_model", "n_layers", "n_heads", "d_ff", "max_positions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: choose at least 1")
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model={self.d_model} does not split into {self.n_heads} heads: choose a divisor"
            )
        for name in ("dropout", "attention_dropout"):
            if not 0 <= (p := getattr(self, name)) < 1:
                raise ValueError(f"{name}={p} is not a probability in [0, 1): choose one, 0 switches it off")
        if self.eps <= 0:
            raise ValueError(f"eps={self.eps}: choose a small number above 0, as 1e-5")
        for name in ("pad_id", "end_id"):
            if (i := getattr(self, name)) is not None and not 0 <= i < self.vocab_size:
                raise ValueError(f"{name}={i} is none of {self.vocab_size} ids: choose one in the vocabulary")
        check_activation(self.activation)

    @classmethod
    def tiny(cls, **changes: Any) -> GPTConfig:
        """2 layers of 128."""
        return cls._of(2, 128, changes)

    @classmethod
    def mini(cls, **changes: Any) -> GPTConfig:
        """4 layers of 256."""
        return cls._of(4, 256, changes)

    @classmethod
    def small(cls, **changes: Any) -> GPTConfig:
        """4 layers of 512."""
        return cls._of(4, 512, changes)

    @classmethod
    def medium(cls, **changes: Any) -> GPTConfig:
        """8 layers of 512."""
        return cls._of(8, 512, changes)

    @classmethod
    def gpt1(cls, **changes: Any) -> GPTConfig:
        """GPT-1, 12 layers of 768: 117M parameters."""
        return cls._of(12, 768, changes)

    @classmethod
    def gpt2(cls, **changes: Any) -> GPTConfig:
        """GPT-2's smallest size, 12 layers of 768: 124M parameters.

        References
        ----------
        Radford et al. 2019, sec. 2.3 and table 2, where it has 117M: the size of GPT-1.
        """
        end = 50_256  # <|endoftext|>; there is no padding of its own
        own = {"vocab_size": 50_257, "max_positions": 1024, "norm_first": True, "pad_id": end, "end_id": end}
        return cls._of(12, 768, {**own, **changes})

    @classmethod
    def _of(cls, n_layers: int, d_model: int, changes: dict[str, Any]) -> GPTConfig:
        """All published sizes have heads of 64, and a feed-forward network four times as wide."""
        sizes = {"n_layers": n_layers, "d_model": d_model, "n_heads": d_model // 64, "d_ff": 4 * d_model}
        return cls(**{**sizes, **changes})

    @property
    def layer(self) -> LayerOptions:
        """What `Encoder` needs besides the sizes."""
        return {
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation": self.activation,
            "norm_first": self.norm_first,
            "eps": self.eps,
        }

    @property
    def parts(self) -> dict[str, int]:
        """Number of parameters of each part; the output is the token table and adds none."""
        D, F, L = self.d_model, self.d_ff, self.n_layers
        norm = 2 * D
        return {
            "token embeddings": self.vocab_size * D,
            "position embeddings": self.max_positions * D,
            "attention": L * 4 * (D * D + D),
            "feed-forward": L * ((D * F + F) + (F * D + D)),
            "norms of the layers": L * 2 * norm,
            "last norm": norm if self.norm_first else 0,
        }

    @property
    def n_parameters(self) -> int:
        """Number of parameters, each counted once."""
        return sum(self.parts.values())

"""Sizes and choices of a BERT, and how many parameters each of its parts has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bertlab.nn.encoder import LayerOptions
from bertlab.nn.feed_forward import Activation, check_activation


@dataclass(frozen=True, kw_only=True)
class BertConfig:
    """Sizes and choices of a BERT; the defaults are those of base, with the English uncased vocabulary.

    Raises
    ------
    ValueError
        If a value does not make a model; the sentence names it and the fix.

    References
    ----------
    Devlin et al. 2019, sec. 3, "Model Architecture", and appendix A.2. The small sizes: Turc et al. 2019.

    Examples
    --------
    >>> config = BertConfig.base()
    >>> config.n_parameters, sum(config.parts.values())  # of the encoder with pooler, and with both heads
    (109482240, 110106428)
    >>> BertConfig.mini(vocab_size=8192).d_model
    256
    """

    vocab_size: int = 30_522  # V
    d_model: int = 768  # D, "hidden_size" in published configs
    n_layers: int = 12  # L
    n_heads: int = 12  # H
    d_ff: int = 3072  # F, "intermediate_size": 4 D in all published sizes
    max_positions: int = 512  # rows of the table of positions, the longest input
    n_segments: int = 2
    dropout: float = 0.1  # probability in [0, 1) of dropping a number behind embeddings and sublayers
    attention_dropout: float = 0.1  # the same for attention weights
    activation: Activation = "gelu"
    eps: float = 1e-12  # added to the variance in the norms
    pad_id: int = 0

    def __post_init__(self) -> None:
        for name in ("vocab_size", "d_model", "n_layers", "n_heads", "d_ff", "max_positions", "n_segments"):
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
            raise ValueError(f"eps={self.eps}: choose a small number above 0, as 1e-12")
        if not 0 <= self.pad_id < self.vocab_size:
            raise ValueError(f"pad_id={self.pad_id} is none of {self.vocab_size} ids: choose that of [PAD]")
        check_activation(self.activation)

    @classmethod
    def tiny(cls, **changes: Any) -> BertConfig:
        """2 layers of 128: 4.4M parameters."""
        return cls._of(2, 128, changes)

    @classmethod
    def mini(cls, **changes: Any) -> BertConfig:
        """4 layers of 256: 11.2M parameters."""
        return cls._of(4, 256, changes)

    @classmethod
    def small(cls, **changes: Any) -> BertConfig:
        """4 layers of 512: 28.8M parameters."""
        return cls._of(4, 512, changes)

    @classmethod
    def medium(cls, **changes: Any) -> BertConfig:
        """8 layers of 512: 41.4M parameters."""
        return cls._of(8, 512, changes)

    @classmethod
    def base(cls, **changes: Any) -> BertConfig:
        """12 layers of 768: "110M" parameters."""
        return cls._of(12, 768, changes)

    @classmethod
    def large(cls, **changes: Any) -> BertConfig:
        """24 layers of 1024: "340M" parameters."""
        return cls._of(24, 1024, changes)

    @classmethod
    def _of(cls, n_layers: int, d_model: int, changes: dict[str, Any]) -> BertConfig:
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
            "norm_first": False,
            "eps": self.eps,
        }

    @property
    def parts(self) -> dict[str, int]:
        """Number of parameters of each part, heads of pre-training last; the decoder is the token table."""
        D, F, L = self.d_model, self.d_ff, self.n_layers
        norm = 2 * D
        return {
            "token embeddings": self.vocab_size * D,
            "position embeddings": self.max_positions * D,
            "segment embeddings": self.n_segments * D,
            "norm of the embeddings": norm,
            "attention": L * 4 * (D * D + D),
            "feed-forward": L * ((D * F + F) + (F * D + D)),
            "norms of the layers": L * 2 * norm,
            "pooler": D * D + D,
            "masked-LM head": (D * D + D) + norm + self.vocab_size,
            "next-sentence head": 2 * D + 2,
        }

    @property
    def n_parameters(self) -> int:
        """Number of parameters of the encoder with its pooler, as a `BertModel` has them.

        The paper says 110M for base and 340M for large. With 30,522 pieces they are 109.5M and 335.1M; with
        both heads of pre-training 110.1M and 336.2M.
        """
        heads = ("masked-LM head", "next-sentence head")
        return sum(number for part, number in self.parts.items() if part not in heads)

"""Sizes and choices of a Transformer, and how many parameters they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bertlab.nn.encoder import LayerOptions
from bertlab.nn.feed_forward import Activation, check_activation

Positions = Literal["sinusoidal", "learned", "none"]
Shared = Literal["all", "target", "none"]


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Sizes and choices of a `Transformer` model; the defaults are the paper's base model.

    Raises
    ------
    ValueError
        If a value does not make a model; the sentence names it and the fix.

    References
    ----------
    Vaswani et al. 2017, sec. 3 and table 3.

    Examples
    --------
    >>> TransformerConfig.base().n_parameters
    63082496
    >>> TransformerConfig.base(norm_first=True, n_layers=3).layer
    {'dropout': 0.1, 'attention_dropout': 0.0, 'activation': 'relu', 'norm_first': True}
    """

    source_vocab: int  # number of source tokens V
    target_vocab: int  # number of target tokens V
    d_model: int = 512  # D
    n_heads: int = 8  # H
    d_ff: int = 2048  # F
    n_layers: int = 6  # L, of the encoder and once more of the decoder
    dropout: float = 0.1  # probability in [0, 1) of dropping a number behind embeddings and sublayers
    attention_dropout: float = 0.0  # the same for attention weights; the paper drops none
    activation: Activation = "relu"
    norm_first: bool = False  # pre-LN, each stack with one more norm at its end; the paper: post-LN
    positions: Positions = "sinusoidal"
    share_embeddings: Shared = "all"  # one matrix for source, target and output; "target": for the last two
    max_length: int = 512  # longest sentence, in tokens
    pad_id: int = 0
    end_id: int = 1  # ends a sentence, and starts the decoder: a convention, any reserved id would do

    def __post_init__(self) -> None:
        if self.n_heads < 1 or self.d_model % self.n_heads:
            raise ValueError(
                f"d_model={self.d_model} does not split into {self.n_heads} heads: choose a divisor"
            )
        for name in ("source_vocab", "target_vocab", "d_model", "d_ff", "n_layers", "max_length"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: choose at least 1")
        for name in ("dropout", "attention_dropout"):
            if not 0 <= (p := getattr(self, name)) < 1:
                raise ValueError(f"{name}={p} is not a probability in [0, 1): choose one, 0 switches it off")
        check_activation(self.activation)
        _check_choice("positions", self.positions, Positions.__args__)  # type: ignore[attr-defined]
        _check_choice("share_embeddings", self.share_embeddings, Shared.__args__)  # type: ignore[attr-defined]
        if self.share_embeddings == "all" and self.source_vocab != self.target_vocab:
            raise ValueError(
                f"share_embeddings='all' needs one vocabulary, not {self.source_vocab} source and "
                f"{self.target_vocab} target tokens: join them, or share 'target' or 'none'"
            )

    @classmethod
    def base(cls, vocab: int = 37_000, **changes: Any) -> TransformerConfig:
        """Build the base model, by default with the vocabulary of the English-German task (sec. 5.1)."""
        return cls(source_vocab=vocab, target_vocab=vocab, **changes)

    @classmethod
    def big(cls, vocab: int = 37_000, **changes: Any) -> TransformerConfig:
        """Build the big model, by default for English-German: with a dropout of 0.3 (table 3)."""
        sizes = {"d_model": 1024, "n_heads": 16, "d_ff": 4096, "dropout": 0.3}
        return cls(source_vocab=vocab, target_vocab=vocab, **{**sizes, **changes})

    @property
    def layer(self) -> LayerOptions:
        """What `Encoder` and `Decoder` need besides the sizes."""
        return {
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation": self.activation,
            "norm_first": self.norm_first,
        }

    @property
    def n_parameters(self) -> int:
        """Number of parameters, a shared matrix counted once.

        The paper says 65M for base and 213M for big (table 3). With its 37,000 tokens ours have 63.1M and
        214.2M, 3 % fewer and 0.6 % more. A single vocabulary cannot give both: 65M needs about 40,700
        tokens, 213M about 35,800.
        """
        D, F, L = self.d_model, self.d_ff, self.n_layers
        norm = 2 * D
        attention = 4 * (D * D + D)
        feed_forward = (D * F + F) + (F * D + D)
        encoder_layer = attention + feed_forward + 2 * norm
        decoder_layer = 2 * attention + feed_forward + 3 * norm
        last_norms = 2 * norm if self.norm_first else 0
        tables = 2 * self.max_length * D if self.positions == "learned" else 0
        return L * (encoder_layer + decoder_layer) + last_norms + tables + self.n_embedded * D

    @property
    def n_embedded(self) -> int:
        """Number of rows in all different matrices of embeddings and output."""
        source, target = self.source_vocab, self.target_vocab
        return {"all": target, "target": source + target, "none": source + 2 * target}[self.share_embeddings]


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r}: choose one of {', '.join(choices)}")

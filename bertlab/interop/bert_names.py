"""Names of BERT's parameters: ours, and those of Hugging Face's format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

TRUNK = {
    "embeddings.token": "embeddings.word_embeddings",
    "embeddings.position": "embeddings.position_embeddings",
    "embeddings.segment": "embeddings.token_type_embeddings",
    "embeddings.norm": "embeddings.LayerNorm",
    "pooler": "pooler.dense",
}
LAYER = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.output": "attention.output.dense",
    "attention_residual.norm": "attention.output.LayerNorm",
    "feed_forward.inner": "intermediate.dense",
    "feed_forward.outer": "output.dense",
    "feed_forward_residual.norm": "output.LayerNorm",
}
HEADS = {
    "masked_lm.dense": "cls.predictions.transform.dense",
    "masked_lm.norm": "cls.predictions.transform.LayerNorm",
    "masked_lm": "cls.predictions",  # its bias
    "next_sentence": "cls.seq_relationship",
}
DECODER, DECODER_BIAS = "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"
TABLE, BIAS = "embeddings.word_embeddings.weight", "cls.predictions.bias"
BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")  # numbers 0, 1, 2 … and zeros: no weights


def theirs(name: str) -> str:
    """Translate one of our names, with or without "bert." before it; what comes out has none.

    Examples
    --------
    >>> theirs("bert.encoder.layers.3.attention.query.weight")
    'encoder.layer.3.attention.self.query.weight'
    >>> theirs("masked_lm.bias")
    'cls.predictions.bias'
    """
    module, _, kind = name.removeprefix("bert.").rpartition(".")
    in_layer = re.fullmatch(r"encoder\.layers\.(\d+)\.(.+)", module)
    if in_layer:
        return f"encoder.layer.{in_layer[1]}.{LAYER[in_layer[2]]}.{kind}"
    return f"{(TRUNK | HEADS)[module]}.{kind}"


@dataclass(frozen=True)
class Parts:
    """Which parts a checkpoint has besides embeddings and encoder."""

    pooler: bool
    masked_lm: bool
    next_sentence: bool

    def __str__(self) -> str:
        """Name what is there and what is not."""
        has = {
            "pooler": self.pooler,
            "masked-LM head": self.masked_lm,
            "next-sentence head": self.next_sentence,
        }
        there = ["embeddings", "encoder", *(part for part, is_there in has.items() if is_there)]
        lacking = [part for part, is_there in has.items() if not is_there]
        return ", ".join(there) + (f"; no {', no '.join(lacking)}" if lacking else "")


def parts_of(names: Iterable[str]) -> Parts:
    """Tell which parts there are, by names as `normalised` gives them."""
    names = list(names)
    return Parts(
        any(name.startswith("pooler.") for name in names),
        any(name.startswith("cls.predictions.") for name in names),
        any(name.startswith("cls.seq_relationship.") for name in names),
    )


def normalised(tensors: Mapping[str, Tensor], ignore: tuple[str, ...] = ()) -> dict[str, Tensor]:
    """Bring the names of any age and kind of checkpoint to one form, and give each weight once.

    Parameters
    ----------
    tensors : by names with or without "bert." before them, the norms' weights called weight and bias, or
        gamma and beta as the original release did.
    ignore : what begins with one of these is left out.

    Returns
    -------
    The same without "bert.", without the decoder, which is the table of token embeddings, and without the
    numbers of positions, which are no weights.

    Raises
    ------
    ValueError
        If two tensors have one name in that form, or the decoder is another matrix than the token embeddings.
    """
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if ignore and name.startswith(ignore):
            continue
        plain = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name.removeprefix("bert."))
        plain = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", plain)
        if plain in found:
            raise ValueError(f"{plain} is there twice, as {name} and under another name: keep one of them")
        if plain not in BUFFERS:
            found[plain] = tensor
    _tie(found, DECODER, TABLE)
    _tie(found, DECODER_BIAS, BIAS)
    return found


def _tie(found: dict[str, Tensor], copy: str, original: str) -> None:
    """Take away what is there under two names, after making sure that it is the same."""
    if copy not in found:
        return
    double = found.pop(copy)
    if not torch.equal(double, found.setdefault(original, double)):
        raise ValueError(
            f"{copy} differs from {original}: one parameter in BERT; a model with two is another"
        )


def check_fit(
    tensors: Mapping[str, Tensor], wanted: Mapping[str, torch.Size], where: object, say_ignore: bool = True
) -> None:
    """Refuse tensors that are missing, left over or of another shape, by their names.

    Raises
    ------
    ValueError
        With all missing and left over names in one sentence, or else with all wrong shapes.
    """
    missing, left_over = sorted(wanted.keys() - tensors.keys()), sorted(tensors.keys() - wanted.keys())
    if missing or left_over:
        said = [f"lacks {', '.join(missing)}"] if missing else []
        said += [f"has {', '.join(left_over)} left over"] if left_over else []
        fix = ": name in `ignore` what you do not want" if left_over and say_ignore else ""
        raise ValueError(f"{where} {' and '.join(said)}{fix}")
    wrong = [
        f"{name} is {tuple(tensors[name].shape)} instead of {tuple(shape)}"
        for name, shape in wanted.items()
        if tensors[name].shape != shape
    ]
    if wrong:
        raise ValueError(f"{where} does not belong to its config.json: {', '.join(wrong)}")

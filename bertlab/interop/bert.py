"""BERT in Hugging Face's format: any published checkpoint in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

import torch
from torch import Tensor, nn

from bertlab.interop.bert_names import Parts, check_fit, normalised, parts_of, theirs
from bertlab.interop.bert_settings import CONFIG, read_settings
from bertlab.interop.bert_tokenizer import check_vocabulary, read_tokenizer
from bertlab.interop.checkpoint_folders import find_checkpoint
from bertlab.interop.weight_files import read_tensors
from bertlab.nn import BertConfig, BertForPreTraining, BertModel
from bertlab.text import WordPiece

Part = Literal["pooler", "masked_lm", "next_sentence"]


@dataclass(frozen=True)
class BertCheckpoint:
    """What a checkpoint of BERT holds."""

    folder: Path
    config: BertConfig
    parts: Parts
    tensors: dict[str, Tensor]  # by their names without "bert.", each once

    def __str__(self) -> str:
        """Tell sizes and parts in a line."""
        sizes = f"{self.config.n_layers} layers of {self.config.d_model}, {self.config.n_heads} heads"
        return f"{self.folder.name}: {sizes}; {self.parts}"


def read_bert(
    folder_or_name: str | Path, ignore: Collection[str] = (), revision: str | None = None
) -> BertCheckpoint:
    """Look into a checkpoint without building its model.

    Parameters
    ----------
    folder_or_name, ignore, revision : as in `load_bert`.

    Raises
    ------
    FileNotFoundError, ValueError, DataUnavailable
        As `load_bert`, for what does not depend on the class that is wanted.

    Examples
    --------
    Ask what is there before loading::

        print(read_bert("all-MiniLM-L6-v2"))
        # all-MiniLM-L6-v2: 6 layers of 384, 12 heads; embeddings, encoder, pooler; no masked-LM head, …
    """
    folder = find_checkpoint(folder_or_name, revision)
    tensors = read_tensors(folder)  # before the config: the sentence on TensorFlow is the more useful one
    if not (folder / CONFIG).is_file():
        raise FileNotFoundError(f"{folder} has no {CONFIG}: sizes and choices of a BERT stand there")
    config = read_settings(folder / CONFIG)
    try:
        tensors = normalised(tensors, tuple(ignore))
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from error
    return BertCheckpoint(folder, config, parts_of(tensors), tensors)


@overload
def load_bert(
    folder_or_name: str | Path,
    kind: type[BertModel],
    *,
    needs: Collection[Part] = ...,
    ignore: Collection[str] = ...,
    lowercase: bool | None = ...,
    recognise_special: bool = ...,
    revision: str | None = ...,
) -> tuple[BertModel, WordPiece]: ...
@overload
def load_bert(
    folder_or_name: str | Path,
    kind: type[BertForPreTraining],
    *,
    needs: Collection[Part] = ...,
    ignore: Collection[str] = ...,
    lowercase: bool | None = ...,
    recognise_special: bool = ...,
    revision: str | None = ...,
) -> tuple[BertForPreTraining, WordPiece]: ...
@overload
def load_bert(
    folder_or_name: str | Path,
    kind: None = ...,
    *,
    needs: Collection[Part] = ...,
    ignore: Collection[str] = ...,
    lowercase: bool | None = ...,
    recognise_special: bool = ...,
    revision: str | None = ...,
) -> tuple[BertModel | BertForPreTraining, WordPiece]: ...
def load_bert(
    folder_or_name: str | Path,
    kind: type[BertModel] | type[BertForPreTraining] | None = None,
    *,
    needs: Collection[Part] = (),
    ignore: Collection[str] = (),
    lowercase: bool | None = None,
    recognise_special: bool = False,
    revision: str | None = None,
) -> tuple[BertModel | BertForPreTraining, WordPiece]:
    """Read a BERT and its tokenizer in Hugging Face's format. No weight is ever made up.

    What comes back has exactly the parts that the checkpoint has: a `BertForPreTraining` if it has the
    masked-LM head (its `next_sentence` is None if it lacks that head), else a `BertModel` (its `pooler` is
    None if it lacks the pooler). `read_bert` tells beforehand.

    Parameters
    ----------
    folder_or_name : a folder; the name of one in ``data/checkpoints``; a published model of
        `bertlab.datasets.names("pretrained")`; or an id of the Hugging Face hub, "owner/name".
    kind : the class to get. `BertModel` leaves both heads out where there are some; `BertForPreTraining` is
        refused without a masked-LM head.
    needs : parts that must be there: "pooler", "masked_lm", "next_sentence".
    ignore : beginnings of the names of tensors to leave out, such as the "classifier" of a fine-tuned model.
    lowercase : whether the model is uncased, for old checkpoints whose files do not say it.
    recognise_special : whether "[MASK]" typed in a text is the token; see `WordPiece`.
    revision : branch, tag or commit on the hub.

    Returns
    -------
    model, tokenizer : the model in evaluation mode, on the CPU, in float32 whatever it was written in.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or name, or a file is missing.
    DataUnavailable
        If it is not on this machine and cannot be fetched.
    ValueError
        If tensors are missing, left over or of another shape; the model is no BERT or has an option that we
        do not compute; the weights are of TensorFlow or a pickle of other things; a part that is needed is
        not there; or the tokenizer does not go with the model. The sentence names what.

    Examples
    --------
    Fill in a blank::

        model, tokenizer = load_bert("google-bert/bert-base-uncased", recognise_special=True)
        ids = [tokenizer.cls_id, *tokenizer.encode("Paris is the [MASK] of France.").ids, tokenizer.sep_id]
        logits = model(torch.tensor([ids])).logits[0, ids.index(tokenizer.mask_id)]
        tokenizer.decode(logits.topk(5).indices.tolist())
    """
    found = read_bert(folder_or_name, ignore, revision)
    dropped = "cls." if kind is BertModel else ()  # asked for: else what is left over is refused
    kind = kind or (BertForPreTraining if found.parts.masked_lm else BertModel)
    _check_parts(found, kind, needs)
    tokenizer = read_tokenizer(found.folder, lowercase, recognise_special)
    check_vocabulary(tokenizer, found.config)
    with torch.device("meta"):  # nothing is drawn that the checkpoint replaces at once
        model = _build(kind, found.config, found.parts)
    own = {theirs(name): name for name, _ in model.named_parameters()}
    shapes = {theirs(name): parameter.shape for name, parameter in model.named_parameters()}
    tensors = {name: tensor for name, tensor in found.tensors.items() if not name.startswith(dropped)}
    check_fit(tensors, shapes, found.folder)
    for name, tensor in tensors.items():
        _set(model, own[name], tensor.to(torch.float32, copy=True))
    return model.eval(), tokenizer


def _check_parts(found: BertCheckpoint, kind: type[nn.Module], needs: Collection[str]) -> None:
    """Refuse a class or parts that a checkpoint does not have."""
    has = {part: getattr(found.parts, part) for part in ("pooler", "masked_lm", "next_sentence")}
    if unknown := sorted(set(needs) - has.keys()):
        raise ValueError(f"needs={unknown}: name parts among {', '.join(has)}")
    if lacking := [part for part in has if part in needs and not has[part]]:
        raise ValueError(f"{found} — but {', '.join(lacking)} is needed: take a checkpoint that has it")
    if kind is BertForPreTraining and not found.parts.masked_lm:
        raise ValueError(
            f"{found} — which makes no BertForPreTraining: ask for a BertModel, or train a head for it"
        )
    if kind is BertModel and set(needs) - {"pooler"}:
        raise ValueError("a BertModel has no heads: ask for a BertForPreTraining, or need the pooler alone")
    if found.parts.next_sentence and not found.parts.pooler:
        raise ValueError(
            f"{found} — but the next-sentence head reads the pooler: the checkpoint is not whole"
        )


def _build(
    kind: type[BertModel] | type[BertForPreTraining], config: BertConfig, parts: Parts
) -> BertModel | BertForPreTraining:
    """Make a model with exactly these parts."""
    if kind is BertModel:
        return BertModel(config, parts.pooler)
    model = BertForPreTraining(config, parts.next_sentence)
    if parts.pooler and not parts.next_sentence:  # nothing in it reads the pooler, but the checkpoint has one
        model.bert.pooler = nn.Linear(config.d_model, config.d_model)
    return model


def _set(model: nn.Module, name: str, value: Tensor) -> None:
    module, _, kind = name.rpartition(".")
    setattr(model.get_submodule(module), kind, nn.Parameter(value))

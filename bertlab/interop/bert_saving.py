"""BERT in Hugging Face's format: ours out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bertlab.interop import bert_tokenizer
from bertlab.interop.bert_names import theirs
from bertlab.interop.bert_settings import CONFIG, write_settings
from bertlab.interop.bert_tokenizer import check_vocabulary, write_tokenizer
from bertlab.interop.checkpoint_folders import write_folder
from bertlab.nn import BertConfig, BertForPreTraining, BertModel
from bertlab.text import WordPiece


def save_bert(
    model: BertModel | BertForPreTraining,
    tokenizer: WordPiece,
    folder: str | Path,
    *,
    dtype: torch.dtype = torch.float32,
    shard_bytes: int = 5_000_000_000,
    overwrite: bool = False,
) -> None:
    """Write a BERT as Hugging Face does, for `load_bert` and for `transformers` alike.

    `AutoModel.from_pretrained(folder)` gives the same numbers, as do `AutoModelForPreTraining` for a model
    with both heads and `AutoModelForMaskedLM` for one without the second. Where there is no pooler,
    `transformers` must be told so (`add_pooling_layer=False`), or it draws one at random.

    Parameters
    ----------
    model : each weight is written once; the decoder is the table of token embeddings.
    tokenizer : the one that the model was trained with.
    folder : made if it is not there.
    dtype : of the written weights. In float16 they take half the space, rounded to 11 bits.
    shard_bytes : what is larger is written in several files of that size at most.
    overwrite : replace the checkpoint that the folder holds.

    Raises
    ------
    FileExistsError
        If the folder holds a checkpoint, or a part of one, and `overwrite` is false.
    ValueError
        If tokenizer and model do not go together, or a weight does not fit into `dtype`.
    """
    prefix = "bert." if isinstance(model, BertForPreTraining) else ""
    names = {ours: theirs(ours) for ours, _ in model.named_parameters()}
    tensors = {
        name if name.startswith("cls.") else prefix + name: model.get_parameter(ours)
        for ours, name in names.items()
    }
    settings = {"architectures": [_architecture(model)]}
    write_checkpoint(
        tensors,
        model.config,
        settings,
        tokenizer,
        folder,
        dtype=dtype,
        shard_bytes=shard_bytes,
        overwrite=overwrite,
    )


def write_checkpoint(
    tensors: Mapping[str, Tensor],
    config: BertConfig,
    settings: Mapping[str, Any],
    tokenizer: WordPiece,
    folder: str | Path,
    *,
    dtype: torch.dtype = torch.float32,
    shard_bytes: int = 5_000_000_000,
    overwrite: bool = False,
) -> None:
    """Write a folder in Hugging Face's format: all of it, or nothing.

    Parameters
    ----------
    tensors : by their names in that format.
    config : of the encoder.
    settings : what `config.json` says besides: "architectures", the class of `transformers` that has these
        tensors, and what that class wants to know.
    tokenizer, folder, dtype, shard_bytes, overwrite : as in `save_bert`.

    Raises
    ------
    FileExistsError, ValueError
        As `save_bert`.
    """
    check_vocabulary(tokenizer, config)

    def write_small(new: Path) -> None:
        write_settings(new / CONFIG, config, settings)
        write_tokenizer(tokenizer, new, config.max_positions)

    small_files = (CONFIG, *bert_tokenizer.FILES)
    write_folder(
        Path(folder),
        tensors,
        write_small,
        small_files,
        dtype=dtype,
        shard_bytes=shard_bytes,
        overwrite=overwrite,
    )


def _architecture(model: BertModel | BertForPreTraining) -> str:
    if isinstance(model, BertModel):
        return "BertModel"
    return "BertForMaskedLM" if model.next_sentence is None else "BertForPreTraining"

"""Fine-tuned models in Hugging Face's format: ours out, and back with their labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bertlab.interop import load_bert, read_bert, write_checkpoint
from bertlab.interop.bert_names import check_fit, theirs
from bertlab.interop.bert_settings import CONFIG
from bertlab.interop.checkpoint_folders import find_checkpoint
from bertlab.nn.bert import BertModel
from bertlab.tasks.heads import BertForClassification, BertForSpans, BertForTokens, Head
from bertlab.text.wordpiece import WordPiece

ARCHITECTURES: dict[str, type[Head]] = {
    "BertForSequenceClassification": BertForClassification,
    "BertForTokenClassification": BertForTokens,
    "BertForQuestionAnswering": BertForSpans,
}
HEADS = {"classifier": "classifier", "spans": "qa_outputs"}  # of ours, their name


def save_tuned(
    model: Head,
    tokenizer: WordPiece,
    folder: str | Path,
    labels: tuple[str, ...] = (),
    overwrite: bool = False,
) -> None:
    """Write a fine-tuned model, for `load_tuned` and for the class of `transformers` that has the same head.

    Parameters
    ----------
    model : from `bertlab.tasks.heads`.
    tokenizer : the one that it was trained with.
    folder : made if it is not there.
    labels : what its outputs mean, in their order; none for spans.
    overwrite : replace the checkpoint that the folder holds.

    Raises
    ------
    ValueError
        If there is not one label for each output.
    FileExistsError
        As `bertlab.interop.save_bert`.
    """
    (architecture,) = (name for name, kind in ARCHITECTURES.items() if kind is type(model))
    n_outputs = 0 if isinstance(model, BertForSpans) else model.classifier.out_features
    if len(labels) != n_outputs:
        raise ValueError(f"{len(labels)} labels for {n_outputs} outputs: give one for each")
    settings: dict[str, Any] = {"architectures": [architecture]}
    if labels:
        settings["id2label"] = {str(i): label for i, label in enumerate(labels)}
        settings["label2id"] = {label: i for i, label in enumerate(labels)}
    tensors = {
        _their_name(name): parameter
        for name, parameter in model.named_parameters()
        if isinstance(model, BertForClassification) or not name.startswith("bert.pooler.")  # read by nobody
    }
    write_checkpoint(tensors, model.bert.config, settings, tokenizer, folder, overwrite=overwrite)


def load_tuned(folder_or_name: str | Path) -> tuple[Head, WordPiece, tuple[str, ...]]:
    """Read a fine-tuned model, its tokenizer and its labels; `transformers`' own are read, too.

    Parameters
    ----------
    folder_or_name : as in `bertlab.interop.load_bert`.

    Returns
    -------
    model, tokenizer, labels : the model in evaluation mode; no labels for spans.

    Raises
    ------
    ValueError
        If it is no fine-tuned BERT of one of the three kinds. And as `bertlab.interop.load_bert`.
    """
    folder = find_checkpoint(folder_or_name)
    settings = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    named = settings.get("architectures") or ["none"]
    if named[0] not in ARCHITECTURES:
        raise ValueError(
            f"{folder} is a {named[0]}, which is not fine-tuned: choose a model that `finetune` has saved, "
            f"or one of {', '.join(ARCHITECTURES)}"
        )
    kind = ARCHITECTURES[named[0]]
    theirs_of = HEADS["spans" if kind is BertForSpans else "classifier"]
    tensors = {
        name.removeprefix(f"{theirs_of}."): tensor
        for name, tensor in read_bert(folder).tensors.items()
        if name.startswith(f"{theirs_of}.")
    }
    bert, tokenizer = load_bert(folder, BertModel, ignore=(theirs_of,))
    n = len(tensors["bias"]) if "bias" in tensors else 0
    model, layer = _with_head(kind, bert, n)
    check_fit(tensors, {name: p.shape for name, p in layer.named_parameters()}, f"{folder}, {theirs_of}")
    layer.load_state_dict({name: tensor.to(torch.float32) for name, tensor in tensors.items()})
    return model.eval(), tokenizer, () if kind is BertForSpans else _labels(settings, n)


def _with_head(kind: type[Head], bert: BertModel, n_outputs: int) -> tuple[Head, nn.Linear]:
    """Put a head on an encoder; give back both."""
    if kind is BertForSpans:
        spans = BertForSpans(bert)
        return spans, spans.spans
    model = (
        BertForClassification(bert, n_outputs)
        if kind is BertForClassification
        else BertForTokens(bert, n_outputs)
    )
    return model, model.classifier


def _labels(settings: dict[str, Any], n: int) -> tuple[str, ...]:
    """Read what the outputs mean; where the file does not say it, LABEL_0, LABEL_1 and so on."""
    named = settings.get("id2label", {})
    return tuple(str(named.get(str(i), f"LABEL_{i}")) for i in range(n))


def _their_name(name: str) -> str:
    module, _, rest = name.partition(".")
    return f"{HEADS[module]}.{rest}" if module in HEADS else "bert." + theirs(name)

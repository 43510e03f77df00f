"""GPT-1 and GPT-2 in Hugging Face's formats: any published checkpoint in, ours out."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import torch
from torch import nn

from bertlab.interop import gpt_tokenizer
from bertlab.interop.bert_names import check_fit
from bertlab.interop.checkpoint_folders import find_checkpoint, write_folder
from bertlab.interop.gpt_names import normalised, their_shapes, to_ours, to_theirs
from bertlab.interop.gpt_settings import CONFIG, read_settings, write_settings
from bertlab.interop.gpt_tokenizer import check_vocabulary, read_tokenizer, write_tokenizer
from bertlab.interop.weight_files import read_tensors
from bertlab.nn import GPT
from bertlab.text import BytePair, WordPiece


def load_gpt(
    folder_or_name: str | Path,
    *,
    ignore: Collection[str] = (),
    lowercase: bool | None = None,
    recognise_special: bool = False,
    revision: str | None = None,
) -> tuple[GPT, BytePair | WordPiece]:
    """Read a GPT and its tokenizer in Hugging Face's format, openai-gpt or gpt2. No weight is ever made up.

    Parameters
    ----------
    folder_or_name : a folder; the name of one in ``data/checkpoints``; or an id of the Hugging Face hub,
        "owner/name".
    ignore : beginnings of the names of tensors to leave out, such as the "score" of a fine-tuned model.
    lowercase : whether a WordPiece tokenizer is uncased, where no file says it.
    recognise_special : whether a special token typed in a text is that token.
    revision : branch, tag or commit on the hub.

    Returns
    -------
    model, tokenizer : the model in evaluation mode, on the CPU, in float32 whatever it was written in. The
        tokenizer is a `BytePair`, or a `WordPiece` where the model was trained with one.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or name, or a file is missing.
    DataUnavailable
        If it is not on this machine and cannot be fetched.
    ValueError
        If tensors are missing, left over or of another shape; the model is no GPT or has an option that we do
        not compute; the weights are of TensorFlow or a pickle of other things; or the tokenizer does not go
        with the model. The sentence names what.

    Examples
    --------
    Go on with a text::

        model, tokenizer = load_gpt("openai-community/gpt2")
        prompt = torch.tensor([tokenizer.encode("The capital of France is").ids])
        tokenizer.decode(generate(model, prompt, max_length=10, temperature=0)[0].tolist())
    """
    folder = find_checkpoint(folder_or_name, revision)
    tensors = read_tensors(folder)
    if not (folder / CONFIG).is_file():
        raise FileNotFoundError(f"{folder} has no {CONFIG}: sizes and choices of a GPT stand there")
    config = read_settings(folder / CONFIG)
    tokenizer = read_tokenizer(folder, config, lowercase, recognise_special)
    check_vocabulary(tokenizer, config)
    try:
        tensors = normalised(tensors, config, tuple(ignore))
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from error
    check_fit(tensors, their_shapes(config), folder)
    with torch.device("meta"):  # nothing is drawn that the checkpoint replaces at once
        model = GPT(config)
    for name, tensor in to_ours(tensors, config).items():
        module, _, kind = name.rpartition(".")
        value = nn.Parameter(tensor.to(torch.float32, copy=True).contiguous())
        setattr(model.get_submodule(module), kind, value)
    return model.eval(), tokenizer


def save_gpt(
    model: GPT,
    tokenizer: BytePair | WordPiece,
    folder: str | Path,
    *,
    dtype: torch.dtype = torch.float32,
    shard_bytes: int = 5_000_000_000,
    overwrite: bool = False,
) -> None:
    """Write a GPT as Hugging Face does, for `load_gpt` and for `transformers` alike.

    `AutoModelForCausalLM.from_pretrained(folder)` gives the same numbers. Post-LN is written as openai-gpt,
    pre-LN as gpt2.

    Parameters
    ----------
    model : each weight is written once; the output is the table of token embeddings.
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
        If tokenizer and model do not go together, a weight does not fit into `dtype`, or neither format can
        say what the config does.
    """
    config = model.config
    check_vocabulary(tokenizer, config)
    tensors = {f"transformer.{name}": t for name, t in to_theirs(model.state_dict(), config).items()}

    def write_small(new: Path) -> None:
        write_settings(new / CONFIG, config)
        write_tokenizer(tokenizer, new, config)

    write_folder(
        Path(folder),
        tensors,
        write_small,
        (CONFIG, *gpt_tokenizer.FILES),
        dtype=dtype,
        shard_bytes=shard_bytes,
        overwrite=overwrite,
    )

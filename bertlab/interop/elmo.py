"""An ELMo as a folder of files: there is no format of others for it, so this one is ours.

`config.json` and `model.safetensors`, with the tokenizer beside them in the files that BERT's has. It knows
what the softmax chooses among: pieces, which the model reads, too; or whole words, where it reads characters.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from bertlab.interop.bert_tokenizer import read_tokenizer, write_tokenizer
from bertlab.interop.checkpoint_folders import find_checkpoint
from bertlab.interop.weight_files import WHOLE, read_tensors, write_tensors
from bertlab.nn import ELMoConfig, ELMoForPreTraining
from bertlab.text import WordPiece

CONFIG, KIND = "config.json", "bertlab-elmo"
ALL = 1_000_000_000  # "model_max_length" of the tokenizer: an LSTM reads texts of any length


def save_elmo(
    model: ELMoForPreTraining,
    tokenizer: WordPiece,
    folder: str | Path,
    dtype: torch.dtype = torch.float32,
    overwrite: bool = False,
) -> None:
    """Write an ELMo and its tokenizer.

    Parameters
    ----------
    model, tokenizer : that go together. Of a model of characters, the tokenizer has the words of its softmax.
    folder : made if it is not there.
    dtype : of the written weights. In float16 they take half the space, rounded to 11 bits.
    overwrite : replace the model that the folder holds.

    Raises
    ------
    FileExistsError
        If the folder holds a model and `overwrite` is false.
    ValueError
        If the tokenizer has another number of pieces than the softmax.
    """
    folder = Path(folder)
    if len(tokenizer) != model.config.vocab_size:
        raise ValueError(
            f"the softmax knows {model.config.vocab_size} pieces, the tokenizer has {len(tokenizer)}: give "
            "the tokenizer that the model was trained with"
        )
    if not overwrite and (there := [name for name in (CONFIG, WHOLE) if (folder / name).exists()]):
        raise FileExistsError(
            f"{folder / there[0]} is there already: choose another folder, or overwrite=True"
        )
    folder.mkdir(parents=True, exist_ok=True)
    told = {"model_type": KIND, **asdict(model.config)}
    (folder / CONFIG).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    write_tokenizer(tokenizer, folder, ALL)
    tensors = {name: p.detach().to("cpu", dtype) for name, p in model.named_parameters()}
    write_tensors(tensors, folder, shard_bytes=ALL)


def load_elmo(
    folder_or_name: str | Path, recognise_special: bool = False
) -> tuple[ELMoForPreTraining, WordPiece]:
    """Read what `save_elmo` wrote. No weight is ever made up.

    Parameters
    ----------
    folder_or_name : a folder, or the name of one in ``data/checkpoints``.
    recognise_special : whether "[MASK]" typed in a text is the token; see `WordPiece`.

    Returns
    -------
    model, tokenizer : the model in evaluation mode, on the CPU, in float32 whatever it was written in. One of
        characters reads any word by `tasks.spelled_words`; its tokenizer knows those that it can predict.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or name, or a file is missing.
    ValueError
        If the folder holds another kind of model, or its weights do not fit its sizes.
    """
    folder = find_checkpoint(folder_or_name)
    if not (folder / CONFIG).is_file():
        raise FileNotFoundError(f"{folder} has no {CONFIG}: the sizes of an ELMo stand there")
    told: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if told.pop("model_type", None) != KIND:
        raise ValueError(f"{folder} holds no ELMo that save_elmo wrote: load it by the function of its kind")
    told["filters"] = tuple(map(tuple, told["filters"]))
    model = ELMoForPreTraining(ELMoConfig(**told))
    try:
        model.load_state_dict(read_tensors(folder))
    except RuntimeError as error:
        raise ValueError(f"{folder}: the weights do not fit the sizes in {CONFIG}: {error}") from error
    return model.float().eval(), read_tokenizer(folder, recognise_special=recognise_special)

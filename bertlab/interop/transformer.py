"""A trained translator in a folder: config.json, tokenizer.json, model.safetensors."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

from bertlab.nn import Transformer, TransformerConfig

CHECKPOINTS = Path(__file__).resolve().parents[2] / "data" / "checkpoints"  # what the repository carries
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"


def save_transformer(
    model: Transformer, tokenizer: Tokenizer, folder: Path, dtype: torch.dtype = torch.float16
) -> None:
    """Write a translator whose two languages share one list of pieces.

    Parameters
    ----------
    model : its weights are written once each: what is shared between embeddings and output is one matrix.
    tokenizer : cuts both languages into pieces, as many as the model has embeddings.
    folder : made if it is not there; its three files are written anew.
    dtype : of the written weights. In float16 they take half the space, rounded to 11 bits.

    Raises
    ------
    ValueError
        If tokenizer and model do not go together, or a weight does not fit into `dtype`.
    """
    _check_vocabulary(tokenizer, model.config)
    weights = {name: p.detach().to("cpu", dtype).contiguous() for name, p in model.named_parameters()}
    for name, weight in weights.items():
        if not torch.isfinite(weight).all():
            raise ValueError(f"{name} has numbers that {dtype} cannot hold: choose dtype=torch.float32")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(asdict(model.config), indent=1) + "\n", encoding="utf-8")
    tokenizer.save(str(folder / TOKENIZER))
    save_file(weights, folder / WEIGHTS)


def load_transformer(name_or_folder: str | Path) -> tuple[Transformer, Tokenizer]:
    """Read a translator that `save_transformer` wrote.

    Parameters
    ----------
    name_or_folder : a folder, or the name of one that the repository carries in ``data/checkpoints``:
        "tatoeba_en_zh" translates short English sentences into Chinese.

    Returns
    -------
    model, tokenizer : the model in evaluation mode, its weights in float32 whatever they were written in.

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or one of its three files is missing.
    ValueError
        If the files do not make a model, or not one model; the sentence says which does not.

    Examples
    --------
    Translate one sentence, greedily::

        model, tokenizer = load_transformer("tatoeba_en_zh")
        source = torch.tensor([[*tokenizer.encode("Where is my plate?").ids, model.config.end_id]])
        ids, _ = greedy_decode(model, source, max_length=60)
        tokenizer.decode(ids[0].tolist())
    """
    folder = _find(name_or_folder)
    for file in (CONFIG, TOKENIZER, WEIGHTS):
        if not (folder / file).is_file():
            raise FileNotFoundError(f"{folder} has no {file}: a translator is written by save_transformer")
    model = Transformer(_read_config(folder / CONFIG))
    tokenizer = _read_tokenizer(folder / TOKENIZER)
    _check_vocabulary(tokenizer, model.config)
    _fill(model, _read_weights(folder / WEIGHTS), folder / WEIGHTS)
    return model.eval(), tokenizer


def _find(name_or_folder: str | Path) -> Path:
    for folder in (Path(name_or_folder), CHECKPOINTS / name_or_folder):
        if folder.is_dir():
            return folder
    known = sorted(path.name for path in CHECKPOINTS.glob("*")) or [
        "none: it comes with a clone of the course"
    ]
    raise FileNotFoundError(
        f"there is no folder {str(name_or_folder)!r}, nor one of that name in {CHECKPOINTS}, "
        f"which has {', '.join(known)}"
    )


def _read_config(path: Path) -> TransformerConfig:
    try:
        return TransformerConfig(**json.loads(path.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:  # what is no JSON is a ValueError, too
        raise ValueError(f"{path} is no TransformerConfig: {error}") from error


def _read_tokenizer(path: Path) -> Tokenizer:
    text = path.read_text(encoding="utf-8")
    try:
        return Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path} is no tokenizer: {error}") from error


def _read_weights(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path} is no safetensors file: {error}") from error


def _check_vocabulary(tokenizer: Tokenizer, config: TransformerConfig) -> None:
    pieces, sizes = tokenizer.get_vocab_size(), (config.source_vocab, config.target_vocab)
    if sizes != (pieces, pieces):
        raise ValueError(
            f"the tokenizer has {pieces} pieces, the model {sizes[0]} for its source and {sizes[1]} for its "
            "target: give the tokenizer that it was trained with, one for both languages"
        )


@torch.no_grad()
def _fill(model: Transformer, weights: dict[str, Tensor], path: Path) -> None:
    """Copy weights into a model, none missing, none left over, each of the right shape."""
    own = dict(model.named_parameters())
    wrong = sorted(own.keys() ^ weights.keys())
    if wrong:
        raise ValueError(f"{path} does not belong to its {CONFIG}: one has {wrong[0]}, the other has not")
    for name, parameter in own.items():
        if parameter.shape != weights[name].shape:
            shapes = f"{tuple(weights[name].shape)} instead of {tuple(parameter.shape)}"
            raise ValueError(f"{path} does not belong to its {CONFIG}: {name} is {shapes}")
        parameter.copy_(weights[name])

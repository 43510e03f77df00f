"""GPT's tokenizer in Hugging Face's files: byte pairs, or WordPiece, if it was trained on a BERT's text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from bertlab.interop import bert_tokenizer
from bertlab.interop.bert_tokenizer import OPTIONS, VOCAB, WHOLE
from bertlab.interop.gpt_names import kind_of
from bertlab.nn import GPTConfig
from bertlab.text import BytePair, WordPiece

PIECES, MERGES = "vocab.json", "merges.txt"
FILES = (VOCAB, WHOLE, OPTIONS, PIECES, MERGES)


def read_tokenizer(
    folder: Path, config: GPTConfig, lowercase: bool | None = None, recognise_special: bool = False
) -> BytePair | WordPiece:
    """Read the tokenizer of a GPT.

    Parameters
    ----------
    folder : with `tokenizer.json`, with `vocab.json` and `merges.txt`, or with `vocab.txt`.
    config : of the model; tells GPT-1's byte pairs from GPT-2's, where there is no `tokenizer.json`.
    lowercase : as in `bert_tokenizer.read_tokenizer`, for WordPiece alone.
    recognise_special : whether a special token typed in a text is that token.

    Raises
    ------
    FileNotFoundError
        If none of these are there.
    ValueError
        If a file is not what its name says, two contradict each other, or the tokenizer is of another kind.
    """
    if (folder / WHOLE).is_file():
        rust = _rust(folder / WHOLE)
        if _kind(rust) == "WordPiece":
            return bert_tokenizer.read_tokenizer(folder, lowercase, recognise_special)
        found = BytePair(rust, recognise_special)
        if (folder / PIECES).is_file() and not _pieces(folder / PIECES).items() <= found.ids.items():
            raise ValueError(f"{folder / PIECES} and {WHOLE} have different pieces: take one of them away")
        return found
    if (folder / PIECES).is_file() and (folder / MERGES).is_file():
        files = folder / PIECES, folder / MERGES
        return BytePair.from_files(*files, kind_of(config), recognise_special)
    if (folder / VOCAB).is_file():
        return bert_tokenizer.read_tokenizer(folder, lowercase, recognise_special)
    raise FileNotFoundError(
        f"{folder} has no tokenizer: {WHOLE}, {PIECES} and {MERGES}, or {VOCAB} is needed"
    )


def _rust(path: Path) -> Tokenizer:
    try:
        return Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path} is no tokenizer: {error}") from error


def _kind(rust: Tokenizer) -> str:
    return type(rust.model).__name__


def _pieces(path: Path) -> dict[str, int]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} is no JSON object")
    return found


def write_tokenizer(tokenizer: BytePair | WordPiece, folder: Path, config: GPTConfig) -> None:
    """Write the files; `AutoTokenizer.from_pretrained` gives the same ids.

    Around those of WordPiece it puts [CLS] and [SEP], unless told `add_special_tokens=False`.
    """
    if isinstance(tokenizer, WordPiece):
        bert_tokenizer.write_tokenizer(tokenizer, folder, config.max_positions)
        return
    tokenizer.rust.save(str(folder / WHOLE))
    options: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",  # which takes tokenizer.json as it is
        "model_max_length": config.max_positions,
    }
    if config.end_id is not None:
        end = tokenizer.rust.id_to_token(config.end_id)
        options |= dict.fromkeys(("bos_token", "eos_token"), end)
    (folder / OPTIONS).write_text(json.dumps(options, indent=1) + "\n", encoding="utf-8")


def check_vocabulary(tokenizer: BytePair | WordPiece, config: GPTConfig) -> None:
    """Refuse a tokenizer that has more pieces than a model has embeddings.

    A table may have more rows than there are pieces: those that fine-tuning adds, or to a round number.
    """
    if len(tokenizer) > config.vocab_size:
        raise ValueError(
            f"the tokenizer has {len(tokenizer)} pieces, the model {config.vocab_size} embeddings: "
            "give the tokenizer that it was trained with"
        )

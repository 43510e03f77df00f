"""BERT's tokenizer in Hugging Face's files: `vocab.txt`, `tokenizer.json`, `tokenizer_config.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import decoders, processors

from bertlab.nn import BertConfig
from bertlab.text import SPECIAL, WordPiece
from bertlab.text.rust import rust_tokenizer

VOCAB, WHOLE, OPTIONS = "vocab.txt", "tokenizer.json", "tokenizer_config.json"
FILES = (VOCAB, WHOLE, OPTIONS)


def read_tokenizer(
    folder: Path, lowercase: bool | None = None, recognise_special: bool = False, fast: bool = False
) -> WordPiece:
    """Read a WordPiece tokenizer.

    Parameters
    ----------
    folder : with `tokenizer.json`, or with `vocab.txt` and, since that does not say whether the model is
        uncased, `tokenizer_config.json`.
    lowercase : whether the model is uncased, where no file says it.
    recognise_special, fast : see `WordPiece`.

    Raises
    ------
    FileNotFoundError
        If there is neither.
    ValueError
        If a file asks for what `WordPiece` does not do, two files contradict each other, or no file and no
        argument says whether the model is uncased.
    """
    options = _json(folder / OPTIONS) if (folder / OPTIONS).is_file() else {}
    if (folder / WHOLE).is_file():
        vocab, found, longest = _whole(folder / WHOLE)
        if (folder / VOCAB).is_file() and WordPiece.from_file(folder / VOCAB).vocab != vocab:
            raise ValueError(f"{folder / VOCAB} and {WHOLE} have different pieces: take one of them away")
    elif (folder / VOCAB).is_file():
        vocab, longest = WordPiece.from_file(folder / VOCAB).vocab, 100
        _plain(folder / OPTIONS, options, "tokenize_chinese_chars")
        found = {"lowercase": options.get("do_lower_case"), "strip_accents": options.get("strip_accents")}
    else:
        raise FileNotFoundError(f"{folder} has no tokenizer: {VOCAB} or {WHOLE} is needed")
    _same_letters(folder, options, found)
    said = found["lowercase"]
    if said is None and lowercase is None:
        raise ValueError(f"{folder} does not say whether its model is uncased: give lowercase=True or False")
    if None not in (said, lowercase) and said != lowercase:
        raise ValueError(f"lowercase={lowercase}, but {folder} says {said}: leave the argument out")
    lowercase = bool(lowercase if said is None else said)
    return WordPiece(vocab, lowercase, found["strip_accents"], longest, recognise_special, fast)


def _whole(path: Path) -> tuple[list[str], dict[str, Any], int]:
    """Pieces, what becomes of their letters, and the longest word, as `tokenizer.json` has them."""
    raw = _json(path)
    model, normalizer = raw.get("model") or {}, raw.get("normalizer") or {}
    kinds = model.get("type"), normalizer.get("type"), (raw.get("pre_tokenizer") or {}).get("type")
    if kinds != ("WordPiece", "BertNormalizer", "BertPreTokenizer"):
        raise ValueError(f"{path} is made of {kinds}, not as BERT's tokenizer: WordPiece cannot do the same")
    for option in ("clean_text", "handle_chinese_chars"):
        _plain(path, normalizer, option)
    for option, usual in (("continuing_subword_prefix", "##"), ("unk_token", "[UNK]")):
        if model.get(option, usual) != usual:
            raise ValueError(f"{path} has {option}={model[option]!r}: WordPiece knows {usual!r} alone")
    vocab = sorted(model["vocab"], key=model["vocab"].__getitem__)
    if [model["vocab"][piece] for piece in vocab] != list(range(len(vocab))):
        raise ValueError(f"{path} leaves out an id, or gives it twice: number its pieces from 0 on")
    added = {token["content"]: token["id"] for token in raw.get("added_tokens") or ()}
    if strange := [
        token for token, i in added.items() if model["vocab"].get(token) != i or token not in SPECIAL
    ]:
        raise ValueError(
            f"{path} adds {', '.join(strange)}: WordPiece has no tokens but those of its vocabulary"
        )
    options = {"lowercase": normalizer.get("lowercase"), "strip_accents": normalizer.get("strip_accents")}
    return vocab, options, model.get("max_input_chars_per_word", 100)


def _same_letters(folder: Path, options: dict[str, Any], found: dict[str, Any]) -> None:
    """Refuse two files that disagree on case or accents: which one counts differs from version to version."""
    lower = options.get("do_lower_case", found["lowercase"])
    accents = options.get("strip_accents", found["strip_accents"])
    theirs = lower, lower if accents is None else accents
    lower, accents = found["lowercase"], found["strip_accents"]
    if theirs != (ours := (lower, lower if accents is None else accents)):
        raise ValueError(
            f"{folder / OPTIONS} has lower case and no accents {theirs}, {WHOLE} {ours}: correct one"
        )


def _plain(path: Path, options: dict[str, Any], name: str) -> None:
    if options.get(name, True) is not True:
        raise ValueError(f"{path} has {name}={options[name]!r}: WordPiece always does it, as BERT")


def _json(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no JSON: {error}") from error
    if not isinstance(raw, dict):
        raise ValueError(f"{path} is no JSON object")
    return raw


def write_tokenizer(tokenizer: WordPiece, folder: Path, max_positions: int) -> None:
    """Write the three files; `AutoTokenizer.from_pretrained` gives the same ids, in [CLS] and [SEP].

    There, unlike here by default, a special token typed in a text becomes its id.
    """
    lowercase, strip_accents = tokenizer.lowercase, tokenizer.strip_accents
    tokenizer.save(folder / VOCAB)
    options = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": lowercase,
        "strip_accents": strip_accents,
        "tokenize_chinese_chars": True,
        "model_max_length": max_positions,
        **{f"{name.strip('[]').lower()}_token": name for name in SPECIAL},
    }
    (folder / OPTIONS).write_text(json.dumps(options, indent=1) + "\n", encoding="utf-8")
    whole = rust_tokenizer(tokenizer.ids, lowercase, strip_accents, tokenizer.max_word_length, SPECIAL)
    whole.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", tokenizer.cls_id), ("[SEP]", tokenizer.sep_id)],
    )
    whole.decoder = decoders.WordPiece()
    whole.save(str(folder / WHOLE))


def check_vocabulary(tokenizer: WordPiece, config: BertConfig) -> None:
    """Refuse a tokenizer that does not go with a model.

    A table may have more rows than there are pieces (some are filled up to a round number), not fewer.
    """
    if len(tokenizer) > config.vocab_size:
        raise ValueError(
            f"the tokenizer has {len(tokenizer)} pieces, the model {config.vocab_size} embeddings: "
            "give the tokenizer that it was trained with"
        )
    if tokenizer.pad_id != config.pad_id:
        raise ValueError(
            f"[PAD] is {tokenizer.pad_id} in the tokenizer and {config.pad_id} in the model, which would "
            "hide other pieces: correct pad_token_id in config.json, or pad_id of the config"
        )

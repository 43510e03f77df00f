"""A corpus in numbers on disk: written once, read by any number of processes, which share its memory.

A folder has `index.json` and, for every shard, four NumPy arrays: tokens (16 bits each where the vocabulary
allows), the lengths of sentences in tokens and of documents in sentences, the source of each document, and
a fingerprint of each sentence. A document lies in one shard.

Each file is there in full or not at all; a shard's own record comes after its arrays, and the index after all
shards. So an interrupted writer is called again and goes on behind the last complete shard.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bertlab.text.corpus import Corpus, Document, join, tokenise
from bertlab.text.wordpiece import WordPiece

FORMAT, VERSION = "bertlab token shards", 1
INDEX = "index.json"
SHARD_CHARACTERS = 4_000_000  # about a million tokens

Record = dict[str, Any]


class ShardsError(ValueError):
    """A folder of shards cannot be written or read; the sentence says what to do."""


def write_shards(
    folder: str | Path,
    documents: Sequence[Document],
    tokenizer: WordPiece,
    shard_characters: int = SHARD_CHARACTERS,
) -> Corpus:
    """Write documents in numbers, with a progress bar; go on where an earlier call was interrupted.

    Parameters
    ----------
    folder : new, or left by an interrupted call with the same documents and tokenizer.
    documents : each with `sentences` and a `source`.
    tokenizer : cuts the sentences into pieces.
    shard_characters : a shard is complete with the document in which it has so many.

    Returns
    -------
    the corpus, read from the shards.

    Raises
    ------
    ShardsError
        If the folder holds complete shards, or parts of other ones, or other files.
    ValueError
        If there is nothing to write; see `tokenise`.
    """
    folder = Path(folder)
    if (folder / INDEX).exists():
        raise ShardsError(f"{folder} holds complete shards: delete it, or choose another folder")
    _check_ours(folder)
    blocks = list(_blocks(documents, shard_characters))
    about = _about(tokenizer)
    records = []
    with tqdm(total=len(documents), desc=f"{folder.name}: documents", unit="") as bar:
        for number, block in enumerate(blocks):
            records.append(_write_shard(folder, number, block, tokenizer, about))
            bar.update(len(block))
    index = {"format": FORMAT, "version": VERSION, **about, "shards": records}
    _save(folder / INDEX, json.dumps(index, indent=1).encode())
    return open_shards(folder, tokenizer)


def _check_ours(folder: Path) -> None:
    """Refuse a folder that holds other things than an interrupted call leaves."""
    if folder.exists() and not folder.is_dir():
        raise ShardsError(f"{folder} is a file: choose a new folder")
    strange = [path.name for path in folder.glob("*") if not path.name.startswith(("shard-", ".shard-"))]
    if strange:
        raise ShardsError(f"{folder} holds {strange[0]!r}, which is no shard: choose an empty or new folder")


def _blocks(documents: Sequence[Document], characters: int) -> Iterator[Sequence[Document]]:
    """Cut documents into blocks of so many characters; the blocks depend on nothing but the texts."""
    if not documents:
        raise ValueError("there are 0 documents to write: give at least one")
    first = seen = 0
    for i, document in enumerate(documents):
        seen += sum(map(len, document.sentences))
        if seen >= characters or i == len(documents) - 1:
            yield documents[first : i + 1]
            first, seen = i + 1, 0


def _about(tokenizer: WordPiece) -> Record:
    """Return what the tokens depend on besides the texts."""
    return {
        "vocabulary_sha256": vocabulary_sha256(tokenizer),
        "vocabulary_size": len(tokenizer),
        "lowercase": tokenizer.lowercase,
    }


def vocabulary_sha256(tokenizer: WordPiece) -> str:
    """Identify a vocabulary: sha256 of its pieces in their order, a line each, as `save` writes them."""
    return hashlib.sha256(("\n".join(tokenizer.vocab) + "\n").encode()).hexdigest()


def _write_shard(
    folder: Path, number: int, block: Sequence[Document], tokenizer: WordPiece, about: Record
) -> Record:
    """Write one shard, or find it written; return its record."""
    path = folder / f"shard-{number:05}.json"
    from_what = {**about, "documents": len(block), "text_sha256": _text_sha256(block)}
    if path.exists():
        record: Record = json.loads(path.read_text())
        if record["from"] != from_what:
            raise ShardsError(f"{folder} holds parts of other shards: delete it, or choose another folder")
        return record
    corpus = tokenise(block, tokenizer)
    for name, array in _arrays(corpus).items():
        _save_array(_path(folder, number, name), array)
    record = {
        "name": path.stem,
        "sources": list(corpus.sources),
        "documents": len(corpus.source),
        "sentences": len(corpus.borders) - 1,
        "tokens": int(corpus.borders[-1]),
        "empty_sentences": sum(len(document.sentences) for document in block) - len(corpus.borders) + 1,
        "from": from_what,
    }
    _save(path, json.dumps(record).encode())
    return record


def _text_sha256(block: Sequence[Document]) -> str:
    text = json.dumps([[document.source, *document.sentences] for document in block])
    return hashlib.sha256(text.encode()).hexdigest()


def _path(folder: Path, number: int, name: str) -> Path:
    return folder / f"shard-{number:05}.{name}.npy"


def _arrays(corpus: Corpus) -> dict[str, np.ndarray]:
    return {
        "tokens": corpus.shards[0],
        "sentences": np.diff(corpus.borders).astype(np.uint32),
        "documents": np.diff(corpus.documents).astype(np.uint32),
        "sources": corpus.source.astype(np.uint16),
        "fingerprints": corpus.fingerprints,
    }


def _save_array(path: Path, array: np.ndarray) -> None:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    _save(path, buffer.getvalue())


def _save(path: Path, data: bytes) -> None:
    """Write a file so that it is there in full or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".shard-{os.getpid()}-{path.name}")
    try:
        with unfinished.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # the record must not reach the disk before the arrays do
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


@dataclass(frozen=True, eq=False)
class Shards(Corpus):
    """A corpus whose tokens stay on disk; another process that is sent it opens it by itself."""

    folder: Path
    tokenizer: WordPiece

    def __reduce__(self) -> tuple[Any, ...]:
        return open_shards, (self.folder, self.tokenizer)


def open_shards(folder: str | Path, tokenizer: WordPiece) -> Shards:
    """Open what `write_shards` wrote; only borders are read into memory.

    Parameters
    ----------
    folder : of the shards.
    tokenizer : must have the vocabulary they were written with.

    Raises
    ------
    ShardsError
        If there are no complete shards, or those of another format, version or vocabulary, or damaged ones.
    """
    folder = Path(folder)
    if not (folder / INDEX).exists():
        raise ShardsError(f"{folder} holds no complete shards: write them with `python -m bertlab shards`")
    index = json.loads((folder / INDEX).read_text())
    if (index.get("format"), index.get("version")) != (FORMAT, VERSION):
        raise ShardsError(f"{folder} is not of format {FORMAT!r}, version {VERSION}: write it anew")
    if index["vocabulary_sha256"] != vocabulary_sha256(tokenizer):
        raise ShardsError(
            f"{folder} was written with another vocabulary, of {index['vocabulary_size']} pieces: give a "
            f"tokenizer with that one, or write shards with this one of {len(tokenizer)}"
        )
    corpus = join([_open_shard(folder, n, record) for n, record in enumerate(index["shards"])])
    return Shards(**vars(corpus), folder=folder, tokenizer=tokenizer)


def _open_shard(folder: Path, number: int, record: Record) -> Corpus:
    try:
        tokens = np.load(_path(folder, number, "tokens"), mmap_mode="r", allow_pickle=False)
        lengths, counts, source, fingerprints = (
            np.load(_path(folder, number, name), allow_pickle=False)
            for name in ("sentences", "documents", "sources", "fingerprints")
        )
    except (OSError, ValueError) as error:
        raise ShardsError(
            f"{record['name']} in {folder} is damaged ({error}): write the folder anew"
        ) from error
    borders, documents = (
        np.cumsum(np.concatenate([[0], sizes]), dtype=np.int64) for sizes in (lengths, counts)
    )
    sizes = {"tokens": len(tokens), "sentences": len(lengths), "documents": len(counts)}
    if any(record[name] != size for name, size in sizes.items()) or borders[-1] != len(tokens):
        raise ShardsError(f"{record['name']} in {folder} is damaged ({sizes}): write the folder anew")
    sources = tuple(record["sources"])
    # A plain view: slicing a memmap object is several times slower, and both read the same pages.
    return Corpus(
        [tokens.view(np.ndarray)], borders, documents, source.astype(np.int64), sources, fingerprints
    )

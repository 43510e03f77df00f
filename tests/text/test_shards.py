"""Claims about shards on disk: what is written is read, all or nothing, once, and by many processes."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from bertlab.datasets import Document
from bertlab.text import SPECIAL, ShardsError, WordPiece, open_shards, shards, tokenise, write_shards

TOKENIZER = WordPiece([*SPECIAL, *"abcdefghij", *(f"##{letter}" for letter in "abcdefghij")])
OTHER = WordPiece([*SPECIAL, *"abcdefghijk"])
CHARACTERS = 200  # a shard, so that there are a few


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    rng = np.random.default_rng(0)

    def sentence() -> str:
        return " ".join("".join(rng.choice(list("abcdefghij"), rng.integers(1, 6))) for _ in range(5))

    return [Document([sentence() for _ in range(rng.integers(2, 7))], f"source {i % 2}") for i in range(20)]


def same(one, other) -> bool:
    arrays = ("borders", "documents", "source", "fingerprints")
    tokens = (np.concatenate(corpus.shards) for corpus in (one, other))
    return (
        all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
        and one.sources == other.sources
        and np.array_equal(*tokens)
    )


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_written_is_read(tmp_path, documents):
    written = write_shards(tmp_path / "new", documents, TOKENIZER, CHARACTERS)
    read = open_shards(tmp_path / "new", TOKENIZER)
    assert len(read.shards) > 3
    assert same(written, read)
    assert same(read, tokenise(documents, TOKENIZER))
    assert same(read, write_shards(tmp_path / "one", documents, TOKENIZER))


def test_tokens_stay_on_disk(tmp_path, documents):
    corpus = write_shards(tmp_path / "new", documents, TOKENIZER, CHARACTERS)
    for shard in corpus.shards:
        assert shard.dtype == np.uint16
        assert isinstance(shard.base, np.memmap)
        with pytest.raises(ValueError, match="read-only"):
            shard[0] = 1


def test_the_index_says_what_is_there(tmp_path, documents):
    documents = [*documents, Document(["a", "\u200b"], "source 0")]
    corpus = write_shards(tmp_path / "new", documents, TOKENIZER, CHARACTERS)
    index = json.loads((tmp_path / "new" / "index.json").read_text())
    assert (index["format"], index["version"]) == ("bertlab token shards", 1)
    assert index["vocabulary_sha256"] == shards.vocabulary_sha256(TOKENIZER)
    assert sum(shard["documents"] for shard in index["shards"]) == len(documents)
    assert sum(shard["sentences"] for shard in index["shards"]) == len(corpus.borders) - 1
    assert sum(shard["tokens"] for shard in index["shards"]) == corpus.borders[-1]
    assert sum(shard["empty_sentences"] for shard in index["shards"]) == 1


def test_the_vocabulary_is_known_by_the_sha256_of_its_file(tmp_path):
    TOKENIZER.save(tmp_path / "vocab.txt")
    file = hashlib.sha256((tmp_path / "vocab.txt").read_bytes())
    assert shards.vocabulary_sha256(TOKENIZER) == file.hexdigest()


def test_complete_shards_are_never_overwritten(tmp_path, documents):
    write_shards(tmp_path / "new", documents, TOKENIZER)
    before = contents(tmp_path / "new")
    with pytest.raises(ShardsError, match="holds complete shards: delete it, or choose another folder"):
        write_shards(tmp_path / "new", documents, TOKENIZER)
    assert contents(tmp_path / "new") == before


def test_a_folder_with_other_things_is_left_alone(tmp_path, documents):
    (tmp_path / "thesis.txt").write_text("all my work")
    with pytest.raises(ShardsError, match=r"holds 'thesis.txt', which is no shard"):
        write_shards(tmp_path, documents, TOKENIZER)
    with pytest.raises(ShardsError, match=r"thesis.txt is a file"):
        write_shards(tmp_path / "thesis.txt", documents, TOKENIZER)
    assert contents(tmp_path) == {"thesis.txt": b"all my work"}


@pytest.fixture
def interrupted(tmp_path, documents, monkeypatch):
    """A folder whose writer was stopped in its third shard."""
    calls = []

    def tokenise_two(block, tokenizer):
        calls.append(block)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return tokenise(block, tokenizer)

    with monkeypatch.context() as patch:
        patch.setattr(shards, "tokenise", tokenise_two)
        with pytest.raises(KeyboardInterrupt):
            write_shards(tmp_path / "half", documents, TOKENIZER, CHARACTERS)
    return tmp_path / "half"


def test_an_interrupted_writer_goes_on_behind_its_last_shard(interrupted, tmp_path, documents, monkeypatch):
    with pytest.raises(ShardsError, match="holds no complete shards: write them with"):
        open_shards(interrupted, TOKENIZER)
    before = contents(interrupted)
    seen = []
    monkeypatch.setattr(shards, "tokenise", lambda *given: seen.append(given) or tokenise(*given))
    write_shards(interrupted, documents, TOKENIZER, CHARACTERS)
    assert before.items() <= contents(interrupted).items()
    blocks = list(shards._blocks(documents, CHARACTERS))
    assert [block for block, _ in seen] == blocks[2:]
    write_shards(tmp_path / "whole", documents, TOKENIZER, CHARACTERS)
    assert contents(interrupted) == contents(tmp_path / "whole")


def test_a_writer_does_not_go_on_with_anything_else(interrupted, documents):
    for texts, tokenizer, characters in [
        (documents[1:], TOKENIZER, CHARACTERS),
        (documents, OTHER, CHARACTERS),
        (documents, WordPiece(TOKENIZER.vocab, lowercase=False), CHARACTERS),
        (documents, TOKENIZER, CHARACTERS + 400),
    ]:
        with pytest.raises(ShardsError, match="holds parts of other shards"):
            write_shards(interrupted, texts, tokenizer, characters)
    write_shards(interrupted, documents, TOKENIZER, CHARACTERS)


def test_a_file_is_there_in_full_or_not_at_all(tmp_path, documents, monkeypatch):
    def full_disk(descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr(shards.os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space left"):
        write_shards(tmp_path / "new", documents, TOKENIZER)
    assert contents(tmp_path / "new") == {}


KILLED = """
import sys
from bertlab.datasets import Document
from bertlab.text import SPECIAL, WordPiece, write_shards
documents = [Document(["a b c d e"] * 50, "x") for _ in range(40_000)]
print("begins", flush=True)
write_shards(sys.argv[1], documents, WordPiece([*SPECIAL, *"abcde"]), 10_000)
"""


@pytest.mark.slow
def test_a_killed_writer_leaves_what_can_be_gone_on_with(tmp_path):
    folder = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], stderr=subprocess.DEVNULL)
    try:
        while len(list(folder.glob("*.json"))) < 5:
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    kept = {path.name: path.read_bytes() for path in folder.glob("shard-0000[0-4]*")}
    first = [Document(["a b c d e"] * 50, "x") for _ in range(40_000)]
    tokenizer = WordPiece([*SPECIAL, *"abcde"])
    for number, block in zip(range(8), shards._blocks(first, 10_000), strict=False):
        shards._write_shard(folder, number, block, tokenizer, shards._about(tokenizer))
    assert kept.items() <= contents(folder).items()
    record = json.loads((folder / "shard-00007.json").read_text())
    assert same(shards._open_shard(folder, 7, record), tokenise(block, tokenizer))


def checksum(corpus, first: int, stop: int) -> int:
    return int(corpus.ids(first, stop).astype(np.int64).sum())


@pytest.mark.slow
def test_many_processes_read_the_same_shards(tmp_path, documents):
    """What is sent to them is where the shards are, not the tokens."""
    corpus = write_shards(tmp_path / "new", documents * 20, TOKENIZER, 20 * CHARACTERS)
    assert len(pickle.dumps(corpus)) < 20_000
    ranges = list(zip(corpus.documents[:-1], corpus.documents[1:], strict=True))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        sums = [pool.submit(checksum, corpus, *one) for one in ranges]
        assert [one.result() for one in sums] == [checksum(corpus, *one) for one in ranges]


def test_another_vocabulary_is_refused(tmp_path, documents):
    write_shards(tmp_path / "new", documents, TOKENIZER)
    with pytest.raises(
        ShardsError, match=r"written with another vocabulary, of 25 pieces: .* this one of 16"
    ):
        open_shards(tmp_path / "new", OTHER)


@pytest.mark.parametrize(("key", "value"), [("version", 2), ("format", "tar")])
def test_another_format_is_refused(tmp_path, documents, key, value):
    write_shards(tmp_path / "new", documents, TOKENIZER)
    index = tmp_path / "new" / "index.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), key: value}))
    with pytest.raises(ShardsError, match="is not of format 'bertlab token shards', version 1"):
        open_shards(tmp_path / "new", TOKENIZER)


@pytest.mark.parametrize("name", ["tokens", "sentences", "documents", "sources", "fingerprints"])
def test_a_damaged_shard_is_named(tmp_path, documents, name):
    write_shards(tmp_path / "new", documents, TOKENIZER)
    path = tmp_path / "new" / f"shard-00000.{name}.npy"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ShardsError, match=r"shard-00000 in .* is damaged"):
        open_shards(tmp_path / "new", TOKENIZER)
    path.unlink()
    with pytest.raises(ShardsError, match=r"shard-00000 in .* is damaged"):
        open_shards(tmp_path / "new", TOKENIZER)


def test_no_documents_are_refused(tmp_path):
    with pytest.raises(ValueError, match="there are 0 documents to write"):
        write_shards(tmp_path / "new", [], TOKENIZER)

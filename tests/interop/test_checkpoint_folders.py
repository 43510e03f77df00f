"""A checkpoint is found in a folder, in the repository, among published models, or on a (local) hub."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest

from bertlab.datasets import DataUnavailable
from bertlab.interop import checkpoint_folders, load_bert, save_bert
from bertlab.interop.checkpoint_folders import find_checkpoint
from tests.interop.small_bert import same_output, saved, some_bert, tokenizer

COMMIT = "c0ffee" * 6 + "beef"
ID = "owner/small-bert"


class Hub(http.server.BaseHTTPRequestHandler):
    """The few addresses of the Hugging Face hub that its client asks for; one repository, one folder."""

    folder: Path
    asked: list[str]

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        path = self.path.partition("?")[0].strip("/")
        files = {str(p.relative_to(self.folder)): p for p in self.folder.rglob("*") if p.is_file()}
        if path.startswith(f"api/models/{ID}/tree/"):
            rows = [
                {"type": "file", "path": name, "size": p.stat().st_size, "oid": f"{len(name):040}"}
                for name, p in files.items()
            ]
            self.send(json.dumps(rows).encode(), body)
        elif path == f"api/models/{ID}" or path.startswith(f"api/models/{ID}/revision/"):
            rows = [{"rfilename": name} for name in files]
            self.send(json.dumps({"id": ID, "sha": COMMIT, "siblings": rows}).encode(), body)
        elif path.startswith(f"{ID}/resolve/") and (name := path.split("/", 4)[4]) in files:
            if body:
                self.asked.append(name)
            self.send(files[name].read_bytes(), body, ETag=f'"{name}"')
        else:
            self.send(b"{}", body, 404, **{"X-Error-Code": "RepoNotFound"})

    def send(self, data: bytes, body: bool, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"X-Repo-Commit": COMMIT, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    """A hub on this machine, empty, and a client that has seen nothing yet."""

    class Own(Hub):
        folder = tmp_path / "hub"
        asked: list[str] = []  # noqa: RUF012

    Own.folder.mkdir()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Own)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "client"))
    yield Own
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_folder_comes_first_then_the_repository_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_folders, "CHECKPOINTS", tmp_path / "checkpoints")
    ours = saved(tmp_path / "checkpoints" / "bert-small-one")
    assert find_checkpoint(ours) == find_checkpoint(str(ours)) == find_checkpoint("bert-small-one") == ours
    monkeypatch.chdir(tmp_path)
    local = saved(tmp_path / "bert-small-one", "bare")
    assert find_checkpoint("bert-small-one").resolve() == local


def test_a_name_of_nothing_tells_where_it_was_looked_for() -> None:
    for name in ("bert-base-uncased", "./nowhere/bert", "a/b/c", Path("owner/name")):
        with pytest.raises(FileNotFoundError, match=r"there is no folder .*all-MiniLM-L6-v2.*'owner/name'"):
            find_checkpoint(name)


@pytest.mark.parametrize("shard_bytes", [10**9, 5_000], ids=["whole", "shards"])
def test_a_model_comes_from_the_hub_with_what_it_needs_and_that_is_said(
    hub: type[Hub], shard_bytes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    save_bert(some_bert(), tokenizer(), hub.folder, shard_bytes=shard_bytes)
    for file in ("pytorch_model.bin", "tf_model.h5", "README.md", "onnx/model.safetensors"):
        (hub.folder / file).parent.mkdir(exist_ok=True)
        (hub.folder / file).write_bytes(b"not wanted")
    model, _ = load_bert(ID)
    same_output(model, some_bert())
    assert f"bertlab: {ID} from the hub: config.json, vocab.txt" in capsys.readouterr().err
    small = {"config.json", "vocab.txt", "tokenizer.json", "tokenizer_config.json"}
    assert set(hub.asked) == small | {p.name for p in hub.folder.glob("model*")}
    assert len(hub.asked) == len(set(hub.asked))
    fetched = len(hub.asked)
    same_output(load_bert(ID)[0], some_bert())
    assert len(hub.asked) == fetched  # the second time, files are on this machine


def test_what_was_fetched_once_is_read_without_the_hub(
    hub: type[Hub], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(hub.folder)
    load_bert(ID)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the discard port: nothing listens there
    capsys.readouterr()
    same_output(load_bert(ID)[0], some_bert())
    assert f"{ID} as it was fetched before (ConnectError" in capsys.readouterr().err


def test_a_repository_that_is_not_there_is_named(hub: type[Hub]) -> None:
    with pytest.raises(
        DataUnavailable, match=r"'owner/typo' is no folder, nor to be had from the hub \(Repos"
    ):
        load_bert("owner/typo")


def test_a_hub_that_cannot_be_reached_is_told(hub: type[Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DataUnavailable, match=r"check the name and the connection"):
        load_bert(ID)


def test_tensorflow_on_the_hub_is_refused_with_the_way_to_convert(hub: type[Hub]) -> None:
    saved(hub.folder)
    (hub.folder / "model.safetensors").rename(hub.folder / "bert_model.ckpt.index")
    with pytest.raises(ValueError, match="transformers-cli convert"):
        load_bert(ID)
    assert hub.asked == []

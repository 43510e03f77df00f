"""What data tests share: a cache of their own, no way out to the network, a local server, toy manifests."""

import hashlib
import http.server
import json
import os
import threading
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import pytest

from bertlab.datasets import registry

NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing listens there, so a connection is refused at once
COMMIT = "c0ffee" * 6 + "beef"  # forty hexadecimal digits, like a real one


@pytest.fixture(scope="session")
def real_mirror():
    """The folder with all public data sets, where the machine has one."""
    named = os.environ.get("BERTLAB_DATA_MIRROR", "")
    if not named:
        pytest.skip("BERTLAB_DATA_MIRROR names no folder with the public data sets")
    return Path(named).resolve()


@pytest.fixture(autouse=True)
def cache(request, tmp_path, monkeypatch):
    """An empty cache; GitHub, the hub and pip lead nowhere."""
    if "real_mirror" in request.fixturenames:
        request.getfixturevalue("real_mirror")  # reads the variable before it is taken away
    monkeypatch.setenv("BERTLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BERTLAB_DATA_MIRROR", raising=False)
    monkeypatch.setenv("BERTLAB_GITHUB", NOWHERE)
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return tmp_path / "cache"


@dataclass
class Server:
    """A web server on this machine: `files` maps a path to its bytes, `requests` lists what was asked for."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    send_at_most: int | None = None  # then the connection breaks
    promise_length: bool = True


@pytest.fixture
def server(monkeypatch):
    """A local server that stands in for GitHub and for the hub."""
    state = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = unquote(self.path).lstrip("/")
            state.requests.append(path)
            data = state.files.get(path)
            self.send_response(404 if data is None else 200)
            if state.promise_length:
                self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write((data or b"")[: state.send_at_most])

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        state.address = f"http://127.0.0.1:{httpd.server_port}"
        monkeypatch.setenv("BERTLAB_GITHUB", state.address)
        monkeypatch.setenv("HF_ENDPOINT", state.address + "/hub")
        yield state
        httpd.shutdown()
        thread.join()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def facts(path, data, **more):
    """What a manifest says of some bytes."""
    return {"path": path, "bytes": len(data), "sha256": sha256(data), **more}


def entry(name, files, **more):
    """A manifest entry; `files` maps a path to (bytes, conversion, {upstream path: bytes})."""
    return {
        "name": name,
        "description": "made for a test",
        "licence": "CC0-1.0",
        "licence_note": "made up",
        "non_commercial": False,
        "source_repo": "someone/repo",
        "source_commit": COMMIT,
        "files": [
            facts(
                path,
                data,
                conversion=conversion,
                upstream=[facts(upstream, raw) for upstream, raw in published.items()],
            )
            for path, (data, conversion, published) in files.items()
        ],
        **more,
    }


@pytest.fixture
def manifest(monkeypatch, tmp_path):
    """A function that puts entries in the place of the real manifest, and returns the file it wrote."""

    def use(*datasets, pretrained=()):
        file = tmp_path / "manifest.json"
        file.write_text(json.dumps({"datasets": datasets, "pretrained": list(pretrained)}), encoding="utf-8")
        monkeypatch.setattr(registry, "_manifest", lambda: registry.read_manifest(file.read_text("utf-8")))
        return file

    return use


def wheel(folder, members, name="toy_carrier", version="1.0"):
    """Write a valid wheel with the given members, and return its path."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    project = name.replace("_", "-")
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
        metadata = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
        archive.writestr(f"{info}/METADATA", metadata + "Requires-Dist: a-dependency-that-no-one-wants\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def remains(cache):
    """All files under a folder, hidden ones too, relative to it."""
    return sorted(path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file())


@pytest.fixture
def left(cache):
    """A function that lists what is in the cache now."""
    return lambda: remains(cache)

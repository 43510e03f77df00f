"""`make lab` opens JupyterLab at the notebooks: in a browser where there is a screen, else by its URL."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import lab

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("platform", "environment", "user", "expected"),
    [
        ("linux", {}, 1000, ["--no-browser"]),
        ("linux", {"DISPLAY": ":0"}, 1000, []),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, 1000, []),
        ("linux", {"DISPLAY": ""}, 0, ["--no-browser", "--allow-root"]),
        ("darwin", {}, 501, []),
        ("win32", {}, 1, []),
    ],
)
def test_a_browser_is_opened_only_where_there_is_a_screen(platform, environment, user, expected):
    root, *others = lab.arguments(platform, environment, user, ["--port=9999"])
    assert root == f"--ServerApp.root_dir={ROOT / 'notebooks'}"
    assert others == [*expected, "--port=9999"]


def listing(url: str) -> set[str]:
    """Names that the server shows; it prints its address a moment before it listens."""
    for _ in range(50):
        try:
            with urllib.request.urlopen(url) as answer:
                return {file["name"] for file in json.load(answer)["content"]}
        except urllib.error.URLError:
            time.sleep(0.2)
    raise TimeoutError(url)


@pytest.mark.slow
def test_without_a_screen_the_url_is_printed_and_shows_the_notebooks(tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CONFIG_DIR", "RUNTIME_DIR"):  # the reader's own settings stay out of it
        monkeypatch.setenv(f"JUPYTER_{name}", str(tmp_path))

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(ROOT / "tools" / "lab.py"), f"--port={port}", "--ip=127.0.0.1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            url = next(
                m for line in server.stderr if (m := re.search(r"(http://127\S+)/lab\?(token=\w+)", line))
            )
            shown = listing(f"{url[1]}/api/contents?{url[2]}")
            assert {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} <= shown
            assert "sanitize.cfg" in shown
        finally:
            server.terminate()
            server.stderr.read()

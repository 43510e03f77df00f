"""One translation to look at, and a browser to look with.

The browser is a Chromium of this machine. Where there is none, the tests that need it are skipped, in one
sentence that says what to install; in CI they fail.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

from bertlab import viz
from bertlab.viz.widget import Widget

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


@pytest.fixture
def make_trace() -> Callable[..., viz.DecodingTrace]:
    """A made-up translation of any words; what is computed from what is as in a real one."""

    def make(
        source: tuple[str, ...] = ("two", "hundred", "four", "</s>"),
        target: tuple[str, ...] = ("zwei", "hundert", "vier", "</s>"),
        d_model: int = 5,
        **others: Any,
    ) -> viz.DecodingTrace:
        rng = np.random.default_rng(3)
        scores = rng.normal(size=(len(target), len(source)))
        weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        encoder_states = np.tanh(rng.normal(size=(len(source), d_model)))
        given: dict[str, Any] = {
            "source_tokens": source,
            "target_tokens": target,
            "encoder_states": encoder_states,
            "initial_state": np.tanh(rng.normal(size=d_model)),
            "states": np.tanh(rng.normal(size=(len(target), d_model))),
            "scores": scores,
            "weights": weights,
            "contexts": weights @ encoder_states,
            "combined": np.tanh(rng.normal(size=(len(target), d_model))),
            "top_words": [[(token, 0.75), ("other", 0.2)] for token in target],
        }
        return viz.DecodingTrace(**given | others)

    return make


# For a module, not the session: while Playwright runs, no other test can start an event loop in its thread.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("there is no Chromium here: install it (Debian: apt install chromium) to test the widgets")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield chromium
        chromium.close()


class Watched:
    """A page, and everything it complained about or asked the network for."""

    def __init__(self, page: Page, own: str = "") -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._shown)
        page.on("request", lambda request: self._asked(request.url, own))
        self.received: list[int] = []  # bytes of each message from the kernel
        page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda data: self.received.append(len(data))),
        )

    def _shown(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _asked(self, url: str, own: str) -> None:
        if not url.startswith(("blob:", "data:", "about:")) and not (own and url.startswith(own)):
            self.complaints.append(f"request {url}")


# What Jupyter gives to a widget's `render`, without a kernel: `synced` collects what Python would be told.
STUB = """async ([script, style, state, name, chunks]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const sheet = document.createElement("style");
  sheet.textContent = style;
  document.head.append(sheet);
  const listeners = {}, changed = {}, synced = [], wanted = [];
  const model = {
    get: (key) => state[key],
    set: (key, value) => {
      state[key] = changed[key] = value;
      for (const listener of [...(listeners[`change:${key}`] ?? [])]) listener();
    },
    save_changes: () => { synced.push({ ...changed }); },
    send: ({ want }) => {
      wanted.push(...want);
      for (const name of want) setTimeout(() => {
        const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        const buffers = chunks[name].map((text) => new DataView(bytes(text).buffer));
        for (const listener of [...(listeners["msg:custom"] ?? [])]) listener({ chunk: name }, buffers);
      });
    },
    on: (event, listener) => (listeners[event] ??= []).push(listener),
    off: (event, listener) => { listeners[event] = listeners[event].filter((other) => other !== listener); },
  };
  const el = document.createElement("div");
  el.id = name;
  document.body.append(el);
  const cleanup = await module.default.render({ model, el });
  (window.widgets ??= {})[name] = { model, cleanup, synced, listeners, wanted };
}"""


@pytest.fixture
def blank_page(browser: Browser) -> Iterator[Watched]:
    """An empty page that must not complain, nor ask the network for anything."""
    page = browser.new_page(viewport={"width": 900, "height": 800})
    watched = Watched(page)
    yield watched
    page.close()
    assert watched.complaints == []


@pytest.fixture
def put_on_page(blank_page: Watched) -> Callable[..., Page]:
    """Draw a widget on the blank page, in an element of the given name, without Jupyter or a kernel."""

    def put(widget: Widget, name: str = "widget") -> Page:
        names = {name for name in widget.trait_names(sync=True) if not name.startswith("_")}
        state = {name: getattr(widget, name) for name in names - {"layout", "tabbable", "tooltip"}}
        chunks = {
            chunk: [base64.b64encode(buffer).decode() for buffer in widget.chunk(chunk)]
            for chunk in widget.chunk_names()
        }
        blank_page.page.evaluate(STUB, [str(widget._esm), str(widget._css), state, name, chunks])
        return blank_page.page

    return put


class Lab:
    """A running JupyterLab with a folder of its own; `open` shows a notebook made of `cells`, and runs it."""

    def __init__(self, browser: Browser, folder: Path, port: int) -> None:
        self.browser, self.folder, self.address = browser, folder, f"http://127.0.0.1:{port}"

    def open(self, name: str, *cells: str) -> Watched:
        notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)"}
        nbformat.write(notebook, self.folder / f"{name}.ipynb")
        watched = self.reopen(name)
        watched.page.get_by_role("menuitem", name="Run", exact=True).click()
        watched.page.get_by_text("Run All Cells", exact=True).click()
        return watched

    def reopen(self, name: str) -> Watched:
        """Show a notebook that is there, and run nothing."""
        page = self.browser.new_page(viewport={"width": 1280, "height": 1000})
        watched = Watched(page, own=self.address)
        page.goto(f"{self.address}/lab/tree/{name}.ipynb?reset&token={TOKEN}")
        page.get_by_text("| Idle").first.wait_for()
        return watched

    def ask(self, page: Page, expression: str, start: str) -> str:
        """What the kernel answers to an expression whose answer begins with `start`."""
        page.locator(".jp-Cell .cm-content").last.click()
        for key in ("Escape", "b", "Enter"):
            page.keyboard.press(key)
        page.keyboard.insert_text(f"print({start!r}, {expression})")
        page.keyboard.press("Shift+Enter")
        answer = page.locator(".jp-OutputArea-output pre", has_text=re.compile(f"^{re.escape(start)} ")).last
        return answer.inner_text().removeprefix(start).strip()


TOKEN = "look"


@pytest.fixture(scope="module")
def lab(browser: Browser, lab_server: tuple[Path, int]) -> Lab:
    """JupyterLab in the browser."""
    return Lab(browser, *lab_server)


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    """Folder and port of a JupyterLab without the reader's settings, which asks nothing from outside."""
    home = tmp_path_factory.mktemp("lab")
    notebooks = home / "notebooks"
    notebooks.mkdir()
    # No news from outside; and every cell is on the page, also those that are out of sight.
    for place, setting in (
        ("apputils-extension/notification", {"fetchNews": "false", "checkForUpdates": False}),
        ("notebook-extension/tracker", {"windowingMode": "none"}),
    ):
        file = home / "settings" / "@jupyterlab" / f"{place}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(setting))
    folders = {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
    folders |= {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_DATA_DIR": "data"}
    environment = os.environ | {name: str(home / folder) for name, folder in folders.items()}
    environment |= {"IPYTHONDIR": str(home / "ipython"), "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.root_dir={notebooks}"]
    log = home / "log"
    with log.open("w") as out, subprocess.Popen(command, stderr=out, stdout=out, env=environment) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/api/status?token={TOKEN}", server, log)
            yield notebooks, port
        finally:
            server.terminate()


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url):
                return
        except urllib.error.URLError:
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")

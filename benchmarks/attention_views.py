"""The views of bertlab beside those of BertViz: seconds to make, bytes to move, seconds until it is drawn.

Both get the same weights: a softmax of random scores, 12 layers of 12 heads, the hardest to compress. Both
are saved as an HTML file, which the same Chromium opens from the same disk. BertViz loads three scripts from
the network; here they lie beside it, so its seconds hold no waiting. Medians of three runs, BertViz's of one.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import Browser, Page, Route, sync_playwright
from tqdm import tqdm

from bertlab import viz
from bertlab.training import save_result

ROOT = Path(__file__).resolve().parents[1]
NAME = "attention_views"
QUESTION = "What do the head view and the model view cost, in seconds and bytes, beside those of BertViz?"
LAYERS, HEADS = 12, 12
LENGTHS = (64, 128, 512)  # tokens; the last for ours alone: there BertViz would write 1.7 GB a view
VIEWS = ("head_view", "model_view")
PEERS = ROOT / "runs" / "peers"
SCRIPTS = {"require.min.js": "require.js", "jquery.min.js": "jquery.min.js", "d3.min.js": "d3.min.js"}
# A picture is there when BertViz has drawn its lines, or our canvas holds a pixel.
DRAWN = """() => document.querySelectorAll("#vis line, #vis rect").length > 100
  || [...document.querySelectorAll(".bertlab canvas")].some((canvas) => canvas.width && canvas.height
    && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value))"""


def random_attention(n_tokens: int, seed: int) -> tuple[list[torch.Tensor], list[str]]:
    """Weights of a batch of one, a tensor a layer, as in transformers, and their tokens."""
    generator = torch.Generator().manual_seed(seed)
    scores = [torch.randn(1, HEADS, n_tokens, n_tokens, generator=generator) for _ in range(LAYERS)]
    return [torch.softmax(layer, dim=-1) for layer in scores], [f"word{i}" for i in range(n_tokens)]


def ours(view: str, attention: list[torch.Tensor], tokens: list[str], folder: Path) -> dict[str, Any]:
    """Make one of our views as a notebook does, and as a page."""
    make: Callable[..., Any] = getattr(viz, view)
    start = time.perf_counter()
    widget = make(attention, tokens)
    data, _ = widget._repr_mimebundle_()
    seconds = time.perf_counter() - start
    page = widget.save(folder / f"ours-{view}.html")
    return {"make": seconds, "page": page, "notebook": len(data["image/png"]) + len(data["text/plain"])}


def bertviz(view: str, attention: list[torch.Tensor], tokens: list[str], folder: Path) -> dict[str, Any]:
    """Make the same view of BertViz; what it shows in a notebook is saved with the notebook."""
    from bertviz import head_view, model_view

    make = {"head_view": head_view, "model_view": model_view}[view]
    start = time.perf_counter()
    html = make(attention, tokens, html_action="return").data
    seconds = time.perf_counter() - start
    page = folder / f"bertviz-{view}.html"
    page.write_text(f'<!doctype html><meta charset="utf-8"><body>{html}</body>')
    return {"make": seconds, "page": page, "notebook": len(html.encode())}


def local_scripts(route: Route) -> None:
    """Serve BertViz's three scripts from this disk."""
    name = route.request.url.rsplit("/", 1)[-1]
    route.fulfill(path=PEERS / SCRIPTS[name if name.endswith(".js") else f"{name}.js"])


def seconds_until_drawn(browser: Browser, path: Path) -> float:
    """Seconds from opening a page until its picture is there."""
    page: Page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.route("https://cdnjs.cloudflare.com/**", local_scripts)
    page.set_default_timeout(300_000)
    start = time.perf_counter()
    page.goto(path.as_uri(), wait_until="commit")
    page.wait_for_function(DRAWN, polling=10)
    seconds = time.perf_counter() - start
    page.close()
    return seconds


def measure(
    browser: Browser, make: Callable[..., dict[str, Any]], view: str, n_tokens: int
) -> dict[str, Any]:
    """Medians over three draws of weights; BertViz takes minutes, and runs once."""
    runs = []
    for seed in range(3 if make is ours else 1):
        with tempfile.TemporaryDirectory() as folder:
            made = make(view, *random_attention(n_tokens, seed), Path(folder))
            drawn = seconds_until_drawn(browser, made["page"])
            runs.append({**made, "drawn": drawn, "bytes": made["page"].stat().st_size})
    median = {
        key: statistics.median(run[key] for run in runs) for key in ("make", "drawn", "bytes", "notebook")
    }
    return {
        "seconds_to_make": round(median["make"], 2),
        "seconds_until_drawn": round(median["drawn"], 2),
        "megabytes_page": round(median["bytes"] / 1e6, 2),
        "megabytes_in_notebook": round(median["notebook"] / 1e6, 3),
    }


def main() -> None:
    """Measure all views at all lengths, and write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    sys.path.append(str(PEERS))
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None or not (PEERS / "bertviz").is_dir():
        parser.error("needs a Chromium, and BertViz in runs/peers: `make bench` puts it there")
    start, points = time.perf_counter(), []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        arms = [(n, view, ours) for n in LENGTHS for view in VIEWS]
        arms += [(n, view, bertviz) for n in LENGTHS[:-1] for view in VIEWS]
        for n_tokens, view, make in tqdm(arms, desc=NAME):
            whose = "bertlab" if make is ours else "bertviz"
            points.append(
                {"tokens": n_tokens, "view": view, "whose": whose, **measure(browser, make, view, n_tokens)}
            )
        browser.close()
    version = subprocess.run(
        [chromium, "--version"], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    results = {"layers": LAYERS, "heads": HEADS, "chromium": version, "bertviz": "1.4.1", "points": points}
    print(save_result(NAME, QUESTION, results, time.perf_counter() - start, command="make bench"))


if __name__ == "__main__":
    main()

"""Make the pictures of README again: stills out of the notebooks, and live views as a browser shows them.

    python tools/pictures.py        # needs a Chromium

Stills are those of the saved notebooks, byte for byte. Screenshots differ a little between browsers: commit
them when what they show has changed.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
import torch
from playwright.sync_api import sync_playwright
from transformers import AutoModel, AutoTokenizer

from bertlab import viz
from bertlab.datasets import pretrained
from bertlab.viz.widget import Widget

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
STILLS = {"seven-steps": ("01_seq2seq_attention.ipynb", "steps-widget")}  # picture: notebook, cell


def still(notebook: str, cell_id: str) -> bytes:
    """The picture that a cell of a notebook has saved."""
    cells = nbformat.read(ROOT / "notebooks" / notebook, as_version=4).cells
    (cell,) = (cell for cell in cells if cell.id == cell_id)
    (image,) = (out.data["image/png"] for out in cell.outputs if "image/png" in out.get("data", {}))
    return base64.b64decode(image)


def views() -> dict[str, Widget]:
    """The live views that README shows, on the sentences of the gallery."""
    folder = pretrained("all-MiniLM-L6-v2")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    pair = tokenizer("The dog chased the ball.", "It was hungry, not playful.", return_tensors="pt")
    with torch.no_grad():
        maps = model(**pair, output_attentions=True).attentions
    tokens = tokenizer.convert_ids_to_tokens(pair.input_ids[0])
    second, it = pair.token_type_ids[0].tolist().index(1), tokens.index("it")
    return {
        "head-view": viz.head_view(maps, tokens, sentence_b=second, layer=1, queries=[it]),
        "model-view": viz.model_view(maps, tokens, mark="previous"),
    }


def take_screenshots(widgets: dict[str, Widget], chromium: str) -> None:
    """Open each view as a saved page, light and dark, and take its picture."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, widget in widgets.items():
            address = widget.save(Path(folder) / f"{name}.html").as_uri()
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": 908, "height": 900}, color_scheme=scheme)
                page.goto(address)
                page.wait_for_timeout(1000)  # until all heads are unpacked and drawn
                page.locator("body").screenshot(path=PICTURES / f"{name}-{scheme}.png")
        browser.close()


def main() -> None:
    """Write every picture."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("there is no Chromium here: install it to take the screenshots")
    for name, (notebook, cell_id) in STILLS.items():
        (PICTURES / f"{name}.png").write_bytes(still(notebook, cell_id))
    take_screenshots(views(), chromium)


if __name__ == "__main__":
    main()

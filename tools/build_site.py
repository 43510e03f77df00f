"""Build the site: lay out its source in build/site-source, let Sphinx make build/site of it, check its links.

    python tools/build_site.py

Nothing is run and nothing is fetched: notebooks are shown with the outputs that they were saved with, widgets
live where tools/live_pages.py has saved them. A claim without its proof, a warning of Sphinx or a broken
link fails it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import links
import live_pages
import site_pages
from site_book import ROOT, Notebook, course, staged
from site_claims import judge, page, read_claims

SOURCE = ROOT / "build" / "site-source"
SITE = links.SITE
DOCS = ROOT / "docs"


def live_of(notebook: Notebook, live: Path = live_pages.LIVE) -> list[str]:
    """The cells of a notebook whose live pages are there and up to date."""
    is_made = not notebook.is_solution and live_pages.is_made(notebook, live)
    return sorted(path.stem for path in (live / notebook.path.stem).glob("*.html")) if is_made else []


def gallery_examples(notebooks: list[Notebook]) -> dict[str, str]:
    """A live example of the gallery for each function that makes widgets: its address from a notebook."""
    found: dict[str, str] = {}
    for notebook in notebooks:
        if notebook.path.stem == "gallery":
            for name in live_of(notebook):
                source = notebook.cell(name)["source"]
                call = source.rstrip().rpartition("viz.")[2].partition("(")[0]
                if call.isidentifier():
                    found.setdefault(call, f"gallery.html#{name}")
    return found


def lay_out(source: Path, notebooks: list[Notebook], pages: dict[str, str]) -> bool:
    """Write all that Sphinx reads; True if the tree of pages has changed, which every page shows.

    What has not changed is left as it is, and need not be read again.
    """
    examples = gallery_examples(notebooks)
    texts = {Path(f"{name}.md"): text for name, text in pages.items()}
    copies = {
        Path("_static") / "results" / path.name: path for path in (ROOT / "data" / "results").glob("*.json")
    }
    copies |= {path.relative_to(DOCS): path for path in [DOCS / "conf.py", *(DOCS / "_static").iterdir()]}
    for notebook in notebooks:
        stem = notebook.path.stem
        frames = {name: Path("_static") / "live" / stem / f"{name}.html" for name in live_of(notebook)}
        copies |= {frames[name]: live_pages.LIVE / stem / f"{name}.html" for name in frames}
        shown = {} if stem == "gallery" or notebook.is_solution else examples
        live = {name: f"../{path.as_posix()}" for name, path in frames.items()}
        texts[Path(notebook.page()).with_suffix(".ipynb")] = staged(notebook, live, shown)
    written = {name for name, text in texts.items() if _write(source / name, text.encode())}
    for name, path in copies.items():
        _write(source / name, path.read_bytes())
    for path in source.rglob("*"):
        if path.is_file() and path.relative_to(source) not in {*texts, *copies}:
            path.unlink()
    return any("{toctree}" in texts[name] for name in written)


def _write(path: Path, new: bytes) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_bytes() == new:
        return False
    path.write_bytes(new)
    return True


def run_sphinx(source: Path, site: Path) -> int:
    """Build the pages, every warning an error; the exit status."""
    cache = source.parent / "site-cache"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(cache)]
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([*command, str(source), str(site)], env=environment)
    for template in (site / "_static").glob("*webpack-macros.html"):  # the themes', no pages
        template.unlink()
    return done.returncode


def main() -> int:
    """Build and check the site; 0 if nothing is wrong."""
    notebooks = course()
    titles, claims = read_claims()
    judged, missing = judge(claims, notebooks)
    if missing:
        print("the page of claims cannot be made:", *missing, sep="\n")
        return 1
    pages = {
        "index": site_pages.front(notebooks, titles),
        "solutions": site_pages.solutions(notebooks, titles),
        "claims": page(judged, titles),
        "errata": site_pages.errata(notebooks),
        "results": site_pages.results(notebooks),
        "glossary": site_pages.glossary(notebooks),
        **site_pages.reference(),
    }
    if site_pages.LECTURES.exists():
        pages["lectures"] = site_pages.document(site_pages.LECTURES)
    if lay_out(SOURCE, notebooks, pages):
        shutil.rmtree(SITE, ignore_errors=True)  # a page that is no more must not be found
    if run_sphinx(SOURCE, SITE):
        return 1
    print(f"the site is in {SITE.relative_to(ROOT)}: open index.html, or python -m http.server -d build/site")
    return links.main([])


if __name__ == "__main__":
    sys.exit(main())

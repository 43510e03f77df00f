"""Check a folder of HTML pages: every internal link leads somewhere, and no part comes from elsewhere.

    python tools/links.py [FOLDER]        # build/site if none is named

Anchors are checked as well. Links to other sites are counted and not followed. A script, style, picture or
frame from another site is a fault: the pages would not work without a network.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from site_book import ROOT

SITE = ROOT / "build" / "site"
PARTS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}
FROM_STYLE = re.compile(r"""url\(\s*["']?([^"')]+)["']?\s*\)|@import\s+["']([^"']+)["']""")


class Page(HTMLParser):
    """What one page offers and asks for."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.parts: list[str] = []  # what the page loads
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids, links and parts of one element."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and "href" in given:
            is_part = {"stylesheet", "icon", "preload", "modulepreload"} & set(given.get("rel", "").split())
            (self.parts if is_part else self.links).append(given["href"])
        elif tag in PARTS and PARTS[tag] in given:
            self.parts.append(given[PARTS[tag]])


class Fault(NamedTuple):
    """A link that leads nowhere, or a part that comes from elsewhere."""

    page: str
    what: str


def read_pages(folder: Path) -> dict[Path, Page]:
    """Every HTML file below a folder."""
    return {path.resolve(): Page(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))}


def faults(folder: Path) -> tuple[list[Fault], dict[str, int]]:
    """Everything that is wrong, and how many links of which kind were seen."""
    root, pages = folder.resolve(), read_pages(folder)
    found: list[Fault] = []
    seen = {"pages": len(pages), "internal": 0, "anchors": 0, "external": 0}
    for path, page in pages.items():
        name = str(path.relative_to(root))
        for address in page.links:
            found += [Fault(name, what) for what in _link_faults(address, path, root, pages, seen)]
        for address in page.parts:
            found += [Fault(name, what) for what in _part_faults(address, path, root)]
    for style in sorted(folder.rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", style.read_text("utf-8"), flags=re.DOTALL)
        for match in FROM_STYLE.finditer(text):
            what = _part_faults(match[1] or match[2], style.resolve(), root)
            found += [Fault(str(style.relative_to(folder)), said) for said in what]
    return found, seen


def _target(address: str, path: Path, root: Path) -> Path:
    """The file that an internal address names."""
    where = unquote(urlsplit(address).path)
    if not where:
        return path
    target = (root / where.lstrip("/") if where.startswith("/") else path.parent / where).resolve()
    return target / "index.html" if target.is_dir() else target


def _is_elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.scheme or parts.netloc)


def _link_faults(
    address: str, path: Path, root: Path, pages: dict[Path, Page], seen: dict[str, int]
) -> Iterator[str]:
    if _is_elsewhere(address):
        seen["external"] += 1
        return
    seen["internal"] += 1
    target, anchor = _target(address, path, root), unquote(urlsplit(address).fragment)
    if not target.exists():
        yield f"{address}: there is no such file"
    elif anchor and target in pages:
        seen["anchors"] += 1
        if anchor not in pages[target].anchors:
            yield f"{address}: the page is there, the anchor is not"


def _part_faults(address: str, path: Path, root: Path) -> Iterator[str]:
    scheme = urlsplit(address).scheme
    if scheme in ("data", "blob", "about"):
        return
    if _is_elsewhere(address):
        yield f"{address}: is loaded from another site"
    elif not _target(address, path, root).exists():
        yield f"{address}: there is no such file to load"


def main(arguments: Sequence[str]) -> int:
    """Print every fault and what was seen; 0 if there is no fault."""
    folder = Path(arguments[0]) if arguments else SITE
    found, seen = faults(folder)
    print(*(f"{page}: {what}" for page, what in found), sep="\n", end="\n" if found else "")
    print(
        f"{seen['pages']} pages, {seen['internal']} internal links, {seen['anchors']} of them to anchors, "
        f"{seen['external']} to other sites (not followed); {len(found)} broken"
    )
    return int(bool(found) or not seen["pages"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A widget as one HTML file: no network, no Python, nothing beside it."""

import base64
import html
import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# The browser refuses to load anything at all from anywhere: what the file needs is in it.
POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'"
_HARMLESS = bytes.maketrans(b"<>&", b",.:")  # base 85 has three letters that would have to be escaped in HTML
PAGE_STYLE = """:root { color-scheme: light dark; }
@media print { :root { color-scheme: light; } }
body { color: CanvasText; background: Canvas; margin: 24px auto; max-width: 900px; padding: 0 12px;
  font: 14px/1.4 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main id="view">
<noscript>{title} (To draw it, this page needs JavaScript, which is switched off.)</noscript>
</main>
<script type="application/json" id="state">{state}</script>
<script type="application/json" id="chunks">{chunks}</script>
<script type="module">
const widget = (() => {{
{script}
}})();
const offline = (() => {{
{offline}
}})();
offline(widget);
</script>
</body>
</html>
"""


def page(
    script: str,
    style: str,
    offline: str,
    state: dict[str, Any],
    chunks: Iterable[tuple[str, list[bytes]]],
    alt: str,
) -> bytes:
    """The HTML of a widget.

    Parameters
    ----------
    script, style : str
        The widget's own module and style sheet.
    offline : str
        The module that stands in for Jupyter (`static/offline.js`).
    state : dict
        Its synced traits.
    chunks : iterable of (name, buffers)
        What the browser may ask for; compressed here, unpacked when asked for.
    alt : str
        The title, and what a browser that runs no scripts shows.
    """
    packed = {name: [_packed(buffer) for buffer in buffers] for name, buffers in chunks}
    filled = PAGE.format(
        policy=POLICY,
        title=html.escape(alt),
        style=style + PAGE_STYLE,
        state=_json(state),
        chunks=_json(packed),
        script=script.replace("export default", "return"),
        offline=offline.replace("export default", "return"),
    )
    return filled.encode("utf-8")


def _packed(buffer: bytes) -> str:
    """Raw deflate in base 85: a quarter larger than the bytes, but text that every editor and server keeps.

    In weights, runs of zeros repeat and little else: a search for more takes 100 times as long for nothing.
    """
    tries = (_deflated(buffer, way) for way in (zlib.Z_RLE, zlib.Z_HUFFMAN_ONLY))
    return base64.b85encode(min(tries, key=len)).translate(_HARMLESS).decode("ascii")


def _deflated(buffer: bytes, strategy: int) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, strategy=strategy)
    return deflate.compress(buffer) + deflate.flush()


def _json(value: Any) -> str:
    """JSON that can stand inside a script element: no token can close it, or open a comment in it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII: a lone surrogate survives, too
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def refuse_to_overwrite(path: Path) -> None:
    """Raise FileExistsError if `path` is there: nothing is lost silently."""
    if path.exists():
        raise FileExistsError(f"{path} is there already: choose another name, or say overwrite=True")

"""How a figure leaves: as PNG or SVG, and into a notebook with its alternative text."""

import base64
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

import matplotlib as mpl
from IPython.display import display
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from bertlab.viz.style import DPI, WIDTH, house_style

EAST_ASIAN = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff]")
SHORTEST_ALT = 20  # characters; "a heat map" describes nothing


@house_style
def png(fig: Figure) -> bytes:
    """The figure as PNG: the same bytes on every run, since neither a date nor a version is written into it.

    256 colours are enough (no channel is off by more than a few in 255) and make the file a third as large.
    """
    drawn, small = io.BytesIO(), io.BytesIO()
    with _boxes_for_missing_letters():
        _settle(fig)
        fig.savefig(drawn, format="png", dpi=DPI, facecolor="white")
    pixels = Image.open(drawn).convert("RGB")
    pixels.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        small, "PNG", optimize=True
    )
    return small.getvalue()


def _settle(fig: Figure) -> None:
    """Lay a figure out once for all: titles settle only after the first layout has moved the axes."""
    for _ in range(2):
        fig.draw_without_rendering()
    fig.set_layout_engine("none")


@contextmanager
def _boxes_for_missing_letters() -> Iterator[None]:
    """Letters that no font here has are drawn as boxes; a warning for each would fill the notebook."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        yield


@house_style
def svg(fig: Figure) -> bytes:
    """The figure as SVG, with its words as text that can be searched; the same bytes on every run."""
    drawn = io.BytesIO()
    with _boxes_for_missing_letters(), mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bertlab"}):
        _settle(fig)
        fig.savefig(drawn, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()


def check_alt(alt: str) -> str:
    """Give back `alt`, or raise ValueError if it is too short to describe a picture."""
    if len(alt.strip()) < SHORTEST_ALT:
        raise ValueError(
            f"alt={alt!r} does not describe the picture: say in a sentence of at least {SHORTEST_ALT} "
            "characters what a reader who cannot see it should know"
        )
    return alt.strip()


def picture_bundle(fig: Figure, alt: str) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """What a notebook saves of a figure: PNG and alternative text, and the metadata that exports read.

    matplotlib brings no font for Chinese, Japanese and Korean, where browsers have one: a figure with such
    letters is saved as SVG in an HTML image, its words as text.

    Parameters
    ----------
    fig : matplotlib Figure
    alt : str
        The picture in words, for those who cannot see it.

    Returns
    -------
    data, metadata : dict, dict
        By MIME type. nbconvert writes `metadata["image/png"]["alt"]` into the `alt` of its `<img>`.

    Raises
    ------
    ValueError
        If `alt` has fewer than 20 characters.
    """
    alt = check_alt(alt)
    if any(EAST_ASIAN.search(text.get_text()) for text in fig.findobj(Text)):
        source = base64.b64encode(svg(fig)).decode("ascii")
        image = (
            f'<img alt="{escape(alt)}" width="{WIDTH * DPI:.0f}" src="data:image/svg+xml;base64,{source}">'
        )
        return {"text/html": image, "text/plain": alt}, {}
    data = {"image/png": base64.b64encode(png(fig)).decode("ascii"), "text/plain": alt}
    return data, {"image/png": {"alt": alt}}


def show(fig: Figure, alt: str) -> None:
    """Show a figure in a notebook, with its alternative text, and close it.

    When the notebooks are tested, a saved PNG is not compared, but the text beside it is, to the letter: so
    `alt` says what holds on every machine, not the seventh digit of a loss.

    Parameters
    ----------
    fig : matplotlib Figure
    alt : str
        One or two sentences: what is drawn, and what is to be seen in it.

    Raises
    ------
    ValueError
        If `alt` has fewer than 20 characters.
    """
    data, metadata = picture_bundle(fig, alt)
    plt.close(fig)  # otherwise Jupyter shows a figure made with pyplot a second time
    display(data, metadata=metadata, raw=True)

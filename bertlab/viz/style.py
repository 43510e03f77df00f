"""One house style for every picture of the course, and the one way a notebook shows a picture.

The colours are told apart by colour-blind eyes *and* in grey (tests/viz/test_style.py measures both), and a
line never relies on colour alone: each has its own dash and marker. A saved picture is 860 pixels wide, about
as it will be seen on a page, with text that can be read from the last row.
"""

import base64
import io
import textwrap
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from IPython.display import display
from matplotlib import font_manager
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

WIDTH = 8.6  # inches; with DPI this makes pictures of 860 pixels
DPI = 100
TITLE_LENGTH = 66  # characters of a title that fit on one line
SHORTEST_ALT = 20  # characters; "a heat map" describes nothing

BLUE, ORANGE, RED, TEAL, INK = "#00498D", "#DE9500", "#B83E08", "#2B958B", "#1B1B1B"
GREY, PALE = "#6B6B6B", "#E3E6EA"  # what should step back: axes, notes; grids, empty cells
COLOURS = (BLUE, ORANGE, RED, TEAL, INK)
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 2)))
MARKERS = ("o", "s", "^", "D", "v")
# Of heads in widgets: as clear on white as on black, so about equally bright; a head's place tells it, too.
HEAD_COLOURS = ["#2F7FD0", "#D9822B", "#1F9E8F", "#C4538F", "#6B8E23", "#8A63C9", "#C8541A", "#7A7F87"]


def relative_luminance(rgb: np.ndarray) -> np.ndarray:
    """How bright a colour is to the eye, 0 (black) to 1 (white): what a grey print keeps of it.

    Parameters
    ----------
    rgb : (..., 3) array
        sRGB values between 0 and 1.

    References
    ----------
    IEC 61966-2-1 (sRGB); Web Content Accessibility Guidelines 2.2, "relative luminance".
    """
    rgb = np.asarray(rgb, dtype=float)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def lightness(rgb: np.ndarray) -> np.ndarray:
    """Perceived lightness L* of CIELAB, 0 to 100: equal steps look equal.

    Parameters
    ----------
    rgb : (..., 3) array
        sRGB values between 0 and 1.
    """
    y = relative_luminance(rgb)
    return np.where(y > 216 / 24389, 116 * np.cbrt(y) - 16, y * 24389 / 27)


def _even_steps(name: str, anchors: list[str]) -> LinearSegmentedColormap:
    """A colour map through `anchors`, re-spaced until lightness falls by equal amounts."""
    fine = LinearSegmentedColormap.from_list(name, anchors, N=2048)(np.linspace(0, 1, 2048))[:, :3]
    level = lightness(fine)  # falls from white to dark
    places = np.interp(np.linspace(level[0], level[-1], 256), level[::-1], np.linspace(0, 1, 2048)[::-1])
    return LinearSegmentedColormap.from_list(name, fine[np.rint(places * 2047).astype(int)])


# White is 0, dark is much. Twice the weight looks twice as dark, on screen, in grey and on a poor projector.
WEIGHTS = _even_steps("bertlab_weights", ["#FFFFFF", "#C6DBEF", "#6BAED6", "#2171B5", "#08306B", "#041C42"])
# For numbers with a sign. White is 0; grey loses the sign, so cells in these colours also print their number.
_ORANGE_TO_BLUE = ["#C46200", "#F2B661", "#FFFFFF", "#8FB8DE", "#1F66AD"]
SIGNED = LinearSegmentedColormap.from_list("bertlab_signed", _ORANGE_TO_BLUE)


def _fonts() -> list[str]:
    """DejaVu Sans (ships with matplotlib), then what this machine has for Chinese, Japanese, Korean.

    Only fonts that are there: naming an absent one makes matplotlib write to stderr at every picture.
    """
    installed = {font.name for font in font_manager.fontManager.ttflist}
    fallbacks = ("WenQuanYi Micro Hei", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei")
    return ["DejaVu Sans", *(name for name in fallbacks if name in installed)]


STYLE: dict[Any, Any] = {
    "font.family": _fonts(),
    "font.size": 13,
    "figure.figsize": (WIDTH, 4.6),
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "figure.titlesize": 15,
    "figure.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 13,
    "axes.edgecolor": GREY,
    "axes.linewidth": 1.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": PALE,
    "grid.linewidth": 1.0,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "text.color": INK,
    "axes.labelcolor": INK,
    "lines.linewidth": 2.6,
    "lines.markersize": 7,
    "legend.frameon": False,
    "image.cmap": WEIGHTS.name,
    "axes.prop_cycle": cycler(color=COLOURS) + cycler(linestyle=DASHES) + cycler(marker=MARKERS),
}

for _colour_map in (WEIGHTS, SIGNED):
    if _colour_map.name not in mpl.colormaps:
        mpl.colormaps.register(_colour_map)

# Decorates every function that draws: a picture does not depend on the settings of whoever asked for it.
house_style = mpl.rc_context(STYLE)


def use_style() -> None:
    """Give everything that matplotlib draws from here on the house style."""
    mpl.rcParams.update(STYLE)


def new_figure(title: str, height: float = 4.6) -> Figure:
    """An empty figure of the house's width under a title; a long title is wrapped, never cut.

    Parameters
    ----------
    title : str
        The picture's one message, as a sentence.
    height : float
        In inches.
    """
    fig = Figure(figsize=(WIDTH, height), layout="constrained")
    if title:
        fig.suptitle(even_lines(title, TITLE_LENGTH), x=0.012, ha="left")
    return fig


def even_lines(text: str, longest: int) -> str:
    """Break `text` into as few lines of at most `longest` characters as can be, about equally long.

    >>> print(even_lines("one two three four five six", 20))
    one two three
    four five six
    """
    n_lines = len(textwrap.wrap(text, longest))
    narrowest = next(w for w in range(1, longest + 1) if len(textwrap.wrap(text, w)) <= n_lines)
    return textwrap.fill(text, narrowest)


def title_height(title: str) -> float:
    """Inches that the title of `new_figure` takes."""
    return 0.27 * len(textwrap.wrap(title, TITLE_LENGTH)) + 0.1


def text_width(text: str, size: float) -> float:
    """About how wide `text` will be, in inches, in a font of `size` points (before anything is drawn)."""
    return 0.0088 * size * len(text)


def subscript(index: int) -> str:
    """12 as ₁₂."""
    return str(index).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def shown(token: str) -> str:
    r"""A token as it can be seen in a picture: white space that would vanish or break the line gets its sign.

    >>> shown("cat"), shown(" "), shown(""), shown("a\nb")
    ('cat', '␣', '∅', 'a↵b')
    """
    if not token:
        return "∅"
    signs = {"\n": "↵", "\r": "↵", "\t": "⇥"}
    return "".join(signs.get(letter, letter) for letter in (token if token.strip(" ") else "␣" * len(token)))


def number(value: float, decimals: int = 2) -> str:
    """A number as short as a cell needs it: few decimals, no trailing zeros, a true minus sign.

    >>> number(2.0), number(-0.5), number(0.667), number(-0.001)
    ('2', '−0.5', '0.67', '0')
    """
    text = f"{value:.{decimals}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "0") else text.replace("-", "−")


def readable_on(colour: ArrayLike) -> str:
    """Ink or white, whichever stands out more from `colour` (RGB or RGBA, 0 to 1)."""
    y = float(relative_luminance(np.asarray(colour)[:3]))
    ink = float(relative_luminance(np.array(mpl.colors.to_rgb(INK))))
    return "#FFFFFF" if 1.05 / (y + 0.05) > (y + 0.05) / (ink + 0.05) else INK


@house_style
def png(fig: Figure) -> bytes:
    """The figure as PNG: the same bytes on every run, since neither a date nor a version is written into it.

    256 colours are enough (no channel is off by more than a few in 255) and make the file a third as large.
    """
    for _ in range(2):  # titles settle only after the first layout has moved the axes
        fig.draw_without_rendering()
    fig.set_layout_engine("none")
    drawn, small = io.BytesIO(), io.BytesIO()
    fig.savefig(drawn, format="png", dpi=DPI, facecolor="white")
    pixels = Image.open(drawn).convert("RGB")
    pixels.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        small, "PNG", optimize=True
    )
    return small.getvalue()


@house_style
def svg(fig: Figure) -> bytes:
    """The figure as SVG, with its words as text that can be searched; the same bytes on every run."""
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bertlab"}):
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

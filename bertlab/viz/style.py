"""One house style for every picture of the course.

The colours are told apart by colour-blind eyes *and* in grey (tests/viz/test_style.py measures both), and a
line never relies on colour alone: each has its own dash and marker. A saved picture is 860 pixels wide, about
as it will be seen on a page, with text that can be read from the last row.
"""

import re
import textwrap
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib import font_manager
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

WIDTH = 8.6  # inches; with DPI this makes pictures of 860 pixels
DPI = 100
TITLE_LENGTH = 66  # characters of a title that fit on one line

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


# What would vanish, break the line, turn the direction of what follows, or cannot be drawn at all.
_SIGNS = {"\n": "↵", "\r": "↵", "\t": "⇥"}
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)


def shown(token: str) -> str:
    r"""A token as it can be seen: what would vanish or disturb the text around it gets a sign.

    >>> shown("cat"), shown(" "), shown(""), shown("a\nb"), shown("\u200b")
    ('cat', '␣', '∅', 'a↵b', 'U+200B')
    """
    if not token.strip(" "):
        return "␣" * len(token) or "∅"
    if _INVISIBLE.fullmatch(token):
        return " ".join(f"U+{ord(letter):04X}" for letter in token)
    return _UNSEEN.sub(lambda match: _SIGNS.get(match[0], "\ufffd"), token)


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

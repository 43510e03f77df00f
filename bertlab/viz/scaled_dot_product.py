"""A drawing of scaled dot-product attention, every matrix in its shape."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from bertlab.viz.drawing import PALE_BLUE, PALE_ORANGE, PALE_TEAL, Point, arrow, box, canvas, on_arrow
from bertlab.viz.style import BLUE, GREY, ORANGE, PALE, RED, TEAL, house_style, shown, text_width

CELL = 0.24  # inches


class Heights(NamedTuple):
    """Where the middles of Q, K and V lie, in inches: their distance leaves room for names and shapes."""

    q: float
    k: float
    v: float

    @classmethod
    def of(cls, n: int) -> Self:
        """For matrices of `n` rows."""
        lowest, distance = 0.4 + n * CELL / 2, n * CELL + 0.52
        return cls(lowest + 2 * distance, lowest + distance, lowest)


@house_style
def qkv_diagram(tokens: Sequence[str], title: str, focus: int = 1) -> Figure:
    """Draw scaled dot-product attention: from words to Q, K, V, to scores, to weights, to outputs.

    Parameters
    ----------
    tokens : sequence of two to four strings
        One row each; every matrix is drawn in its shape (five columns stand for D, two for dₖ and dᵥ).
    title : str
        What is to be seen, as a sentence.
    focus : int
        The word whose row is marked all the way through.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are not two to four tokens, or `focus` is none of them.

    References
    ----------
    Vaswani et al. 2017, sec. 3.2.1, eq. (1), fig. 2 (left).
    """
    n = len(tokens)
    if not 2 <= n <= 4 or not 0 <= focus < n:
        raise ValueError(f"{n} tokens and focus={focus}: give 2 to 4 tokens and the index of one of them")
    at = Heights.of(n)
    fig, ax = canvas(title, at.q + n * CELL / 2 + 0.4)
    x_in = 0.25 + max(text_width(shown(token), 12.0) for token in tokens) + 2.5 * CELL
    for row, token in enumerate(tokens):
        y = at.k + (n / 2 - row - 0.5) * CELL
        ax.text(
            x_in - 2.5 * CELL - 0.1,
            y,
            shown(token),
            ha="right",
            va="center_baseline",
            fontsize=12,
            parse_math=False,
        )
    _shape(ax, (x_in, at.k), n, 5, ("X", "T × D"), GREY, PALE, focus)
    _projections(ax, x_in, at, n, focus)
    _weighting(ax, at, n, focus)
    return fig


def _projections(ax: Axes, x_in: float, at: Heights, n: int, focus: int) -> None:
    """X times three matrices: Q, K and V, one below the other."""
    start = x_in + 2.5 * CELL + 0.08
    for y, name, width, edge, fill in (
        (at.q, "Q", "ₖ", BLUE, PALE_BLUE),
        (at.k, "K", "ₖ", TEAL, PALE_TEAL),
        (at.v, "V", "ᵥ", ORANGE, PALE_ORANGE),
    ):
        _shape(ax, (3.3, y), n, 2, (name, f"T × d{width}"), edge, fill, focus if name == "Q" else None)
        arrow(ax, (start, at.k + 0.15 * (y - at.k)), (2.95, y))
        on_arrow(ax, ((start + 2.95) / 2, (0.425 * at.k + 0.575 * y)), f"$W_{name}$")


def _weighting(ax: Axes, at: Heights, n: int, focus: int) -> None:
    """Q and K give scores, scores weights, weights and V the output."""
    upper, product, scores, weights, out = (at.q + at.k) / 2, 4.35, 5.55, 7.05, 8.05
    half = n * CELL / 2 + 0.08
    arrow(ax, (3.3 + CELL + 0.08, at.q), (product - 0.3, upper + 0.27))
    arrow(ax, (3.3 + CELL + 0.08, at.k), (product - 0.3, upper - 0.27))
    box(ax, (product, upper), r"$QK^{\top}/\sqrt{d_k}$", GREY, "white", width=1.0)
    arrow(ax, (product + 0.52, upper), (scores - half, upper))
    _shape(ax, (scores, upper), n, n, ("scores", "T × T"), GREY, PALE, focus)
    arrow(ax, (scores + half, upper), (weights - half, upper))
    ax.text((scores + weights) / 2, upper + 0.1, "softmax", ha="center", va="bottom", fontsize=12)
    _shape(ax, (weights, upper), n, n, ("weights", "T × T"), GREY, PALE, focus)
    arrow(ax, (weights, upper - half - 0.22), (weights, at.v + 0.2))
    arrow(ax, (3.3 + CELL + 0.08, at.v), (weights - 0.2, at.v), ORANGE, 2)
    ax.add_patch(Circle((weights, at.v), 0.19, facecolor="white", edgecolor=GREY, linewidth=1.8, zorder=3))
    ax.text(weights, at.v, "·", ha="center", va="center", fontsize=26, zorder=4)
    arrow(ax, (weights + 0.2, at.v), (out - CELL - 0.06, at.v), ORANGE, 2)
    _shape(ax, (out, at.v), n, 2, ("output", "T × dᵥ"), ORANGE, PALE_ORANGE, focus)
    formula = r"output $= \mathrm{softmax}\left(QK^{\top}/\sqrt{d_k}\right)V$"
    ax.text((3.6 + weights) / 2, (at.v + upper - half) / 2, formula, ha="center", va="center", fontsize=14)


def _shape(
    ax: Axes,
    centre: Point,
    n_rows: int,
    n_columns: int,
    names: tuple[str, str],
    edge: str,
    fill: str,
    focus: int | None,
) -> None:
    """A matrix as empty cells, its name above and its shape below, one row marked."""
    width, height = n_columns * CELL, n_rows * CELL
    x, y = centre[0] - width / 2, centre[1] - height / 2
    for i in range(n_rows):
        for j in range(n_columns):
            ax.add_patch(
                Rectangle((x + j * CELL, y + i * CELL), CELL, CELL, facecolor=fill, edgecolor="white")
            )
    ax.add_patch(Rectangle((x, y), width, height, facecolor="none", edgecolor=edge, linewidth=1.8))
    if focus is not None:
        corner = (x, y + (n_rows - 1 - focus) * CELL)
        ax.add_patch(Rectangle(corner, width, CELL, facecolor="none", edgecolor=RED, linewidth=2.6, zorder=3))
    ax.text(centre[0], y + height + 0.06, names[0], ha="center", va="bottom", fontweight="bold")
    ax.text(centre[0], y - 0.06, names[1], ha="center", va="top", fontsize=11, color=GREY)

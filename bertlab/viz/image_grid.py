"""Small grey images side by side, each with its name."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array
from bertlab.viz.style import WIDTH, house_style, new_figure, shown, title_height

MOST_COLUMNS = 10


@house_style
def image_grid(images: ArrayLike, names: Sequence[str], title: str) -> Figure:
    """Draw images in rows of up to ten, dark ink on white paper, with their names below.

    Parameters
    ----------
    images : (n, height, width) array
        0 is paper, the largest number of all images is ink.
    names : sequence of n strings
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there is no image, or not one name for each.
    """
    pixels = as_array(images)
    if pixels.ndim != 3 or not len(pixels) or len(names) != len(pixels):
        raise ValueError(f"{len(names)} names for images of shape {pixels.shape}: give (n, height, width)")
    columns = min(len(pixels), MOST_COLUMNS)
    rows = -(-len(pixels) // columns)
    fig = new_figure(title, rows * (WIDTH / columns + 0.25) + title_height(title))
    axes = list(fig.subplots(rows, columns, squeeze=False).flat)
    ink = pixels.max()
    for ax in axes:
        ax.axis("off")
    for ax, image, name in zip(axes, pixels, names, strict=False):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=ink, interpolation="nearest")
        ax.set_title(shown(name), loc="center", y=-0.28, fontsize=13, fontweight="normal", parse_math=False)
    return fig

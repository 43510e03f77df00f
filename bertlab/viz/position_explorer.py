"""Explorer of a position table: what a position's vector is, what a dimension does, who is like whom."""

from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import traitlets
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import check_index
from bertlab.viz.position_table import (
    SHARE_BEYOND,
    SIGN_COLOURS,
    checked_table,
    colour_limit,
    position_table,
)
from bertlab.viz.widget import Widget, script

MOST_POSITIONS, MOST_DIMENSIONS = 1024, 1024
LEVELS = 32767  # two bytes with a sign: learned tables have a few large numbers among many small ones


class Levels(NamedTuple):
    """A table as `levels * step`."""

    levels: np.ndarray  # (T, D) int16
    step: float


def signed_levels(table: np.ndarray) -> Levels:
    """Round a table to whole steps, 32767 of them from 0 to its largest size.

    Parameters
    ----------
    table : (T, D) array

    Returns
    -------
    Levels
        Off by half a step at most.

    Examples
    --------
    >>> signed_levels(np.array([[-2.0, 0.0, 1.0]])).levels.tolist()
    [[-32767, 0, 16384]]
    """
    step = (float(np.abs(table).max()) or 1.0) / LEVELS
    return Levels(np.rint(table / step).astype("<i2"), step)


def position_payload(table: np.ndarray) -> dict[str, Any]:
    """All that the browser needs beside the table itself.

    Parameters
    ----------
    table : (T, D) array

    Returns
    -------
    dict
        Ready for JSON.
    """
    step, limit = signed_levels(table).step, colour_limit(table)
    return {
        "positions": len(table),
        "dimensions": table.shape[1],
        "step": step,
        "error": np.format_float_positional(step / 2, precision=1, fractional=False, trim="-"),
        "limit": limit,
        "beyond": f"{100 * SHARE_BEYOND:g}" if limit < np.abs(table).max() else "",
        "largest": f"{np.abs(table).max():.2g}",
        "palette": [to_hex(colour) for colour in mpl.colormaps[SIGN_COLOURS](np.linspace(0, 1, 129))],
    }


class PositionExplorer(Widget):
    """A table of positions, and one place in it.

    Attributes
    ----------
    position, dimension : int
        The row and the column that are looked at.
    """

    _esm = script("position_explorer")
    position = traitlets.Int(0).tag(sync=True)
    dimension = traitlets.Int(0).tag(sync=True)

    def __init__(self, table: np.ndarray, title: str, **place: int) -> None:
        self.table, self.title = table, title
        super().__init__({**position_payload(table), "title": title}, **place)

    @traitlets.validate("position", "dimension")
    def _check(self, proposal: Any) -> int:
        name = proposal["trait"].name
        return check_index(name, proposal["value"], self.table.shape[name == "dimension"])

    def chunk_names(self) -> list[str]:
        """The table is sent whole, apart from the rest."""
        return ["table"]

    def chunk(self, name: str) -> list[bytes]:
        """The levels of `signed_levels`, row by row."""
        if name != "table":
            raise KeyError(name)
        return [signed_levels(self.table).levels.tobytes()]

    def still(self) -> Figure:
        """The table with the position and the dimension that are looked at."""
        return position_table(self.table, self.position, self.dimension, self.title)

    @property
    def alt(self) -> str:
        """The picture in words."""
        n_positions, width = self.table.shape
        return (
            f"A table of {n_positions} positions with {width} dimensions as a heat map; below it the vector "
            f"of position {self.position}, dimension {self.dimension} along all positions, and how similar "
            f"position {self.position} is to each other one."
        )


def position_explorer(
    table: ArrayLike, *, position: int = 0, dimension: int = 0, title: str = ""
) -> PositionExplorer:
    """Walk through a table of positions: its rows, its columns, and which rows are alike.

    The similarity is the cosine. For sinusoids it depends on the distance of two positions alone, so that
    moving the slider moves the curve without changing its shape; in a learned table the shape changes, too.

    Parameters
    ----------
    table : (T, D) array
        Sinusoidal or learned, a row for each position; at most 1024 by 1024.
    position, dimension : int
        Where to begin.
    title : str
        Of the picture, as a sentence.

    Returns
    -------
    PositionExplorer
        Its `position` and `dimension` can be read and set.

    Raises
    ------
    ValueError
        If the table has not two axes, is too large, or has no such position or dimension.

    References
    ----------
    Vaswani et al. 2017, sec. 3.5.
    """
    array = checked_table(table)
    if len(array) > MOST_POSITIONS or array.shape[1] > MOST_DIMENSIONS:
        raise ValueError(
            f"a position table of shape {array.shape} is larger than {MOST_POSITIONS} × {MOST_DIMENSIONS}: "
            f"show a part of it, e.g. table[:{MOST_POSITIONS}]"
        )
    return PositionExplorer(array, title, position=position, dimension=dimension)

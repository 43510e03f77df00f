"""What tests of pictures share."""

from __future__ import annotations

import warnings
from itertools import combinations

from matplotlib.figure import Figure
from matplotlib.text import Text


def overlapping(fig: Figure) -> list[tuple[str, str]]:
    """Pairs of texts of a figure, title included, whose boxes meet."""
    fig.draw_without_rendering()
    placed = [(text.get_text(), text.get_window_extent()) for text in [*fig.texts, *fig.axes[0].texts]]
    return [(a, b) for (a, box), (b, other) in combinations(placed, 2) if box.overlaps(other)]


def all_texts(fig: Figure) -> list[Text]:
    """What is written anywhere in a figure, at ticks too, once everything has its place."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")  # drawn as a box
        fig.draw_without_rendering()
    found = [*fig.texts]
    for ax in fig.axes:
        found += ax.texts
        if ax.axison:
            found += [ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
    return [text for text in found if text.get_text()]


def overlapping_anywhere(fig: Figure) -> list[tuple[str, str]]:
    """Pairs of texts of a figure whose boxes meet, in all its axes."""
    placed = [(text.get_text(), text.get_window_extent()) for text in all_texts(fig)]
    return [(a, b) for (a, box), (b, other) in combinations(placed, 2) if box.overlaps(other)]

"""What tests of pictures share."""

from __future__ import annotations

from itertools import combinations

from matplotlib.figure import Figure


def overlapping(fig: Figure) -> list[tuple[str, str]]:
    """Pairs of texts of a figure, title included, whose boxes meet."""
    fig.draw_without_rendering()
    placed = [(text.get_text(), text.get_window_extent()) for text in [*fig.texts, *fig.axes[0].texts]]
    return [(a, b) for (a, box), (b, other) in combinations(placed, 2) if box.overlaps(other)]

"""Which stretch of a text is the answer: scores of each token as start and as end, and the best pair."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from bertlab.viz.payload import as_array
from bertlab.viz.style import BLUE, GREY, INK, ORANGE, house_style, new_figure, shown, title_height

MOST_TOKENS = 24  # more could not be told apart on a page
WIDTH_OF_BAR = 0.38


@house_style
def answer_span(
    tokens: Sequence[str],
    start: ArrayLike,
    end: ArrayLike,
    span: tuple[int, int],
    title: str,
    first: int = 0,
) -> Figure:
    """Draw for each token two bars, its score as start and as end of the answer, and frame the answer.

    Parameters
    ----------
    tokens : sequence of T strings
        At most 24: of a long input, the part around the answer.
    start, end : (T,) arrays
        Scores (logits); what a minus infinity forbids has no bar.
    span : (int, int)
        First and last token of the answer.
    title : str
        What is to be seen, as a sentence.
    first : int
        Where the passage begins; the tokens before it cannot be an answer, and step back.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are not T scores of both, too many tokens, or no such span.
    """
    scores = [as_array(start), as_array(end)]
    if any(score.shape != (len(tokens),) for score in scores):
        raise ValueError(
            f"{len(tokens)} tokens, scores of shapes {scores[0].shape} and {scores[1].shape}: "
            "give one of each to a token"
        )
    if not 0 < len(tokens) <= MOST_TOKENS:
        raise ValueError(f"{len(tokens)} tokens: draw one to {MOST_TOKENS}, those around the answer")
    if not 0 <= first <= span[0] <= span[1] < len(tokens):
        raise ValueError(f"span={span} of {len(tokens)} tokens from {first} on: give its first and last one")
    fig = new_figure(title, 3.6 + title_height(title))
    ax = fig.subplots()
    places = np.arange(len(tokens))
    for score, name, side in zip(scores, ("as start", "as end"), (-0.5, 0.5), strict=True):
        colour = BLUE if side < 0 else ORANGE
        height = np.where(np.isfinite(score), score, 0.0)
        bars = ax.bar(places + side * WIDTH_OF_BAR, height, WIDTH_OF_BAR * 0.92, color=colour, label=name)
        for bar, place in zip(bars, places, strict=True):
            if place < first:
                bar.set_alpha(0.25)
            elif side > 0:
                bar.set_hatch("///")
                bar.set_edgecolor("white")
    ax.axhline(0, color=GREY, linewidth=1, linestyle="-", marker="none")
    ax.axvspan(span[0] - 0.5, span[1] + 0.5, facecolor="none", edgecolor=INK, linewidth=2.2)
    ax.set_xticks(places, [shown(token) for token in tokens], parse_math=False, rotation=40, ha="right")
    for label, place in zip(ax.get_xticklabels(), places, strict=True):
        label.set_color(INK if place >= first else GREY)
        label.set_fontweight("bold" if span[0] <= place <= span[1] else "normal")
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="x", visible=False)
    ax.set(ylabel="score", xlim=(-0.7, len(tokens) - 0.3))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, handlelength=1.2)
    return fig

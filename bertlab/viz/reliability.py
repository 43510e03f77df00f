"""How right somebody is who is so sure: accuracy against confidence, beside the line where both are equal."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from bertlab.viz.labels import End, name_lines
from bertlab.viz.style import COLOURS, DASHES, GREY, MARKERS, house_style, new_figure, title_height

MOST = 4  # models in a figure
Bin = tuple[int, float, float]  # how many answers, mean confidence, share that is right


@house_style
def reliability(models: Mapping[str, Sequence[Bin]], title: str) -> Figure:
    """Draw, for each model, how often it is right against how sure it is; larger marks are more answers.

    Parameters
    ----------
    models : mapping of name to bins (n, confidence, accuracy)
        One to four models. Bins by confidence, in rising order, none empty; shares from 0 to 1.
    title : str
        What is to be seen, as a sentence.

    Returns
    -------
    matplotlib Figure

    Raises
    ------
    ValueError
        If there are too few or too many models, one has no bin, or a number is no share.

    References
    ----------
    DeGroot and Fienberg 1983; Guo et al. 2017, fig. 1.
    """
    if not 0 < len(models) <= MOST:
        raise ValueError(f"{len(models)} models: draw one to {MOST} in a figure, and split the rest")
    for name, bins in models.items():
        if not bins:
            raise ValueError(f"{name!r} has no bin: give how many answers, how sure, how many right")
        for n, confidence, accuracy in bins:
            if n < 1 or not (0 <= confidence <= 1 and 0 <= accuracy <= 1):
                raise ValueError(
                    f"{name!r} has a bin {(n, confidence, accuracy)}: give a count, and shares from 0 to 1"
                )
    fig = new_figure(title, 4.6 + title_height(title))
    ax = fig.subplots()
    lowest = min(sure for bins in models.values() for _, sure, _ in bins)
    ax.plot([lowest, 1], [lowest, 1], color=GREY, linewidth=1.4, linestyle=(0, (2, 2)), marker="none")
    ends = [End("as right as sure", 1.0, GREY, "none")]
    for index, (name, bins) in enumerate(models.items()):
        counts, sure, right = zip(*bins, strict=True)
        colour = COLOURS[index]
        ax.plot(sure, right, color=colour, linestyle=DASHES[index], marker="none", zorder=3)
        sizes = [30 + 250 * n / max(counts) for n in counts]
        ax.scatter(sure, right, sizes, color=colour, marker=MARKERS[index], edgecolors="white", zorder=4)
        ends.append(End(name, right[-1], colour, MARKERS[index]))
    ax.set(xlabel="how sure the model is", ylabel="how often it is right", ylim=(-0.02, 1.04))
    name_lines(ax, ends)
    return fig

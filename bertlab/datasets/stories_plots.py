"""The plots that the package carries, read once."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from bertlab.datasets.stories_grammar import Grammar
from bertlab.datasets.stories_reader import GrammarError, read_grammar


@lru_cache
def default_grammar(*plots: str) -> Grammar:
    """Return the grammar that the package carries.

    Parameters
    ----------
    plots : only these, a smaller world that is sooner learnt; all of them, if none is named.

    Raises
    ------
    GrammarError
        If there is no such plot.

    Examples
    --------
    >>> len(default_grammar().plots), len(default_grammar("fishing", "savings").plots)
    (17, 2)
    """
    folder = resources.files("bertlab.datasets").joinpath("story_plots")
    first = ["lexicon", "shared"]
    names = {entry.name.removesuffix(".txt") for entry in folder.iterdir() if entry.name.endswith(".txt")}
    known = sorted(names - {*first})
    for plot in plots:
        if plot not in known:
            raise GrammarError(f"there is no plot {plot!r}: choose among {', '.join(known)}")
    wanted = [*first, *(sorted({*plots}) or known)]
    return read_grammar(folder.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in wanted)

"""`fables()`: two hundred English sentences that are always there, to look at a trained model with."""

from __future__ import annotations

from importlib import resources


def fables() -> list[str]:
    """Return sentences of Aesop's fables, in the order of the book.

    Public domain: the translation of George Fyler Townsend, 1867, without its titles and quotation marks.
    A sentence that is spoken inside another one stands by itself.

    Returns
    -------
    204 sentences of 3 to 57 words.

    Examples
    --------
    >>> fables()[1]
    'He thus addressed him: Sirrah, last year you grossly insulted me.'
    """
    return resources.files("bertlab.datasets").joinpath("fables.txt").read_text(encoding="utf-8").splitlines()

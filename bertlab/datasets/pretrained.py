"""`pretrained(name)`: the folder of a published model, whose files `python -m bertlab get NAME` brings."""

from __future__ import annotations

from pathlib import Path

from bertlab.datasets import fetch, registry
from bertlab.datasets.errors import DataUnavailable, UnknownName
from bertlab.datasets.registry import Card


def pretrained(name: str) -> Path:
    """Return the folder with the files of a published model, which must be there already.

    They are large, so nothing is downloaded here. A mirror named by BERTLAB_DATA_MIRROR counts as there.

    Parameters
    ----------
    name : str
        One of `names("pretrained")`. "all-MiniLM-L6-v2" is a 6-layer BERT encoder (384 wide, 12 heads of 32),
        trained further for sentence embeddings, without MLM head; "glove-6b-50d" is 400,000 word vectors.

    Raises
    ------
    UnknownName
        If there is no published model of that name.
    DataUnavailable
        If its files are not there; the sentence names the command that brings them.

    References
    ----------
    MiniLM: Wang et al. 2020; sentence embeddings: Reimers and Gurevych 2019; GloVe: Pennington et al. 2014.
    """
    card = _card(name)
    if fetch.fetch_local(card):
        raise DataUnavailable(f"{name} is not on this machine yet: run `python -m bertlab get {name}`")
    return fetch.folder_of(card)


def _card(name: str) -> Card:
    known = registry.names("pretrained")
    if name not in known:
        raise UnknownName(registry.unknown("published model", name, known))
    return registry.card(name)

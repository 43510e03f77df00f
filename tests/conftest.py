"""What all tests share: figures without a screen, the same examples everywhere, and a cache left unharmed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from tests.wing import NN, REFERENCE, Wing

os.environ.setdefault("MPLBACKEND", "agg")

# Derandomized: a test turns red because the code changed, not because another example was drawn today.
hypothesis.settings.register_profile("bertlab", deadline=None, derandomize=True)
hypothesis.settings.load_profile("bertlab")


@pytest.fixture(scope="session", autouse=True)
def the_cache_keeps_what_it_holds() -> Iterator[None]:
    """Fail the run if a test changed or removed a file of the reader's own cache of data and models."""
    from bertlab.datasets.fetch import cache_folder

    folder = cache_folder()

    def files() -> dict[Path, tuple[int, int]]:
        found = (path for path in folder.rglob("[!.]*") if path.is_file())
        return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in found}

    before = files()
    yield
    after = files()
    harmed = [path.name for path, state in before.items() if after.get(path) != state]
    assert not harmed, f"a test changed the cache at {folder}: {harmed}"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(params=[REFERENCE, NN], ids=lambda wing: wing.name, scope="session")
def wing(request: pytest.FixtureRequest) -> Wing:
    """`bertlab.reference`, then `bertlab.nn`: both take and give NumPy arrays here."""
    return request.param

"""Public data where the machine has it."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(scope="session")
def mirrored(tmp_path_factory):
    """Skip where no mirror folder has the public data sets; else read it through a cache of its own."""
    if not os.environ.get("BERTLAB_DATA_MIRROR"):
        pytest.skip("BERTLAB_DATA_MIRROR names no folder with the public data sets")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERTLAB_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield

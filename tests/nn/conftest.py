"""Every test of the PyTorch wing starts from the same random state."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _one_seed() -> None:
    torch.manual_seed(0)

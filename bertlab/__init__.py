"""bertlab: the tested package behind the notebooks of a course on BERT.

`setup` is the first line of every notebook; `best_device` picks where to compute. The rooms:
`reference` (NumPy, forward and backward), `nn` (PyTorch), `text`, `datasets`, `training`, `viz`, `classroom`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__version__ = "0.1.0"
__all__ = ["best_device", "setup"]


def setup(seed: int = 0) -> None:
    """Make a notebook give the same results and the same pictures at every run.

    Seeds Python, NumPy and PyTorch, computes in one thread by deterministic algorithms, prints four decimals,
    and sets the style of the figures.

    Parameters
    ----------
    seed : any integer from 0 to 2**32 - 1.

    Raises
    ------
    ValueError
        If the seed is out of that range.
    """
    import random

    import numpy as np
    import torch

    from bertlab.viz import use_style

    if not 0 <= seed < 2**32:
        raise ValueError(f"seed={seed}: choose an integer from 0 to {2**32 - 1}")
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - for libraries that still draw from the global state
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # sums in another order differ in the last digits
    torch.use_deterministic_algorithms(True)
    np.set_printoptions(precision=4, suppress=True, floatmode="fixed")
    torch.set_printoptions(precision=4, sci_mode=False)
    use_style()


def best_device() -> torch.device:
    """Pick the fastest place to compute that is there: cuda, mps, or cpu."""
    import torch

    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")

"""What does a layer of self-attention cost beside a recurrent one, as sequences and widths grow?

Times forward and backward of one layer on one thread: our self-attention with all its projections, our GRU,
which is a loop in Python, and `torch.nn.GRU`, the same recurrence as a loop in C++. A grid of lengths T and
widths D; the median of several repeats, taken in turns, so that a slow moment of the machine hits all alike.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from bertlab.nn import GRU, SelfAttention
from bertlab.training import save_result

NAME = "self_attention_cost"
QUESTION = "How do the seconds of self-attention and of a GRU grow with the length T and the width D?"
LENGTHS = (16, 32, 64, 128, 256, 512, 1024, 2048)
WIDTHS = (32, 64, 128, 256, 512)
LENGTH, WIDTH = 256, 64  # what the other grid holds fixed
BATCH, REPEATS = 4, 7
LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "self-attention": lambda d: SelfAttention(d, d),
    "GRU": lambda d: GRU(d, d),
    "torch.nn.GRU": lambda d: nn.GRU(d, d, batch_first=True),
}


def once(layer: nn.Module, x: Tensor) -> float:
    """Seconds of one forward and backward."""
    start = time.perf_counter()
    output, _ = layer(x)
    output.sum().backward()
    return time.perf_counter() - start


def measure(length: int, width: int) -> dict[str, Any]:
    """Time every layer at one length and width, in turns."""
    torch.manual_seed(0)
    layers = {name: make(width) for name, make in LAYERS.items()}
    x = torch.randn(BATCH, length, width, requires_grad=True)
    for layer in layers.values():
        once(layer, x)  # the first run also allocates
    times = [{name: once(layer, x) for name, layer in layers.items()} for _ in range(REPEATS)]
    milliseconds = {name: round(1000 * statistics.median(t[name] for t in times), 3) for name in layers}
    return {"length": length, "width": width, "milliseconds": milliseconds}


def main() -> None:
    """Measure the whole grid anew, one point after the other, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    grid = [(length, WIDTH) for length in LENGTHS] + [(LENGTH, width) for width in WIDTHS if width != WIDTH]
    rows = [measure(length, width) for length, width in tqdm(grid, desc=NAME)]
    settings = {"batch": BATCH, "repeats": REPEATS, "threads": 1, "length": LENGTH, "width": WIDTH}
    save_result(NAME, QUESTION, {"arms": rows, "settings": settings}, seconds=time.process_time() - start)


if __name__ == "__main__":
    main()

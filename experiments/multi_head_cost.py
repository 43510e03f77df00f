"""Do more heads cost more? One layer of attention of width 512, split into 1 to 64 heads.

Times forward and backward on one thread, with the weights computed one by one (softmax and all) and by
PyTorch's fused attention, which never keeps them. Counts multiplications, parameters, and the bytes of the
weights. Seconds are those of the processor, medians of several repeats taken in turns: other programs on the
machine hardly change them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode
from tqdm import tqdm

from bertlab.nn import MultiHeadAttention
from bertlab.training import save_result

NAME = "multi_head_cost"
QUESTION = "Does a layer of attention cost more when its width is split into more heads?"
HEADS = (1, 2, 4, 8, 16, 32, 64)
LENGTHS = (64, 512)
WIDTH, BATCH, REPEATS = 512, 2, 9


def once(layer: MultiHeadAttention, x: Tensor, need_weights: bool) -> float:
    """Seconds of the processor for one forward and backward."""
    start = time.process_time()
    layer(x, x, x, need_weights=need_weights)[0].sum().backward()
    return time.process_time() - start


def multiplications(layer: MultiHeadAttention, x: Tensor) -> int:
    """Multiplications of one forward, weights computed one by one."""
    with FlopCounterMode(display=False) as counter:
        layer(x, x, x, need_weights=True)
    operations: int = counter.get_total_flops()
    return operations // 2  # it counts a multiplication and an addition as two


def measure(length: int) -> list[dict[str, Any]]:
    """Time every number of heads at one length, in turns, both ways."""
    torch.manual_seed(0)
    layers = {heads: MultiHeadAttention(WIDTH, heads) for heads in HEADS}
    x = torch.randn(BATCH, length, WIDTH, requires_grad=True)
    ways = {"by steps": True, "fused": False}
    arms = [(heads, way) for heads in HEADS for way in ways]
    rounds = [
        {(heads, way): once(layers[heads], x, ways[way]) for heads, way in arms}
        for _ in tqdm(range(REPEATS + 1), desc=f"{NAME}: length {length}")
    ][1:]  # the first round also allocates
    return [
        {
            "length": length,
            "heads": heads,
            "milliseconds": {
                way: round(1000 * statistics.median(t[heads, way] for t in rounds), 2) for way in ways
            },
            "multiplications": multiplications(layers[heads], x),
            "parameters": sum(p.numel() for p in layers[heads].parameters()),
            "bytes_of_weights": 4 * BATCH * heads * length**2,
        }
        for heads in HEADS
    ]


def main() -> None:
    """Measure everything anew, then write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    torch.set_num_threads(1)
    start = time.process_time()
    rows = [row for length in LENGTHS for row in measure(length)]
    settings = {"width": WIDTH, "batch": BATCH, "repeats": REPEATS, "threads": 1}
    save_result(NAME, QUESTION, {"arms": rows, "settings": settings}, seconds=time.process_time() - start)


if __name__ == "__main__":
    main()

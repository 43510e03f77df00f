"""Steps of BERT's pre-training beside `transformers`: forward, backward and AdamW, on the same batch.

Theirs is `BertForPreTraining` as people use it: fused attention (sdpa), labels at all positions, fused AdamW;
in float32, and in bfloat16 by `torch.autocast`. Ours computes the same: before anything is timed, same
weights must give the same loss and gradients. Our fastest mode is `InBfloat16`, and packs where lengths
differ.

Freed memory that a process keeps (`keep_freed_memory`, which `bertlab pretrain` calls) helps both, so theirs
is timed with it and without, in two processes that take turns. All contenders take turns in every round, each
once alone on the machine; ratios are of medians, and those of the best beside them. Peak memory is that of
processes which do nothing else, Python and libraries included. Useful work counts real tokens and hidden
pieces only; its share is that of the rate of large matrix products measured in the same rounds.

What was tried besides, on the CPU of the record, and is not in it: fused attention in bfloat16 (the step of
mini took 257 ms with it and 174 without); autocast instead of `InBfloat16` (184 and 174); weights in bfloat16
throughout (168, but steps too small for bfloat16 are lost); one group for each length in packing (attention
took 13.2 ms a layer, in six groups 6.3), and packing for fused attention (18 ms); random bytes from NumPy's
SFC64 instead of PyTorch's generator (2.4 and 5.3 ms for all of a step); sums of biases as matrix products
(0.35 and 0.37 ms). Matrix products are three quarters of what is left. `torch.compile` is not timed here.

    python benchmarks/pretraining.py                          # all cases for CPUs, some minutes
    python benchmarks/pretraining.py --cases mini             # one; the record is written when all are done
    python benchmarks/pretraining.py --device cuda            # BERT-base, printed only; never run yet
    python benchmarks/pretraining.py --quick                  # a model of no use, to see that it runs
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from _pretraining_peers import MODES, Case, Peers, matmul_flops, peak_mebibytes, seconds
from tqdm import tqdm

from bertlab.training import save_result
from bertlab.training.memory import keep_freed_memory
from bertlab.training.results import RUNS

NAME = "pretraining"
QUESTION = "How fast is a step of BERT's pre-training, beside transformers?"
ROUNDS = 5
CASES = {
    "mini": Case("mini", 8192, 32, 128, dropouts=(0.0, 0.1)),
    "mini, 30,522 pieces": Case("mini", 30_522, 32, 128),
    "mini, lengths 16 to 128": Case("mini", 8192, 32, 128, shortest=16),
    "base, 8 inputs": Case("base", 30_522, 8, 128),
}
MEMORY = {"memory, mini, 30,522 pieces": CASES["mini, 30,522 pieces"]}
ON_A_GPU = {
    "base, 128 positions": Case("base", 30_522, 256, 128, dropouts=(0.0, 0.1), device="cuda"),
    "base, 512 positions": Case("base", 30_522, 64, 512, dropouts=(0.0, 0.1), device="cuda"),
    "base, lengths 16 to 512": Case("base", 30_522, 64, 512, shortest=16, device="cuda"),
}
QUICK = {"tiny": Case("tiny", 500, 4, 16, shortest=4, dropouts=(0.0, 0.1))}
GIVING_BACK = "theirs {}, freed memory given back"  # a process as it comes

Times = dict[str, list[float]]


def serve(pipe: Connection, case: Case, keep: bool, threads: int) -> None:
    """Be one of the processes: build everything, then time what is asked for."""
    if keep:
        keep_freed_memory()
    torch.set_num_threads(threads)
    peers = {dropout: Peers(case, dropout) for dropout in case.dropouts}
    pipe.send(peers[0.0].differences() | {"flops": peers[0.0].flops, "tokens": peers[0.0].tokens})
    for name, dropout in iter(pipe.recv, None):
        if name.startswith("matmul"):
            pipe.send(matmul_flops(name.split()[1], case.device))
        else:
            pipe.send(seconds(peers[dropout].steps[name], case.device))


def rounds(case: Case, n: int, threads: int) -> tuple[dict[str, Any], Times]:
    """Let all contenders take turns; how equal both sides are, and the seconds of each."""
    context = multiprocessing.get_context("spawn")
    pipes, processes = {}, []
    for keep in (True, False):
        pipes[keep], other = context.Pipe()
        processes.append(context.Process(target=serve, args=(other, case, keep, threads), daemon=True))
        processes[-1].start()
        other.close()
    equal, _ = (pipe.recv() for pipe in pipes.values())
    turns = [(f"matmul {mode}", 0.0, True) for mode in MODES]
    for dropout in case.dropouts:
        turns += [(f"{side} {mode}", dropout, True) for side in ("theirs", "ours") for mode in MODES]
        turns += [(f"theirs {mode}", dropout, False) for mode in MODES]
    times: Times = {label(*turn): [] for turn in turns}
    for number in tqdm(range(n + 1), desc=case.size):  # the first is to warm up
        for turn in turns:
            pipes[turn[2]].send(turn[:2])
            measured = pipes[turn[2]].recv()
            if number:
                times[label(*turn)].append(measured)
    for pipe, process in zip(pipes.values(), processes, strict=True):
        pipe.send(None)
        process.join()
    return equal, times


def label(name: str, dropout: float, keep: bool) -> str:
    """Name a contender in the record."""
    name = name if keep else GIVING_BACK.format(name.split()[1])
    return f"{name}, dropout {dropout}" if dropout else name


def in_a_fresh_process(case: Case, name: str, keep: bool) -> float:
    """Measure the peak memory of a contender that is alone."""
    with multiprocessing.get_context("spawn").Pool(
        1, initializer=keep_freed_memory if keep else None
    ) as pool:
        return pool.apply(peak_mebibytes, (case, name))


def summary(case: Case, equal: dict[str, Any], times: Times) -> dict[str, Any]:
    """Turn seconds into ratios and rates."""
    rates = {mode: statistics.median(times.pop(f"matmul {mode}")) for mode in MODES}
    flops = equal.pop("flops")
    middle = {name: statistics.median(found) for name, found in times.items()}
    best = {name: min(found) for name, found in times.items()}
    tokens = equal.pop("tokens")

    def ratio(theirs: str, ours: str) -> list[float]:
        return [round(kind[theirs] / kind[ours], 2) for kind in (middle, best)]

    as_used = GIVING_BACK.format("float32")
    ratios = {
        "float32, to theirs as used": ratio(as_used, "ours float32"),
        "float32, to theirs keeping memory": ratio("theirs float32", "ours float32"),
        "fastest, to theirs as used": ratio(as_used, "ours bfloat16"),
        "fastest, to theirs keeping memory": ratio("theirs float32", "ours bfloat16"),
        "fastest, to their bfloat16 as used": ratio(GIVING_BACK.format("bfloat16"), "ours bfloat16"),
        "fastest, to their bfloat16 keeping memory": ratio("theirs bfloat16", "ours bfloat16"),
    }
    for dropout in case.dropouts[1:]:
        end = f", dropout {dropout}"
        for mode in MODES:
            ratios[f"cost{end}, ours {mode}"] = ratio(f"ours {mode}{end}", f"ours {mode}")
        ratios[f"cost{end}, theirs float32"] = ratio(f"theirs float32{end}", "theirs float32")
        ratios[f"fastest{end}, to theirs as used"] = ratio(as_used + end, f"ours bfloat16{end}")
    return {
        "apart_from_theirs": equal,
        "median_and_best_ratios": ratios,
        "median_ms": {name: round(1000 * s, 1) for name, s in middle.items()},
        "best_ms": {name: round(1000 * s, 1) for name, s in best.items()},
        "tokens_a_second": {name: round(tokens / s) for name, s in middle.items()},
        "matmul_gflops_a_second": {mode: round(rate / 1e9) for mode, rate in rates.items()},
        "useful_share_of_matmul_rate": {
            name: round(flops / s / rates[name.split()[1].rstrip(",")], 3) for name, s in middle.items()
        },
    }


def measure(case: Case, n: int, threads: int) -> dict[str, Any]:
    """Measure the times of a case."""
    start = time.perf_counter()
    return {**summary(case, *rounds(case, n, threads)), "seconds": round(time.perf_counter() - start, 1)}


def memory(case: Case) -> dict[str, Any]:
    """Measure the most memory that each contender ever has."""
    start, as_used = time.perf_counter(), GIVING_BACK.format("float32")
    peaks = {as_used: in_a_fresh_process(case, "theirs float32", keep=False)}
    for who in ("ours float32", "ours bfloat16"):
        peaks[who] = in_a_fresh_process(case, who, keep=True)
    found = {"peak_mebibytes": {who: round(peak) for who, peak in peaks.items()}}
    found["times_less"] = {who: round(peaks[as_used] / peak, 2) for who, peak in peaks.items()}
    return {**found, "seconds": round(time.perf_counter() - start, 1)}


def main(arguments: list[str] | None = None) -> None:
    """Measure what was asked for, and write the record when nothing is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", nargs="+", choices=[*CASES, *MEMORY], default=[*CASES, *MEMORY])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args(arguments)
    if chosen.quick or chosen.device == "cuda":
        for name, case in (QUICK if chosen.quick else ON_A_GPU).items():
            n = 1 if chosen.quick else chosen.rounds
            print(json.dumps({name: measure(case, n, chosen.threads)}, indent=1))
        return
    folder: Path = RUNS / f"{NAME}_steps"
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen.cases:
        case = MEMORY.get(name)
        found = memory(case) if case else measure(CASES[name], chosen.rounds, chosen.threads)
        (folder / f"{name}.json").write_text(json.dumps(found))
    kept = {name: folder / f"{name}.json" for name in (*CASES, *MEMORY)}
    if not all(path.exists() for path in kept.values()):
        print(f"still to do: {[name for name, path in kept.items() if not path.exists()]}")
        return
    results = {name: json.loads(path.read_text()) for name, path in kept.items()}
    cost = sum(found.pop("seconds") for found in results.values()) * chosen.threads
    told = {"transformers": version("transformers"), "threads": chosen.threads, "rounds": chosen.rounds}
    print(save_result(NAME, QUESTION, told | {"cases": results}, cost, command="make bench"))


if __name__ == "__main__":
    main()

"""Claims about memory that a process keeps."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROBE = """
import resource, sys, torch
from bertlab.training.memory import keep_freed_memory
done = keep_freed_memory() if sys.argv[1] == "keep" else False
for _ in range(8):
    torch.ones(16_000_000)  # the heap first grows, a few times, until a block fits into it
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.ones(16_000_000)  # 64 MB each, 16,000 pages: too large for glibc to keep by itself
print(done, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(mode: str) -> tuple[bool, int]:
    run = [sys.executable, "-c", PROBE, mode]
    done, faults = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    return done == "True", int(faults)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc alone has mallopt")
def test_memory_that_is_kept_need_not_be_asked_for_again():
    done, faults = page_faults("keep")
    if not done:
        pytest.skip("this C library has no mallopt")
    assert faults < page_faults("give back")[1] / 10

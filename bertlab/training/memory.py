"""Where the time of a small model on a CPU goes besides arithmetic: asking the system for memory."""

from __future__ import annotations

import ctypes
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # names and numbers of glibc's malloc.h


def keep_freed_memory() -> bool:
    """Let the process keep memory that was freed, instead of giving it back and asking for it again.

    Every large tensor is otherwise mapped anew, and zeroed page by page. Call it once, before the first large
    tensor. On anything but Linux with glibc it does nothing.

    Returns
    -------
    True if it was done.

    References
    ----------
    mallopt(3), M_MMAP_THRESHOLD and M_TRIM_THRESHOLD.
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # musl
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, 2**30) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))

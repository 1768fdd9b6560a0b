"""How the C library hands memory out, in a process that follows a stream: what was freed goes back to the system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, cast

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
"""Names of settings, in glibc's malloc.h."""
LARGE = 1 << 20
"""Bytes from which on memory is asked of the system, and given back when it is freed."""
ARENAS = 2


def give_large_back() -> None:
    """Let large arrays have pages of their own, and threads share their heaps. Nothing happens where libc is another.

    By default glibc raises its idea of "large" up to 32 MB whenever something large is freed. Arrays that grow by being
    copied, and copies of the model, then leave holes on the heap that nothing fits into; and each thread has a heap.
    """
    mallopt = _of_c_library("mallopt")
    if mallopt is not None:
        for setting, value in ((MMAP_THRESHOLD, LARGE), (TRIM_THRESHOLD, 4 * LARGE), (ARENA_MAX, ARENAS)):
            mallopt(setting, value)


def trim_memory() -> None:
    """Whole pages that are free in the middle of a heap, too.

    A copy of the model is made of pieces of every size, and the next one does not fit into the gaps that it leaves
    between what is in use: a process would grow for days although nothing in it does.
    """
    trim = _of_c_library("malloc_trim")
    if trim is not None:
        trim(0)


@cache
def _of_c_library(name: str) -> Callable[..., Any] | None:
    """A function of glibc; None where the C library is another."""
    try:
        return cast(Callable[..., Any], getattr(ctypes.CDLL(None), name))
    except (OSError, TypeError, AttributeError):
        return None

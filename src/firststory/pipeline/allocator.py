"""Memory of a process that follows a stream: what was freed goes back to the system, and the compiler's code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
"""Names of settings, in glibc's malloc.h."""
LARGE = 1 << 20
"""Bytes from which on memory is asked of the system, and given back when it is freed."""
ARENAS = 2
COMPILER = "libllvmlite"
MADV_DONTNEED = 4
"""The name of an advice, in Linux's mman.h."""


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
    """Whole pages that are free in the middle of a heap, too, and the code of the compiler.

    A copy of the model is made of pieces of every size, and the next one does not fit into the gaps that it leaves
    between what is in use: a process would grow for days although nothing in it does.
    """
    trim = _of_c_library("malloc_trim")
    if trim is not None:
        trim(0)
    with suppress(OSError, AttributeError):
        _put_aside_compiler()


def _put_aside_compiler() -> None:
    """Let the system have the memory of numba's compiler, which has nothing to do once the kernels are loaded.

    Code that is mapped from a file and cannot be written to is read from there again, should it be run.
    """
    madvise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
        if COMPILER in line and " r-xp " in line:
            begin, end = (int(place, 16) for place in line.partition(" ")[0].split("-"))
            madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_DONTNEED)


@cache
def _of_c_library(name: str) -> Callable[..., Any] | None:
    """A function of glibc; None where the C library is another."""
    try:
        return cast(Callable[..., Any], getattr(ctypes.CDLL(None), name))
    except (OSError, TypeError, AttributeError):
        return None

"""What a stream leaves behind in memory: hardly any reference cycles, but freed pieces that are not given back."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def paused_collection() -> Iterator[None]:
    """Let the collector of reference cycles wait until the end.

    A step makes tens of thousands of small values and no cycles. In the midst of it the collector would look at all
    of them, find that they are in use, and come back soon; at the end most are gone by themselves.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def tune_collection() -> None:
    """For a process that does nothing but follow a stream: what is loaded stays, and cycles are looked for rarely.

    By default the collector comes after every 700 new values, and looks at everything whenever a quarter is new.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def trim_memory() -> None:
    """Hand freed memory back to the system, where the C library can (glibc; elsewhere nothing happens).

    A copy of the model is hundreds of megabytes in pieces of every size. Once it is written they are free, but glibc
    keeps what lies between pieces in use, and the next copy does not fit into the same gaps: a process grows for days
    although nothing in it does.
    """
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # musl, macOS; Windows knows no library without a name
        return None

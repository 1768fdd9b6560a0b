"""Streams and the garbage collector, which looks for reference cycles: there are next to none to be found."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from firststory.pipeline.allocator import give_large_back


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

    And memory that was freed goes back to the system.

    By default the collector comes after every 700 new values, and looks at everything whenever a quarter is new.
    """
    give_large_back()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)

"""Who wants to know that a kernel is being compiled: it takes seconds, and people wonder what they are waiting for.

Numba is not imported here, so that commands which compile nothing stay quick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[bool], None]
"""Is called with True when a kernel begins to be compiled and with False when it is done; calls may be nested."""


class KernelCacheWarning(UserWarning):
    """Compiled kernels are kept in a temporary folder, or not at all: the next start may compile them again."""


_listeners: list[Listener] = []
_is_kept = True


def is_kept() -> bool:
    """Whether the next process finds what this one compiles."""
    return _is_kept


def not_kept() -> None:
    """There is no place to keep it."""
    global _is_kept
    _is_kept = False


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within this block the listener hears of every kernel that is compiled."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def listen_alone(listener: Listener) -> None:
    """From now on nobody else hears of it: in a process that was copied from one with listeners."""
    _listeners[:] = [listener]


def tell(is_beginning: bool) -> None:
    """Tell everyone who listens."""
    for listener in _listeners:
        listener(is_beginning)

"""The two decorators that every kernel wears.

Arrays and numbers only: a kernel that takes a jitclass or a function is recompiled in every process, a flat one
comes from the disk cache. No signature strings: they compile at import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile on first call, keep the machine code on disk, release the GIL while running."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


def parallel_kernel(function: F) -> F:
    """The same, with `numba.prange` loops spread over threads."""
    return cast(F, numba.njit(cache=True, nogil=True, parallel=True)(function))

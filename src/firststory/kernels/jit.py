"""The decorator that every kernel wears.

Arrays and numbers only: a kernel that takes a jitclass or a function is recompiled in every process, a flat one
comes from the disk cache. No signature strings: they compile at import.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile on first call, keep the machine code on disk, release the GIL while running."""
    return cast(F, _stamped(numba.njit(cache=True, nogil=True)(function)))


def _stamped(compiled: Any) -> Any:
    """Let machine code on disk be good only as long as no kernel changes.

    A kernel holds the code of the kernels that it calls, but numba looks at the file of the caller alone: without this,
    code of an earlier version would go on running after an upgrade.
    """
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, _all_kernels())
    return compiled


@cache
def _all_kernels() -> str:
    """A fingerprint of all files of this folder."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()

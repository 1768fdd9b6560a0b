"""Run a kernel over blocks of rows, on one thread or several. Blocks never depend on the number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def n_threads(n_jobs: int | None) -> int:
    """scikit-learn's meaning of `n_jobs`: None is 1, -1 every core, -2 all but one."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


def run_blocks(function: Callable[[int, int], Result], n: int, size: int, n_jobs: int | None = 1) -> list[Result]:
    """`[function(0, size), function(size, 2 * size), ...]` up to n, in order; the kernels inside release the GIL.

    Examples
    --------
    >>> run_blocks(lambda start, stop: stop - start, 5, 2, n_jobs=2)
    [2, 2, 1]
    """
    bounds = [(start, min(start + size, n)) for start in range(0, n, size)]
    threads = min(n_threads(n_jobs), len(bounds))
    if threads <= 1:
        return [function(*bound) for bound in bounds]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda bound: function(*bound), bounds))

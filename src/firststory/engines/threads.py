"""Several threads of this process: kernels release the GIL, so that they run beside one another."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from firststory.engines.engine import Residents, Result
from firststory.engines.residents import LocalResidents


class ThreadsEngine:
    """Computes pieces on so many threads; 0 is one for each core that this process may use.

    Examples
    --------
    >>> with ThreadsEngine(2) as engine:
    ...     engine.map(pow, [1, 2, 3], 2)
    [1, 4, 9]
    """

    def __init__(self, n_threads: int = 0) -> None:
        self.name = f"threads:{n_threads}" if n_threads else "threads"
        self.n_threads = n_threads or len(os.sched_getaffinity(0))
        self._pool = ThreadPoolExecutor(self.n_threads, thread_name_prefix="firststory")

    def map(self, function: Callable[..., Result], pieces: Sequence[Any], *shared: Any) -> list[Result]:
        if len(pieces) < 2:
            return [function(piece, *shared) for piece in pieces]
        return list(self._pool.map(lambda piece: function(piece, *shared), pieces))

    def settle(self, load: Callable[[Any], Any], call: Callable[[Any, Any, Any], Any]) -> Residents:
        return LocalResidents(self, self.n_threads, load, call)

    def close(self) -> None:
        self._pool.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

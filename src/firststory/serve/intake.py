"""What is pushed, on its way to the disk: requests that come at once share one transaction, and wait for it once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from starlette.concurrency import run_in_threadpool

MOST_AT_ONCE = 20_000
"""Documents of one transaction."""


class Intake:
    """Writes documents in the order in which they come; whoever waits is told when theirs are on the disk.

    Parameters
    ----------
    keep : callable
        Keeps documents; what it raises is raised for every request of the transaction.
    """

    def __init__(self, keep: Callable[[Sequence[str]], object]) -> None:
        self._keep = keep
        self._waiting: list[tuple[Sequence[str], asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        """Documents that wait to be written."""
        return sum(len(documents) for documents, _ in self._waiting)

    async def add(self, documents: Sequence[str]) -> None:
        """Return when these are on the disk."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((documents, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        await done

    async def _write(self) -> None:
        try:
            while self._waiting:
                taken = [self._waiting.pop(0)]
                size = len(taken[0][0])
                while self._waiting and size + len(self._waiting[0][0]) <= MOST_AT_ONCE:
                    taken.append(self._waiting.pop(0))
                    size += len(taken[-1][0])
                problem: Exception | None = None
                try:
                    await run_in_threadpool(self._keep, [one for documents, _ in taken for one in documents])
                except Exception as error:
                    problem = error
                for _, done in taken:
                    if done.done():  # whoever asked has gone
                        continue
                    if problem is None:
                        done.set_result(None)
                    else:
                        done.set_exception(problem)
        finally:
            self._writing = None

"""Placing the documents of judged batches on a thread of its own, while the next batch is judged; the order stays."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from firststory.store.step_to_write import StepToWrite


class Placing:
    """A thread that places one batch after the other.

    Parameters
    ----------
    hand_on : callable
        Is given each step, by that thread.
    fail : callable
        Is given the exception that ended it: nothing is placed after it.
    """

    def __init__(self, hand_on: Callable[[StepToWrite], None], fail: Callable[[BaseException], None]) -> None:
        self._hand_on, self._fail = hand_on, fail
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="placer")
        self._last: Future[None] | None = None
        self._has_failed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        """What was judged is placed."""
        self._pool.shutdown(wait=True)

    def begin(self, place: Callable[[], StepToWrite]) -> None:
        """Let a batch be placed after those before it."""
        self._last = self._pool.submit(self._run, place)

    def wait(self) -> None:
        """Wait until every batch is placed."""
        if self._last is not None:
            self._last.result()

    def _run(self, place: Callable[[], StepToWrite]) -> None:
        if self._has_failed:
            return
        try:
            self._hand_on(place())
        except BaseException as error:  # the thread that judges raises it
            self._has_failed = True
            self._fail(error)

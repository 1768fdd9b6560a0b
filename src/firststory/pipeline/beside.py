"""Work of a step that nothing else in it waits for at once: done in its turn, or by a thread beside the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Started(Generic[T]):
    """Something that was begun. Whoever began it asks for the result, also where all else failed: until then it runs.

    Examples
    --------
    >>> Started(sum, [1, 2]).result(), Started(sum, [1, 2], beside=True).result()
    (3, 3)
    """

    def __init__(self, function: Callable[..., T], *arguments: Any, beside: bool = False) -> None:
        self._function, self._arguments = function, arguments
        self._result: list[T] = []
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True) if beside else None
        if self._thread is not None:
            self._thread.start()

    def result(self) -> T:
        """What came of it, or the exception."""
        if self._thread is not None:
            self._thread.join()
        else:
            self._run()
        if self._problem is not None:
            raise self._problem
        return self._result[0]

    def _run(self) -> None:
        try:
            self._result = [self._function(*self._arguments)]
        except BaseException as error:
            self._problem = error

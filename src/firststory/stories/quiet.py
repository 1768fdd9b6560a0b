"""Which stories have been quiet longest, without looking at all of them at every step."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection

CurrentNumber = Callable[[int], float | None]
"""A key's number as it is now; None where the key is gone."""


FEW = 1000
"""Keys that are gone and may stay in the queue in any case."""


class QuietFirst:
    """Keys in the order of a number that only grows, such as the time of a story's last document.

    A key's number is noted when the key is added and looked up again when its turn comes: most have grown by then and
    go back into the queue. Each step costs what leaves, not what stays.

    Examples
    --------
    >>> queue, last = QuietFirst(), {1: 5.0, 2: 3.0, 3: 9.0}
    >>> for key in last:
    ...     queue.add(0.0, key)
    >>> queue.pop_before(6.0, last.get), queue.pop_first(1, last.get)
    ([2, 1], [3])
    """

    def __init__(self) -> None:
        self._queue: list[tuple[float, int]] = []

    def add(self, number: float, key: int) -> None:
        """From now on the key waits for its turn."""
        heapq.heappush(self._queue, (number, key))

    def __len__(self) -> int:
        return len(self._queue)

    def drop_gone(self, current: CurrentNumber, n_living: int) -> None:
        """Make room where most keys of the queue are gone: their own turn may never come."""
        if len(self._queue) > 2 * n_living + FEW:
            self._queue = [pair for pair in self._queue if current(pair[1]) is not None]
            heapq.heapify(self._queue)

    def pop_before(self, bound: float, current: CurrentNumber) -> list[int]:
        """Remove the keys whose number is below the bound, smallest first."""
        found = []
        while self._queue and self._queue[0][0] < bound:
            key = self._head_if_current(current)
            if key is not None and self._queue[0][0] < bound:
                found.append(key)
                heapq.heappop(self._queue)
        return found

    def pop_first(self, n: int, current: CurrentNumber, without: Collection[int] = ()) -> list[int]:
        """Remove the n keys with the smallest numbers; those of `without` are removed too and not counted."""
        found: list[int] = []
        while self._queue and len(found) < n:
            key = self._head_if_current(current)
            if key is not None:
                heapq.heappop(self._queue)
                if key not in without:
                    found.append(key)
        return found

    def _head_if_current(self, current: CurrentNumber) -> int | None:
        """The key at the head if its number is still the same; otherwise it is put back in its place, or removed."""
        number, key = self._queue[0]
        now = current(key)
        if now is None:
            heapq.heappop(self._queue)
        elif now > number:
            heapq.heapreplace(self._queue, (now, key))
        else:
            return key
        return None

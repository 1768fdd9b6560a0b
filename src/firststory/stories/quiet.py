"""Which stories have been quiet longest, without looking at all of them at every step."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection

Now = Callable[[int], float | None]
"""What a key's number is by now; None where the key is gone."""


class QuietFirst:
    """Keys in the order of a number that only grows, such as the time of a story's last document.

    A key's number is noted when it is added and looked up again when its turn comes: most have grown by then and go
    back into the queue. Each step costs what leaves, not what stays.

    Examples
    --------
    >>> queue, last = QuietFirst(), {1: 5.0, 2: 3.0, 3: 9.0}
    >>> for key in last:
    ...     queue.add(0.0, key)
    >>> queue.before(6.0, last.get), queue.first(1, last.get)
    ([2, 1], [3])
    """

    def __init__(self) -> None:
        self._queue: list[tuple[float, int]] = []

    def add(self, number: float, key: int) -> None:
        """From now on the key waits for its turn."""
        heapq.heappush(self._queue, (number, key))

    def before(self, bound: float, now: Now) -> list[int]:
        """The keys whose number is below the bound, smallest first; they leave."""
        found = []
        while self._queue and self._queue[0][0] < bound:
            key = self._settled(now)
            if key is not None and self._queue[0][0] < bound:
                found.append(key)
                heapq.heappop(self._queue)
        return found

    def first(self, n: int, now: Now, without: Collection[int] = ()) -> list[int]:
        """The n keys with the smallest numbers; they leave, and so do those of `without`, who are not counted."""
        found: list[int] = []
        while self._queue and len(found) < n:
            key = self._settled(now)
            if key is not None:
                heapq.heappop(self._queue)
                if key not in without:
                    found.append(key)
        return found

    def _settled(self, now: Now) -> int | None:
        """The key at the head if its number is what it was; otherwise it goes where it belongs, or away."""
        number, key = self._queue[0]
        current = now(key)
        if current is None:
            heapq.heappop(self._queue)
        elif current > number:
            heapq.heapreplace(self._queue, (current, key))
        else:
            return key
        return None

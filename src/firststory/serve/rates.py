"""How often each client may come: a bucket that fills evenly, and of which every request takes one."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_CLIENTS = 10_000
"""Clients that are remembered; those who were away longest are forgotten."""


class Buckets:
    """One bucket for each client.

    Parameters
    ----------
    per_second : float
        Requests that a client may make for ever.
    burst : int
        Requests that it may make at once.

    Examples
    --------
    >>> buckets = Buckets(2.0, 3, clock=lambda: 0.0)
    >>> [buckets.wait("a") for _ in range(4)], buckets.wait("b")
    ([0.0, 0.0, 0.0, 0.5], 0.0)
    """

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, float(burst), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What is left, and when it was counted."""

    def wait(self, client: str, cost: float = 1.0) -> float:
        """Seconds that a client must wait; 0: it may go on, and has paid."""
        left, now = self._left(client), self._clock()
        if left < cost:
            return (cost - left) / self._per_second
        self._buckets[client] = (left - cost, now)
        self._buckets.move_to_end(client)
        while len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0

    def is_empty(self, client: str) -> bool:
        """Whether a client would have to wait; takes nothing."""
        return self._left(client) < 1.0

    def _left(self, client: str) -> float:
        left, counted = self._buckets.get(client, (self._burst, 0.0))
        return min(self._burst, left + (self._clock() - counted) * self._per_second)

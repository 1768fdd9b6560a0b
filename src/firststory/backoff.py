"""How long to wait before trying again."""

from __future__ import annotations

import random
from collections.abc import Callable

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the first retry, and the most before any."""


def wait_before(
    attempt: int,
    asked: float | None = None,
    *,
    longest: float = LONGEST_WAIT,
    draw: Callable[[], float] = random.random,
) -> float:
    """Seconds before a retry: twice as long each time, and random, so that clients do not return all at once.

    Examples
    --------
    >>> [wait_before(attempt, draw=lambda: 1.0) for attempt in (0, 1, 2, 20)]
    [0.5, 1.0, 2.0, 60.0]
    >>> wait_before(0, asked=30.0, draw=lambda: 0.0)
    30.0
    """
    most = min(FIRST_WAIT * 2.0 ** min(attempt, 30), longest)
    return max(most * (0.5 + 0.5 * draw()), asked or 0.0)

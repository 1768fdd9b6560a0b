"""How fast a story grows: documents per day over the week before some moment, counted by the hour.

Hours and not documents are kept, so that a story of any size needs the same room, and a later reader of a story can
tell how fast it grows by then.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from firststory.units import HOUR_SECONDS

GROWTH_DAYS = 7.0

Hours = Iterable[tuple[int, int]]
"""(hours since 1970, documents in that hour)."""


def first_hour(now: float) -> int:
    """The first hour that counts at a moment, in hours since 1970."""
    return int((now - GROWTH_DAYS * 24 * HOUR_SECONDS) // HOUR_SECONDS) + 1


def growth(hours: Hours, now: float) -> float:
    """Documents a day at a moment (seconds since 1970).

    Examples
    --------
    >>> growth([(0, 3), (200, 7), (210, 7)], now=210 * HOUR_SECONDS), growth([(0, 3)], now=400 * HOUR_SECONDS)
    (2.0, 0.0)
    """
    first = first_hour(now)
    return per_day(sum(n for hour, n in hours if hour >= first))


@lru_cache(maxsize=1 << 10)
def per_day(documents: int) -> float:
    """The documents of a week, per day."""
    return round(documents / GROWTH_DAYS, 4)

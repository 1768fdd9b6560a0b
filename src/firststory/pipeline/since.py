"""Since when: a moment, or how long before the end of the stream.

No clock is read: the end of the stream is the latest time that it has seen. For a stream that is being followed that
is now; in an archive "24h" is its last day.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from firststory.errors import DocumentError, ParameterError
from firststory.sources.times import parse_time

Since = datetime | timedelta | str | None

_LENGTH = re.compile(r"([0-9.]+)\s*(min|minutes?|h|hours?|d|days?|w|weeks?)")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DAYS_BACK = {"today": 0, "yesterday": 1}


def parse_since(since: Since, end: datetime | None) -> datetime | None:
    """The moment that is meant, or None for all of the stream, also where the stream has no times (`end` is None).

    Examples
    --------
    >>> end = datetime(2026, 11, 15, 22, 30, tzinfo=UTC)
    >>> [f"{parse_since(one, end):%d %H:%M}" for one in ("24h", "90min", "7d", "yesterday", "2026-11-01", timedelta(1))]
    ['14 22:30', '15 21:00', '08 22:30', '14 00:00', '01 00:00', '14 22:30']
    """
    if since is None:
        return None
    word = since.strip().lower() if isinstance(since, str) else ""
    try:
        if word in _DAYS_BACK:
            return None if end is None else _midnight(end) - timedelta(days=_DAYS_BACK[word])
        length = since if isinstance(since, timedelta) else _length(word)
        if length is not None:
            return None if end is None else end - length
        moment = parse_time(since) if isinstance(since, (datetime, str)) else None
    except (DocumentError, ValueError, OverflowError) as error:
        raise _wrong(since) from error
    if moment is None:
        raise _wrong(since)
    return moment


def _length(word: str) -> timedelta | None:
    found = _LENGTH.fullmatch(word)
    return None if found is None else float(found[1]) * _UNITS[found[2][0]]


def _midnight(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _wrong(since: object) -> ParameterError:
    return ParameterError(
        owner="alerts",
        parameter="since",
        allowed="a time, or a length of time before the end of the stream",
        received=since,
        remedy="Write it as 24h, 90min, 7d, today, yesterday, or 2026-11-15T22:00:00Z.",
    )

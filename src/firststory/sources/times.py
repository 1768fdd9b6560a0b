"""Times as people write them, as a datetime in UTC."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from numbers import Real
from typing import Any

from firststory.errors import DocumentError
from firststory.records import ASSUMED_UTC
from firststory.sources.absent import is_absent

_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0.0, 1.0))
"""Epoch numbers this large are nanoseconds, microseconds, milliseconds, seconds: 1e11 s is the year 5138."""

_OTHER_FORMATS = ("%a %b %d %H:%M:%S %z %Y", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d")


def parse_time(value: Any) -> datetime | None:
    """ISO 8601, an epoch number (s, ms, µs or ns) or an e-mail date; None where there is none.

    Examples
    --------
    >>> parse_time("2026-11-15T22:00:00+01:00").isoformat()
    '2026-11-15T21:00:00+00:00'
    >>> parse_time(1500000000) == parse_time(1500000000000)
    True
    """
    if is_absent(value) or (isinstance(value, str) and not value.strip()):
        return None
    try:
        if type(value) is str:  # nearly all
            return _from_text(value.strip())
        if type(value).__name__ == "datetime64":  # of numpy, which counts in units of its own
            value = value.astype("datetime64[us]").item()
        elif not isinstance(value, (bool, int, float, str)) and isinstance(value, Real):
            value = float(value)
        if isinstance(value, bool):
            raise ValueError("a truth value")
        if isinstance(value, datetime):
            return _in_utc(value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=ASSUMED_UTC)
        if isinstance(value, (int, float)):
            return _from_epoch(float(value))
        return _from_text(str(value).strip())
    except (ValueError, OverflowError, OSError, TypeError, IndexError) as error:
        raise DocumentError(
            "bad-time",
            owner="document",
            parameter="time",
            allowed="ISO 8601 or seconds since 1970",
            received=value,
            remedy="Write it as 2026-11-15T22:00:00Z, or leave it out.",
        ) from error


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is ASSUMED_UTC:
        return moment
    return moment.replace(tzinfo=ASSUMED_UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _from_epoch(number: float) -> datetime:
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    unit = next(unit for least, unit in _UNITS if abs(number) >= least)
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=number / unit)


def _from_text(text: str) -> datetime:
    if text[4:5] == "-" and text[:4].isdecimal():  # nearly all: no number looks like this
        try:
            return _in_utc(datetime.fromisoformat(text))
        except ValueError:
            pass
    try:
        # A year alone is ISO too, but a bare number of more digits is an epoch.
        if len(text) > 8 or not text.isdigit():
            return _from_epoch(float(text))
    except ValueError:
        pass
    try:
        return _in_utc(datetime.fromisoformat(text))
    except ValueError:
        pass
    for layout in _OTHER_FORMATS:
        try:
            return _in_utc(datetime.strptime(text, layout))
        except ValueError:
            pass
    return _in_utc(parsedate_to_datetime(text))

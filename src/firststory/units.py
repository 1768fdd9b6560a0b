"""Units of time, and the number that stands for no bound."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

MINUTE_SECONDS = 60.0
HOUR_SECONDS = 3600.0
DAY_SECONDS = 86400.0

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

UNBOUNDED = 2**62
"""A window or a limit that is never reached."""

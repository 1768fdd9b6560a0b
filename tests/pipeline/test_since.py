"""Since when: moments, and lengths before the end of the stream."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from firststory.errors import ParameterError
from firststory.pipeline.since import parse_since

END = datetime(2026, 11, 15, 22, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "ago"),
    [("24h", 24), ("1 day", 24), ("90 min", 1.5), ("2 hours", 2), ("7d", 168), ("1w", 168), ("0.5h", 0.5),
     (timedelta(hours=3), 3), ("today", 22.5), (" Yesterday ", 46.5)],
)  # fmt: skip
def test_lengths_are_counted_from_the_end_of_the_stream(since, ago):
    assert parse_since(since, END) == END - timedelta(hours=ago)


def test_moments_need_no_end():
    east = datetime(2026, 11, 15, 1, tzinfo=timezone(timedelta(hours=2)))
    for end in (None, END):
        assert parse_since("2026-11-14T23:00:00Z", end) == parse_since(east, end) == END - timedelta(hours=23.5)
        assert parse_since("2026-11-15", end) == END - timedelta(hours=22.5)


@pytest.mark.parametrize("since", ["24h", "yesterday", timedelta(1), None])
def test_a_stream_without_times_has_all_of_it(since):
    assert parse_since(since, None) is None


@pytest.mark.parametrize("since", ["", "soon", "24", "1.2.3h", "99999999999999d", "5 parsec", 7])
@pytest.mark.parametrize("end", [END, None])
def test_what_cannot_be_meant_is_refused_with_a_remedy(since, end):
    with pytest.raises(ParameterError, match=r"since.*Write it as 24h"):
        parse_since(since, end)

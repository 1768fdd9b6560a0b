"""The chart of a report has a true axis of time."""

from __future__ import annotations

from datetime import date

from firststory.digest.report import MAX_DAYS, _columns


def test_days_without_documents_are_columns_too():
    columns = _columns({date(2024, 1, 1): 4, date(2024, 1, 5): 8}, [])
    assert [one["documents"] for one in columns] == [4, 0, 0, 0, 8]
    assert [one["height"] for one in columns] == [50.0, 0.0, 0.0, 0.0, 100.0]


def test_only_the_latest_days_are_shown():
    columns = _columns({date(2020, 1, 1): 4, date(2024, 1, 5): 8}, [])
    assert len(columns) == MAX_DAYS and columns[-1]["day"] == date(2024, 1, 5)
    assert _columns({}, []) == []

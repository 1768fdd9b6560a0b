"""Alerts in one sentence each."""

from __future__ import annotations

from datetime import datetime, timedelta

from firststory.harmless import harmless
from firststory.records import Document
from firststory.units import DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS

MAX_SOURCE_CHARACTERS = 60


def told_by(voices: int, by_text: bool, within: str, first: Document, is_dated: bool) -> str:
    """
    >>> told_by(5, False, "2.9 hours", Document("1", "x", source="Reuters"), False)
    'Told by 5 sources within 2.9 hours; first seen here: Reuters.'
    """
    what = "different texts" if by_text else "sources"
    return f"Told by {voices} {what} within {within}; first seen here{named(first, is_dated)}."


def turned(terms: tuple[str, ...], voices: int, by_text: bool, within: str, first: Document, is_dated: bool) -> str:
    """
    >>> turned(("convicted",), 4, False, "2 hours", Document("1", "x", source="AP"), False)
    'A turn of a running story: 4 sources say “convicted” within 2 hours; first seen here: AP.'
    """
    words = ", ".join(f"“{term}”" for term in terms[:3]) or "the same"
    what = "texts" if by_text else "sources"
    begun = f"first seen here{named(first, is_dated)}"
    return f"A turn of a running story: {voices} {what} say {words} within {within}; {begun}."


def first_report(chance: float, first: Document, is_dated: bool) -> str:
    """
    >>> first_report(0.31, Document("1", "x", source="AP"), False)
    'Nothing earlier is like it; others follow such a report in 31 % of cases. First seen here: AP.'
    """
    followed = f"others follow such a report in {100 * chance:.0f} % of cases"
    return f"Nothing earlier is like it; {followed}. First seen here{named(first, is_dated)}."


def named(document: Document, is_dated: bool) -> str:
    """Who told it and when."""
    facts = [harmless(document.source, MAX_SOURCE_CHARACTERS)] if document.source else []
    if document.time is not None:
        facts.append(
            f"{document.time.day} {document.time:%B}"
            if is_dated
            else f"{document.time.hour:02}:{document.time.minute:02}"
        )
    return f": {', '.join(facts)}" if facts else ""


def span(delay: timedelta | None, documents: int, is_dated: bool) -> str:
    """From the first report to now, in words; in documents where there are no times.

    Examples
    --------
    >>> span(timedelta(hours=2.9), 7, False), span(timedelta(days=1), 7, True), span(None, 7, False)
    ('2.9 hours', '2 days', '7 documents')
    """
    if delay is None:
        return "1 document" if documents == 1 else f"{documents} documents"
    seconds = delay.total_seconds()
    if is_dated:
        days = round(seconds / DAY_SECONDS) + 1
        return "1 day" if days == 1 else f"{days} days"
    if seconds < HOUR_SECONDS:
        minutes = max(1, round(seconds / MINUTE_SECONDS))
        return "1 minute" if minutes == 1 else f"{minutes} minutes"
    return f"{seconds / HOUR_SECONDS:.1f} hours"


def delay_between(first: datetime | None, fired: datetime | None) -> timedelta | None:
    """Never below zero: a document may come late."""
    if first is None or fired is None:
        return None
    return max(timedelta(0), fired - first)

"""Topics in words for people: what names them, since when, and what their share is compared with."""

from __future__ import annotations

from datetime import datetime, timedelta

from firststory.harmless import harmless
from firststory.records import Topic

MONTH = timedelta(days=30)


def topic_name(topic: Topic) -> str:
    """The phrases that name a topic; its heaviest terms where it has no label.

    Examples
    --------
    >>> from firststory.records import Topic
    >>> topic_name(Topic("l1", (), 0.1, label=("caravan", "migrant", "Border Patrol")))
    'caravan, migrant, Border Patrol'
    """
    return harmless(", ".join(topic.label or [term for term, _ in topic.terms[:3]]), 120)


def earlier(topic: Topic, now: datetime | None) -> str:
    """What the earlier share is compared with."""
    is_month = now is not None and topic.before is not None and topic.before <= now - MONTH
    return "a month ago" if is_month else "at first"


def when(time: datetime | None, step: int) -> str:
    """A day; in a stream without times a step.

    Examples
    --------
    >>> when(datetime(2018, 10, 24, 16, 37), 91), when(None, 91)
    ('2018-10-24', 'step 91')
    """
    return f"step {step}" if time is None else f"{time:%Y-%m-%d}"

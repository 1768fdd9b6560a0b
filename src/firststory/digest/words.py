"""Times, counts and alerts in words for people; made harmless, whoever wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from firststory.harmless import display_title, harmless
from firststory.records import Alert, Document

PUSHED = ("confirmed", "turn")
"""The kinds that people are told at once; first reports are quiet."""
KIND_NAMES = {"confirmed": "confirmed", "turn": "turn", "first_seen": "first seen"}
MAX_SOURCES = 12
"""Sources that are named; the others are counted."""
MAX_NAME = 40
"""Characters of the name of a source."""
SENTENCE_CHARACTERS = 300
WHO_WAS_FIRST = ("; first seen here", ". First seen here")
"""How the last part of an alert's sentence begins, see `alerts/events/sentences.py`."""


MAX_TERM = 60
"""Characters of a term."""
_HEADINGS = {"person": "Who: ", "place": "Where: ", "organisation": "Organisations: ", "other": ""}


def iso(time: datetime | None) -> str | None:
    """A time for programs."""
    return None if time is None else time.isoformat().replace("+00:00", "Z")


def day(time: datetime | None) -> str:
    """A time for people: the day alone where the clock shows midnight exactly, as streams of days do."""
    if time is None:
        return "–"
    return f"{time:%Y-%m-%d}" if is_midnight(time) else f"{time:%Y-%m-%d %H:%M}"


def is_midnight(time: datetime) -> bool:
    """Whether the clock shows midnight exactly."""
    return (time.hour, time.minute, time.second) == (0, 0, 0)


def length(delay: timedelta) -> str:
    """A length of time for people.

    Examples
    --------
    >>> [length(timedelta(minutes=n)) for n in (0.2, 12, 174, 1440, 4000)]
    ['1 min', '12 min', '2.9 h', '1 day', '2.8 days']
    """
    minutes = delay.total_seconds() / 60
    if minutes < 60:
        return f"{max(1, round(minutes))} min"
    if minutes < 24 * 60:
        return f"{minutes / 60:.1f} h"
    days = round(minutes / 60 / 24, 1)
    return "1 day" if days == 1 else f"{days:g} days"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "source"), counted(2613, "story", "stories")
    ('1 source', '2,613 stories')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def named_sources(sources: Sequence[str], limit: int = MAX_SOURCES) -> str:
    """The names of sources; those beyond the limit are counted.

    Examples
    --------
    >>> named_sources(["Reuters", "AP", "dpa"], limit=2)
    'Reuters, AP and 1 more'
    """
    names = [harmless(source, MAX_NAME) for source in sources]
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def who_and_when(document: Document) -> str:
    """Who published a document, and when; empty where neither is known."""
    who = [harmless(document.source, MAX_NAME)] if document.source else []
    when = [day(document.time)] if document.time is not None else []
    return ", ".join(who + when)


def first_seen(alert: Alert) -> str:
    """Who had it first and how much earlier; the title too, where the headline is of another document."""
    first = alert.first
    who = [harmless(first.source, MAX_NAME)] if first.source else []
    when = [f"{length(alert.delay)} earlier"] if alert.delay else []
    title = [display_title(first)] if first.id != alert.headline.id else []
    told = [", ".join(who + when), *title]
    return "first seen: " + " · ".join(filter(None, told)) if any(told) else ""


def why(alert: Alert) -> str:
    """The sentence of an alert without who was first, for where that stands beside it.

    Examples
    --------
    >>> from firststory.records import Document
    >>> told = "Told by 3 sources within 2.9 hours; first seen here: AP, 11:46."
    >>> why(Alert("a1", "confirmed", *[Document("1", "x")] * 2, None, None, (), (), (), None, None, 1.0, told))
    'Told by 3 sources within 2.9 hours.'
    """
    sentence = alert.sentence
    for beginning in WHO_WAS_FIRST:
        kept, found, _ = sentence.rpartition(beginning)
        if found:
            sentence = kept + "."
    return harmless(sentence, SENTENCE_CHARACTERS)


def quoted(alert: Alert) -> str:
    """The sentence of a document that tells the event, in quotation marks; empty where there is none.

    Examples
    --------
    >>> from firststory.records import Document
    >>> told = "A bridge fell."
    >>> quoted(Alert("a1", "turn", *[Document("1", "x")] * 2, None, None, (), (), (), None, None, 1.0, "", told))
    '“A bridge fell.”'
    """
    return f"“{harmless(alert.summary, SENTENCE_CHARACTERS)}”" if alert.summary else ""


def about(alert: Alert, sentence: str = "") -> str:
    """What an alert is about: people, places and organisations as such, then everything else; not what is said already.

    Examples
    --------
    >>> from firststory.records import Document
    >>> terms, kinds = ("Genoa", "bridge falls", "Jane Doe"), ("place", "other", "person")
    >>> about(Alert("a1", "turn", *[Document("1", "x")] * 2, None, None, (), (), terms, None, None, 1.0, "", "", kinds))
    'Who: Jane Doe · Where: Genoa · bridge falls'
    """
    kinds = alert.kinds or ("other",) * len(alert.terms)
    parts = []
    for kind, heading in _HEADINGS.items():
        terms = [
            harmless(term, MAX_TERM)
            for term, own in zip(alert.terms, kinds, strict=False)
            if own == kind and f"“{term}”" not in sentence
        ]
        if terms:
            parts.append(heading + ", ".join(terms))
    return " · ".join(parts)


def named_ids(alert: Alert) -> str:
    """The ids of an alert, its story and its storyline."""
    story = [f"story {alert.story}"] if alert.story else []
    storyline = [f"storyline {alert.storyline}"] if alert.storyline else []
    return " · ".join([alert.id, *story, *storyline])

"""The record of an alert: who told it, and how late it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from firststory.alerts.events.clock import AlertClock
from firststory.alerts.events.memory import EventMemory
from firststory.alerts.events.sentences import delay_between, span
from firststory.records import Alert, AlertKind, Document

TITLE_CHARACTERS = 200
"""Of a text that has no title."""


class AlertWriter:
    """Writes alerts from ordinals; numbers them a1, a2, ..."""

    def __init__(self, memory: EventMemory, clock: AlertClock, n_alerts: int = 0) -> None:
        self._memory, self._clock = memory, clock
        self.n_alerts = n_alerts

    def document(self, ordinal: int) -> Document:
        """A remembered document."""
        return self._memory.documents[ordinal].whole()

    def write(
        self,
        kind: AlertKind,
        story: str,
        documents: Sequence[int],
        *,
        first: Document,
        headline: Document,
        now: float,
        score: float,
        terms: tuple[str, ...],
        sentence: str,
    ) -> Alert:
        """The alert that rests on these documents."""
        self.n_alerts += 1
        ids, sources = self._memory.told(documents)
        return Alert(
            id=f"a{self.n_alerts}",
            kind=kind,
            first=first,
            headline=headline,
            fired_at=self._fired_at(now),
            delay=self._delay(first, now),
            documents=ids,
            sources=sources,
            terms=terms,
            story=story,
            storyline=None,
            score=round(score, 4),
            sentence=sentence,
        )

    def span(self, first: Document, documents: int, now: float) -> str:
        """From a first report to the document of this moment, so many documents later, in words."""
        return span(self._delay(first, now), documents, self._clock.is_dated)

    def _fired_at(self, now: float) -> datetime | None:
        return datetime.fromtimestamp(now, tz=UTC) if self._clock.is_timed else None

    def _delay(self, first: Document, now: float) -> timedelta | None:
        return delay_between(first.time, self._fired_at(now))


def title_of(document: Document) -> str:
    """Its title, or the first line of its text."""
    return document.title or document.text[:TITLE_CHARACTERS].partition("\n")[0]

"""Alerts against what really happened: events found and how soon, first reports, duplicates, precision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from firststory.evaluate.known_events import KnownEvent, KnownEvents
from firststory.records import Alert
from firststory.units import HOUR_SECONDS

WITHIN_HOURS = (1, 6, 24)


class AlertScores(NamedTuple):
    """How alerts compare with the events of a stream. Shares and delays are NaN where there is nothing to count."""

    n_alerts: int
    per_day: float
    unit: str
    """What `per_day` counts by, in words."""
    n_events: int
    n_found: int
    n_followed: int
    """Events that a second source tells of within two days: others have nothing that could confirm them."""
    n_followed_found: int
    n_within: tuple[int, ...]
    """Events found within 1, 6 and 24 hours of their first report; all 0 without times."""
    n_exact: int
    """Events whose first alert points at the very first report."""
    delay_hours: float
    """From the first report to the first alert on the event: median over the events found."""
    delay_hours_90: float
    """The delay that nine in ten of the events found do not exceed."""
    delay_documents: float
    """Documents of the event before the one that brought the alert, median: a delay that needs no times."""
    n_duplicates: int
    """Alerts on an event that had an alert before, turns aside."""
    n_turns: int
    """Turns of an event that had an alert before: they say that something else has happened."""
    precision: float
    """Share of the alerts whose documents belong to one event, of the alerts on labelled documents."""
    n_judged: int
    """Alerts that `precision` counts."""
    true_first: float
    """Share of the alerts that point at the first report of something, however small.

    Turns begin inside an event: where labels name whole events they count against it.
    """
    n_true_first_judged: int
    """Alerts that `true_first` counts: those whose first document was judged."""

    def as_dict(self) -> dict[str, Any]:
        """The figures by name, for JSON."""
        row = self._asdict()
        counts = row.pop("n_within")
        return row | {f"n_within_{hours}h": n for hours, n in zip(WITHIN_HOURS, counts, strict=True)}


def alert_scores(
    alerts: Sequence[Alert], known: KnownEvents, *, share: float = 0.5, anywhere: bool = False
) -> AlertScores:
    """Judge alerts, in the order in which they fired.

    An alert tells of the event that most of its documents belong to, if that is at least `share` of them; else of the
    event whose first report it points at. The first alert on an event finds it; each further one is a duplicate, or a
    turn.

    Parameters
    ----------
    alerts : sequence of Alert
    known : KnownEvents
        From `events_of_labels`, or made from other knowledge of the stream.
    share : float, default=0.5
    anywhere : bool, default=False
        Whether it is enough that the first report is anywhere among the alert's documents.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> from firststory.datasets.streams import TextStream
    >>> from firststory.evaluate.known_events import events_of_labels
    >>> from firststory.records import Document
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> told = [Document(str(i), "", start + timedelta(hours=2 * i), label=x) for i, x in enumerate("aabb")]
    >>> when = {"fired_at": told[1].time, "delay": timedelta(hours=2)}
    >>> what = {"sources": (), "terms": (), "story": None, "storyline": None, "score": 3.0, "sentence": ""}
    >>> alert = Alert("a1", "confirmed", told[0], told[1], documents=("0", "1"), **when, **what)
    >>> scores = alert_scores([alert], events_of_labels(TextStream("made", tuple(told))))
    >>> scores.n_found, scores.n_events, scores.n_within, scores.delay_hours, scores.precision
    (1, 2, (0, 1, 1), 2.0, 1.0)
    """
    told = found_events(alerts, known, share=share, anywhere=anywhere)
    events = {event.name: event for event in known.events}
    found = [(events[name], on_it[0]) for name, on_it in told.items()]
    again = [alert for on_it in told.values() for alert in on_it[1:]]
    judged = [
        _main_event(alert, known, share) is not None
        for alert in alerts
        if sum(one in known.labelled for one in alert.documents) >= 0.5 * len(alert.documents)
    ]
    hours = [_delay_hours(event, alert) for event, alert in found]
    timed = [delay for delay in hours if delay == delay]
    firsts = [known.is_first[alert.first.id] for alert in alerts if alert.first.id in known.is_first]
    return AlertScores(
        n_alerts=len(alerts),
        per_day=len(alerts) / known.n_days,
        unit=known.unit,
        n_events=len(known.events),
        n_found=len(found),
        n_followed=sum(event.is_followed for event in known.events),
        n_followed_found=sum(event.is_followed for event, _ in found),
        n_within=tuple(sum(delay <= limit for delay in timed) for limit in WITHIN_HOURS),
        n_exact=sum(alert.first.id in event.firsts for event, alert in found),
        delay_hours=_quantile(timed, 0.5),
        delay_hours_90=_quantile(timed, 0.9),
        delay_documents=_quantile([_documents_before(event, alert, known) for event, alert in found], 0.5),
        n_duplicates=sum(alert.kind != "turn" for alert in again),
        n_turns=sum(alert.kind == "turn" for alert in again),
        precision=float(np.mean(judged)) if judged else float("nan"),
        n_judged=len(judged),
        true_first=float(np.mean(firsts)) if firsts else float("nan"),
        n_true_first_judged=len(firsts),
    )


def found_events(
    alerts: Sequence[Alert], known: KnownEvents, *, share: float = 0.5, anywhere: bool = False
) -> dict[Any, list[Alert]]:
    """Name of each event that was found -> the alerts on it, as `alert_scores` counts them."""
    counted = {event.name for event in known.events}
    found: dict[Any, list[Alert]] = {}
    for alert in alerts:
        event = _main_event(alert, known, share) or _event_pointed_at(alert, known, anywhere)
        if event is not None and event.name in counted:
            found.setdefault(event.name, []).append(alert)
    return found


def _main_event(alert: Alert, known: KnownEvents, share: float) -> KnownEvent | None:
    """The event that most of the documents belong to, if enough do; of two the one whose first report it points at."""
    counts: Counter[KnownEvent] = Counter()
    for one in alert.documents:
        counts.update(known.by_document.get(one, ()))
    enough = [event for event, n in counts.items() if n >= share * len(alert.documents)]
    return max(enough, key=lambda event: (counts[event], alert.first.id in event.firsts), default=None)


def _event_pointed_at(alert: Alert, known: KnownEvents, anywhere: bool) -> KnownEvent | None:
    names = (alert.first.id, *alert.documents) if anywhere else (alert.first.id,)
    return next((event for one in names for event in known.by_document.get(one, ()) if one in event.firsts), None)


def _delay_hours(event: KnownEvent, alert: Alert) -> float:
    """NaN without times. A late document can bring an alert before its event: that is no delay."""
    if alert.fired_at is None:
        return float("nan")
    return max(alert.fired_at.timestamp() - event.seconds, 0.0) / HOUR_SECONDS


def _documents_before(event: KnownEvent, alert: Alert, known: KnownEvents) -> float:
    fired = max(known.place.get(one, 0) for one in (alert.first.id, *alert.documents))
    return float(sum(known.place[one] < fired for one in event.documents))


def _quantile(values: Iterable[float], q: float) -> float:
    kept = list(values)
    return float(np.quantile(kept, q)) if kept else float("nan")

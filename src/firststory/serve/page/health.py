"""Health: whether all is well, how much comes, what is pushed and held back, and what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from firststory.alerts.budget import parse_budget
from firststory.digest.words import PUSHED, counted, is_midnight
from firststory.harmless import harmless
from firststory.records import Alert, Quarantined
from firststory.serve.page.charts import WIDE, Bar, Tick, bars, ticks
from firststory.serve.page.clock import DAY, Clock, span
from firststory.serve.page.now import ceiling_of
from firststory.serve.page.numbers import sentence
from firststory.serve.service import Service
from firststory.store.arrival_reader import Heard
from firststory.store.store import Store

HOURS = 48
DAYS = 14
SOURCES = 10
QUIET_FACTOR, QUIET_LEAST = 6.0, timedelta(hours=12)
"""A source is called quiet when it has been silent six times as long as it usually is, and for half a day."""
QUARANTINED = 20


@dataclass(frozen=True, slots=True)
class Stack:
    """Alerts of one day: confirmed below, turns above."""

    label: str
    x: float
    width: float
    confirmed: float
    turns: float
    """Heights."""
    title: str


def health_facts(service: Service, clock: Clock) -> dict[str, Any]:
    """All that the view shows."""
    store = service.reader
    status = service.status()
    end = store.last_time()
    alerts_status = store.alerts_status()
    settings = store.settings() | dict(status.get("wanted_settings") or {})
    heard = store.heard(clock.now - timedelta(days=DAYS), clock.now - DAY) if end is not None else ()
    quiet = quiet_sources(heard, clock)
    ceiling = ceiling_of(alerts_status)
    unit, drawn, marks, lately, day = _rate(store, clock, end)
    alerts = store.alerts(since=clock.now - timedelta(days=DAYS), kind=PUSHED)
    stacks, top, limit = _stacks(clock, alerts, ceiling.most)
    return {
        "told": status,
        "is_well": _is_well(status),
        "words": _words(status, heard, quiet, clock, end),
        "unit": unit,
        "rate": drawn,
        "rate_ticks": marks,
        "lately": lately,
        "in_a_day": day,
        "stacks": stacks,
        "top": top,
        "limit": limit,
        "ceiling": ceiling,
        "threshold": _threshold(store, clock),
        "budget": _per_day(str(settings.get("budget", "20/day"))),
        "budget_words": str(settings.get("budget", "20/day")),
        "is_asked_for": bool(status.get("wanted_settings")),
        "false_alerts": settings.get("false_alerts", 1.0),
        "sources": [one for one in heard if one not in {gone for gone, _ in quiet}][:SOURCES],
        "quiet": quiet,
        "n_sources": len(heard) - len(quiet),
        "service": _service(service, status, clock),
        "quarantine": [_bad(one) for one in store.quarantined(QUARANTINED)],
        "n_quarantined": status["quarantined"],
        "ago": lambda time: clock.age(time) or clock.when(time),
    }


def quiet_sources(heard: Sequence[Heard], clock: Clock) -> list[tuple[Heard, str]]:
    """Those that used to speak and do not: silent far longer than their documents lie apart."""
    found = []
    for one in heard:
        silent = clock.now - one.last
        usual = timedelta(days=DAYS) / one.whole
        if silent > max(QUIET_LEAST, QUIET_FACTOR * usual):
            found.append((one, span(silent)))
    return found


def _is_well(status: Mapping[str, Any]) -> bool:
    stream = status.get("stream")
    return stream is None or stream.get("state") in ("running", "starting")


def _words(
    status: Mapping[str, Any], heard: Sequence[Heard], quiet: Sequence[object], clock: Clock, end: datetime | None
) -> str:
    """Whether all is well, in a sentence or two."""
    stream = status.get("stream")
    if stream is not None and stream.get("state") == "failed":
        return "The stream has stopped. The log of the service says why."
    if end is None:
        return "Nothing has arrived yet."
    spoke = sum(one.documents > 0 for one in heard)
    waits = "nothing waits" if not status.get("inbox") else f"{counted(status['inbox'], 'document')} wait to be judged"
    if not clock.is_live:
        last = f" On its last day {counted(spoke, 'source')} spoke." if spoke else ""
        return f"This stream ended on {clock.day(end)}.{last}"
    words = f"{counted(spoke, 'source')} spoke in 24 hours; {waits}." if spoke else f"{waits.capitalize()}."
    return (
        ("All is well. " if not quiet else "")
        + words
        + (f" {counted(len(quiet), 'source')} went quiet." if quiet else "")
    )


def _rate(store: Store, clock: Clock, end: datetime | None) -> tuple[str, list[Bar], list[Tick], int, int]:
    """Documents an hour over two days; a day over two weeks in a stream that knows only days."""
    if end is None:
        return "hour", [], [], 0, 0
    unit, width, n = ("day", DAY, DAYS) if is_midnight(end) else ("hour", timedelta(hours=1), HOURS)
    last = clock.local(clock.now).replace(minute=0, second=0, microsecond=0)
    if unit == "day":
        last = last.replace(hour=0)
    since = last - (n - 1) * width
    bins = store.counted_by_time(since, last + width, width)
    counts = [bins.get(k, 0) for k in range(n)]
    starts = [since + k * width for k in range(n)]
    names = [
        f"{clock.local(start):%a %H}:00" if unit == "hour" else f"{start:%a} {clock.date(start)}" for start in starts
    ]
    drawn = bars(
        counts,
        [f"{name}: {count}" for name, count in zip(names, counts, strict=True)],
        left=0,
        right=WIDE,
        top=8,
        bottom=92,
    )
    return (
        unit,
        drawn,
        ticks(clock, since, last + width, 0, WIDE, 6),
        counts[-1],
        sum(counts[-24:]) if unit == "hour" else counts[-1],
    )


def _stacks(clock: Clock, alerts: Sequence[Alert], most: int | None) -> tuple[list[Stack], int, float | None]:
    """Alerts a day over two weeks, on a scale that has the ceiling."""
    today = clock.midnight(clock.now)
    days = [today - n * DAY for n in reversed(range(DAYS))]
    counts: Counter[tuple[object, str]] = Counter()
    for alert in alerts:
        if alert.fired_at is not None:
            counts[clock.local(alert.fired_at).date(), alert.kind] += 1
    top = max([*(counts[day.date(), "confirmed"] + counts[day.date(), "turn"] for day in days), most or 0, 1])
    step, height = WIDE / DAYS, 168.0
    found = []
    for n, day in enumerate(days):
        confirmed, turns = counts[day.date(), "confirmed"], counts[day.date(), "turn"]
        title = f"{day:%a} {day.day} {day:%b}: {confirmed} confirmed, {counted(turns, 'turn')}"
        heights = round(height * confirmed / top, 1), round(height * turns / top, 1)
        found.append(Stack(str(day.day), round(n * step + 14, 1), round(step - 28, 1), *heights, title))
    return found, top, None if most is None else round(210 - height * most / top, 1)


def _threshold(store: Store, clock: Clock) -> dict[str, Any] | None:
    """How high the bar for single documents stood over two weeks."""
    history = store.threshold_history(clock.now - timedelta(days=DAYS))
    if len(history) < 3:
        return None
    every = max(1, len(history) // 150)
    shown = [*history[:-1:every], history[-1]]
    low, high = min(value for _, value in shown), max(value for _, value in shown)
    step = next(one for one in (0.01, 0.02, 0.05, 0.1, 0.25) if (high - low) / one <= 5) if high - low < 1 else 0.5
    bottom, top = step * (low // step), max(min(step * (high // step + 1), 1.0), high)
    first, last = shown[0][0], shown[-1][0]
    whole = (last - first).total_seconds() or 1.0

    def y(value: float) -> float:
        return round(200 - 180 * (value - bottom) / (top - bottom), 1)

    points = [f"{70 + 930 * (time - first).total_seconds() / whole:.1f} {y(value)}" for time, value in shown]
    levels = [round(bottom + k * step, 4) for k in range(round((top - bottom) / step) + 1)]
    return {
        "path": "M" + " L".join(points),
        "levels": [(y(level), f"{level:.2f}") for level in levels],
        "now": f"{shown[-1][1]:.2f}",
    }


def _per_day(budget: str) -> int | None:
    """The ceiling as a number a day; None where it is a share of the documents or a fixed score."""
    parsed = parse_budget(budget)
    return round(parsed.amount) if parsed.kind == "rate" and parsed.amount >= 1 else None


def _service(service: Service, status: Mapping[str, Any], clock: Clock) -> list[tuple[str, str, str]]:
    """What the machine has to do with it."""
    samples = service.samples.all()
    rows = []
    stream = status.get("stream")
    if stream is not None:
        rows.append(
            (
                "Documents a second",
                f"{stream['documents_per_second']:.1f}",
                f"{stream['documents_since_start']:,} since it was started",
            )
        )
        rows.append(
            (
                "Lag, pushed to judged",
                _seconds(status["lag_seconds"]),
                f"last step took {_seconds(stream['step_seconds'])}",
            )
        )
    memory = status["memory_bytes"]
    least = min((one.memory_bytes for one in samples), default=memory)
    rows.append(("Memory", _bytes(memory), f"least in a day {_bytes(least)}" if len(samples) > 10 else ""))
    rows.append(("Store", _bytes(status["store_bytes"]), counted(status["documents"], "document")))
    rows.append(("Stories", f"{status['stories']:,}", counted(status["storylines"], "storyline")))
    rows.append(("Open pages", str(service.hub.listeners), ""))
    mode = {
        "stream": "takes documents and judges them",
        "reading": "shows what another run writes",
        "read-only": "only shows",
    }
    rows.append(("This service", mode[status["mode"]], ""))
    return rows


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 90 else span(timedelta(seconds=value))


def _bytes(n: int) -> str:
    """
    >>> _bytes(412_000_000), _bytes(2_500_000_000)
    ('412 MB', '2.5 GB')
    """
    return f"{n / 1e6:,.0f} MB" if n < 1e9 else f"{n / 1e9:,.1f} GB"


def _bad(one: Quarantined) -> dict[str, str]:
    at = one.position.at
    line = at.get("bad_line", at.get("line"))
    where = harmless(one.position.source, 60) + (f", line {line:,}" if isinstance(line, int) else "")
    return {
        "reason": harmless(one.reason, 60).replace("_", " ").replace("-", " "),
        "message": sentence(harmless(one.message, 160).removeprefix("document: ")),
        "where": where,
        "excerpt": harmless(one.excerpt, 80),
    }

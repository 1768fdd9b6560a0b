"""One story: how it ran, where it turned, who told it, what it speaks of and what came before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from firststory.digest.story import StoryDetail, story_detail
from firststory.digest.words import MAX_NAME, PUSHED, counted
from firststory.harmless import display_title, harmless
from firststory.records import Alert, Document, Storyline
from firststory.serve.page.cards import cards_of, new_phrases
from firststory.serve.page.charts import Bar, Pin, Tick, bars, pins, ticks
from firststory.serve.page.clock import Clock, span
from firststory.serve.page.growing import lately_of, lately_words
from firststory.serve.page.line_names import line_name
from firststory.serve.page.numbers import in_words, sentence
from firststory.store.period_reader import Arrived
from firststory.store.store import Store
from firststory.units import MICROSECOND

DOCUMENTS = 15
MORE_DOCUMENTS = 50
SOURCES = 12
MAX_HOURS, MAX_DAYS, MAX_WEEKS = 72, 100, 80
"""Columns of a story's chart by the hour, day and week; longer ones are by the month."""
LEFT, RIGHT, TOP, BOTTOM = 6.0, 994.0, 80.0, 200.0
LEAST_COLUMNS = 24
"""A story of an hour is a few columns at the left, not one that fills the chart."""
LEAST_DAYS = 7
LABEL = 22
"""Characters of a pin's label."""
MERGED = {
    "It stood alone": "It stood alone at first; what came since ties it to this story",
    "Their documents are": "Its documents and those of this story say the same",
}
"""Reasons for a merge without their numbers, which stand on hover."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Documents over time, with pins."""

    unit: str
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    pins: tuple[Pin, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """A turning point in the list."""

    number: int
    kind: str
    id: str
    time: datetime | None
    title: str
    reason: str
    first: Document | None
    sources: int
    label: str = ""
    """What its pin says, and what stands on hover over what was merged."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """Who told a story, how long after the first, and how often."""

    name: str
    after: str
    documents: int


def story_facts(store: Store, clock: Clock, name: str, before: int | None) -> dict[str, Any] | None:
    """All that the view shows; None where the store has no such story."""
    told = story_detail(store, name, limit=0)
    if told is None:
        return None
    arrivals = store.arrivals_of(told.story.id)
    alerts = store.alerts(story=told.story.id)
    points = _points(store, told, alerts)
    documents = store.brought_by(
        "story", told.story.id, limit=(MORE_DOCUMENTS if before else DOCUMENTS) + 1, before=before
    )
    shown = documents[: MORE_DOCUMENTS if before else DOCUMENTS]
    said = store.said_of([told.story.representative])
    return {
        "told": told,
        "story": told.story,
        "points": list(reversed(points)),
        "chart": _chart(clock, arrivals, points),
        "lede": _lede(clock, told, alerts),
        "documents": shown,
        "next_documents": shown[-1].number if len(documents) > len(shown) else None,
        "sources": _sources(arrivals),
        "n_shown_sources": SOURCES,
        "growth": _growth(store, clock, told.story.id),
        "lately": lately_words(store.last_time()),
        "near": _near(store, told),
        "merges": _merges(told),
        "about": _about(alerts, told),
        "useful": said.get(told.story.representative),
        "line_name": _line_name(store, told.storyline),
        "line_stories": 0 if told.storyline is None else told.storyline.n_stories,
    }


def _points(store: Store, told: StoryDetail, alerts: Sequence[Alert]) -> list[Point]:
    """The first report and the alerts that were pushed, in the order of time."""
    found: list[tuple[datetime | None, Point]] = []
    first = told.first
    pushed = [alert for alert in alerts if alert.kind in PUSHED]
    if first is not None:
        reason = "The first report: one source." if first.source else "The first report."
        title = display_title(first)
        found.append((first.time, Point(0, "first", "first", first.time, title, reason, first, 1, "first report")))
    cards = cards_of(store, pushed)
    for card in cards:
        alert = card.alert
        found.append((alert.fired_at, Point(0, alert.kind, alert.id, alert.fired_at, display_title(alert.headline),
                                            card.why, alert.first, card.n, _label(alert, card.n))))  # fmt: skip
    found.sort(key=lambda pair: (pair[0] is not None, pair[0] and pair[0].timestamp()))
    return [replace(point, number=n) for n, (_, point) in enumerate(found, 1)]


def _lede(clock: Clock, told: StoryDetail, alerts: Sequence[Alert]) -> str:
    """When it was confirmed and how often it has turned since; how it grew where neither happened."""
    confirmed = [alert for alert in alerts if alert.kind == "confirmed"]
    turns = [alert for alert in alerts if alert.kind == "turn"]
    parts = []
    if confirmed:
        one = confirmed[0]
        within = f" within {span(one.delay)}" if one.delay else ""
        when = "" if one.fired_at is None else f" {clock.said(one.fired_at)}"
        parts.append(f"{sentence(in_words(max(len(one.sources), 1)))} sources confirmed it{within}{when}.")
    later = len(confirmed) - 1
    if later > 0:
        parts.append(
            f"{sentence(in_words(later))} more {'event was' if later == 1 else 'events were'} confirmed in it."
        )
    if turns:
        times = {1: "once", 2: "twice"}.get(len(turns), f"{in_words(len(turns))} times")
        last = turns[-1]
        when = f"; the last turn was {clock.age(last.fired_at) or clock.said(last.fired_at)}" if last.fired_at else ""
        parts.append(f"The story has turned {times}{' since' if confirmed else ''}{when}.")
    if not parts:
        sources = counted(len(told.story.sources), "source")
        by = f" by {sources}" if told.story.sources else ""
        parts.append(f"{counted(told.n_documents, 'document')}{by}; nothing in it was pushed as an alert.")
    return " ".join(parts)


def columns_of(clock: Clock, times: Sequence[datetime]) -> tuple[str, list[datetime]]:
    """The unit in which some times are counted, and the beginnings of its columns: all of them, also empty ones."""
    first, last = min(times), max(times)
    hours = (last - first) / timedelta(hours=1)
    all_days = all(clock.local(time) == time and time.hour == time.minute == 0 for time in times)
    if hours <= MAX_HOURS and not all_days:
        start = clock.local(first).replace(minute=0, second=0, microsecond=0)
        n = max(int((last - start) / timedelta(hours=1)) + 1, LEAST_COLUMNS)
        return "hour", [start + timedelta(hours=k) for k in range(n)]
    start = clock.midnight(first)
    for unit, days, most in (("day", 1, MAX_DAYS), ("week", 7, MAX_WEEKS), ("month", 30, 10**6)):
        n = max(int((last - start) / timedelta(days=days)) + 1, LEAST_DAYS if unit == "day" else 1)
        if n <= most:
            return unit, [start + timedelta(days=days * k) for k in range(n)]
    raise AssertionError


def count_columns(starts: Sequence[datetime], width: timedelta, arrivals: Sequence[Arrived]) -> list[tuple[int, int]]:
    """(documents, sources) of each column."""
    found: list[tuple[int, set[str]]] = [(0, set()) for _ in starts]
    for one in arrivals:
        if one.time is not None:
            place = min(max(int((one.time - starts[0]) / width), 0), len(starts) - 1)
            n, sources = found[place]
            found[place] = n + 1, sources | ({one.source} if one.source else set())
    return [(n, len(sources)) for n, sources in found]


WIDTHS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}


def _chart(clock: Clock, arrivals: Sequence[Arrived], points: Sequence[Point]) -> Chart | None:
    times = [one.time for one in arrivals if one.time is not None]
    if len(times) < 2 or min(times) == max(times):
        return None
    unit, starts = columns_of(clock, times)
    width = WIDTHS[unit]
    counts = count_columns(starts, width, arrivals)
    titles = [
        f"{column_name(clock, start, unit)}: {counted(n, 'document')}, {counted(m, 'source')}"
        for start, (n, m) in zip(starts, counts, strict=True)
    ]
    since, until = starts[0], starts[-1] + width
    whole = (until - since).total_seconds()
    places = [
        (
            LEFT + (RIGHT - LEFT) * (min(max(point.time, since), until) - since).total_seconds() / whole,
            point.kind,
            point.label,
        )
        for point in points
        if point.time is not None
    ]
    drawn = pins(places, right=RIGHT)
    for pin, point in zip(drawn, [point for point in points if point.time is not None], strict=True):
        pin.number = point.number
    return Chart(
        unit,
        tuple(bars([n for n, _ in counts], titles, left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM)),
        tuple(ticks(clock, since, until, LEFT, RIGHT)),
        tuple(drawn),
    )


def column_name(clock: Clock, start: datetime, unit: str) -> str:
    local = clock.local(start)
    if unit == "hour":
        return f"{local:%a %H}:00"
    return (
        f"{'From ' if unit != 'day' else ''}{local:%a} {clock.date(start)}"
        if unit == "day"
        else f"From {clock.date(start)}"
    )


def _label(alert: Alert, n: int) -> str:
    """What a pin says: the new phrase of a turn, the number of sources of what was confirmed."""
    phrases = [phrase for phrase in new_phrases(alert) if len(phrase) <= LABEL] if alert.kind == "turn" else []
    phrases.sort(key=lambda phrase: " " not in phrase)  # a whole name says more than a word
    return harmless(phrases[0], LABEL) if phrases else counted(n, "source")


def _sources(arrivals: Sequence[Arrived]) -> list[SourceRow]:
    """In the order in which they first told it."""
    first: dict[str, datetime | None] = {}
    counts: dict[str, int] = {}
    for one in arrivals:
        if one.source:
            counts[one.source] = counts.get(one.source, 0) + 1
            known = first.get(one.source)
            if one.source not in first or (one.time is not None and known is not None and one.time < known):
                first[one.source] = one.time
    timed = sorted(first, key=lambda source: (first[source] is None, first[source] and first[source].timestamp()))  # type: ignore[union-attr]
    begin = first[timed[0]] if timed else None
    rows = []
    for n, source in enumerate(timed):
        time = first[source]
        after = "first" if n == 0 else "" if time is None or begin is None else f"+{span(time - begin)}"
        rows.append(SourceRow(harmless(source, MAX_NAME), after, counts[source]))
    return rows


def _growth(store: Store, clock: Clock, story: str) -> tuple[int, int] | None:
    """Documents lately and before; None in a stream without times, and for a story that no longer runs."""
    end = store.last_time()
    if end is None:
        return None
    until, lately = max(end, clock.now), lately_of(end)
    bins = store.counted_by_name("story", [story], until - 2 * lately + MICROSECOND, until, lately)[story]
    now, before = bins.get(1, 0), bins.get(0, 0)
    return (now, before) if now or before else None


def _merges(told: StoryDetail) -> list[Point]:
    """What was merged into it and why, the latest first."""
    found = []
    for one in reversed(told.turning_points):
        if one.kind == "merged":
            exactly = sentence(harmless(one.reason, 200).rstrip("."))
            reason = next((words for begin, words in MERGED.items() if exactly.startswith(begin)), exactly)
            title = harmless(one.title, 120)
            found.append(Point(0, "merged", one.id, one.time, title, f"{reason}." if reason else "", None, 0, exactly))
    return found


@dataclass(frozen=True, slots=True)
class Near:
    """An earlier story that comes close."""

    title: str
    href: str
    words: str


def _line_name(store: Store, line: Storyline | None) -> str:
    return "" if line is None else line_name(store, line)


def _near(store: Store, told: StoryDetail) -> list[Near]:
    """The story of the line before it, and what the first report was nearest to."""
    found, seen = [], {told.story.id}
    if told.earlier is not None:
        seen.add(told.earlier.id)
        words = (
            f"{counted(len(told.earlier.sources), 'source')}. The same line, before it."
            if told.earlier.sources
            else "The same line, before it."
        )
        found.append(
            (
                told.earlier.first_seen,
                Near(harmless(told.earlier.title, 120), f"/page/stories/{told.earlier.id}", words),
            )
        )
    first = () if told.first is None else store.verdicts(ids=[told.first.id])
    nearest = first[0].nearest if first else ()
    owners = {one.document.id: one.story for one in store.verdicts(ids=[near.id for near in nearest])}
    for near in nearest:
        owner = owners.get(near.id)
        if owner is None or owner in seen:
            continue
        seen.add(owner)
        story = store.story(owner)
        if story is None:
            continue
        shared = [f"“{harmless(word, 40)}”" for word in near.shared[:3]]
        is_line = story.storyline is not None and story.storyline == told.story.storyline
        words = ("The same line: " if is_line else "Not linked: ") + (
            f"shares {', '.join(shared)}." if shared else "little is shared."
        )
        found.append((story.first_seen, Near(harmless(story.title, 120), f"/page/stories/{owner}", words)))
    return [near for _, near in found[:3]]


def _about(alerts: Sequence[Alert], told: StoryDetail) -> list[tuple[str, list[str]]]:
    """People, places, organisations and phrases, by how often they were told."""
    groups: dict[str, dict[str, int]] = {"person": {}, "place": {}, "organisation": {}, "other": {}}
    spelt: dict[str, str] = {}
    for alert in alerts:
        for term, kind in zip(alert.terms, alert.kinds or ("other",) * len(alert.terms), strict=False):
            if kind != "other" or " " in term:
                same = "".join(letter for letter in term.casefold() if letter.isalnum())
                term = spelt.setdefault(same, term)  # Kim Jong Nam and Kim Jong-nam are one
                groups[kind][term] = groups[kind].get(term, 0) + 1
    known = " ".join(term for terms in groups.values() for term in terms).casefold()
    for term in told.story.key_terms:
        if term.casefold() not in known:
            groups["other"].setdefault(term, 0)
    names = {"person": "People", "place": "Places", "organisation": "Organisations", "other": "Phrases"}
    return [
        (names[kind], [harmless(term, 60) for term in sorted(terms, key=lambda term: -terms[term])[:8]])
        for kind, terms in groups.items()
        if terms
    ]

"""One storyline: its documents over time, and the stories that they make, with the reason each belongs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import regex

from firststory.digest.words import PUSHED, counted
from firststory.harmless import harmless
from firststory.records import Alert, Story, Storyline
from firststory.serve.page.cards import cards_of
from firststory.serve.page.charts import Bar, Tick, bars, ticks
from firststory.serve.page.clock import Clock
from firststory.serve.page.line_names import line_name
from firststory.serve.page.numbers import in_words, listed, sentence
from firststory.serve.page.story import DOCUMENTS, LEFT, MORE_DOCUMENTS, RIGHT, WIDTHS, column_name, columns_of
from firststory.store.store import Store
from firststory.text.language import stop_words

LANES = 9
"""Stories that are shown; the others are counted."""
TOP, BOTTOM = 8.0, 112.0
LANE_HEIGHT = 40
LETTER = 6.8
SMALL_LETTER = 5.6
SHORT = 3
"""Words up to this length say little."""


Span = tuple[datetime, datetime]


class LineChart(NamedTuple):
    """Documents over time, and the span that columns, marks and lanes share."""

    unit: str
    bars: list[Bar]
    ticks: list[Tick]
    span: Span


@dataclass(frozen=True, slots=True)
class Lane:
    """One story of the line: where its bar stands, and where its title."""

    number: int
    story: Story
    title: str
    reason: str
    is_alerted: bool
    x: float
    width: float
    y: int
    is_left: bool
    """Whether the title ends where the bar ends."""

    @property
    def facts(self) -> str:
        return f"{counted(len(self.story.sources), 'source')} · {counted(self.story.size, 'document')}"


def storyline_facts(store: Store, clock: Clock, name: str, before: int | None) -> dict[str, Any] | None:
    """All that the view shows; None where the store has no such storyline."""
    line = store.storyline(store.current_storyline(name))
    if line is None:
        return None
    stories = store.stories(storyline=line.id, order="first_seen")[::-1]
    alerts = [alert for story in stories for alert in store.alerts(story=story.id)]
    shown = _largest(stories, alerts)
    since, until = line.first_seen, line.last_seen
    chart = None if since is None or until is None or since == until else _chart(store, clock, line, since, until)
    documents = store.brought_by(
        "storyline", line.id, limit=(MORE_DOCUMENTS if before else DOCUMENTS) + 1, before=before
    )
    first_rows = documents[: MORE_DOCUMENTS if before else DOCUMENTS]
    lanes = _lanes(store, line, shown, alerts, None if chart is None else chart.span)
    first = store.first_document(stories[0].id) if stories else None
    return {
        "line": line,
        "name": line_name(store, line),
        "lanes": lanes,
        "n_other": len(stories) - len(shown),
        "n_stories": len(stories),
        "chart": chart,
        "height": LANE_HEIGHT * len(lanes) + 12,
        "lede": _lede(clock, line, len(stories), alerts),
        "first": first,
        "documents": first_rows,
        "next_documents": first_rows[-1].number if len(documents) > len(first_rows) else None,
    }


def _largest(stories: Sequence[Story], alerts: Sequence[Alert]) -> list[Story]:
    """Those that most sources tell, and those that were pushed before others; in the order of time."""
    pushed = {alert.story for alert in alerts if alert.kind in PUSHED}

    def rank(story: Story) -> tuple[bool, int, int]:
        return story.id not in pushed, -len(story.sources), -story.size

    chosen = {story.id for story in sorted(stories, key=rank)[:LANES]}
    return [story for story in stories if story.id in chosen]


def _lanes(
    store: Store, line: Storyline, stories: Sequence[Story], alerts: Sequence[Alert], span: Span | None
) -> list[Lane]:
    pushed = {alert.story: alert for alert in reversed(alerts) if alert.kind in PUSHED}
    whys = {card.alert.id: card.why for card in cards_of(store, list(pushed.values()))}
    found = []
    for n, story in enumerate(stories, 1):
        alert = pushed.get(story.id)
        title = harmless(story.title, 90)
        x, width = _place(story, span)
        facts = f"{counted(len(story.sources), 'source')} · {counted(story.size, 'document')}"
        is_left = x + LETTER * len(title) + SMALL_LETTER * len(facts) + 16 > RIGHT
        # Too long for either side: cut, since the list has the whole.
        room = int(((x + width if is_left else RIGHT - x) - SMALL_LETTER * len(facts) - 16) / LETTER)
        if len(title) > max(room, 20):
            title = title[: max(room, 20) - 1].rstrip() + "…"
        found.append(
            Lane(n, story, title, _reason(line, story, stories[: n - 1], whys.get(alert.id if alert else "", "")),
                 alert is not None, round(x, 1), round(width, 1), 32 + LANE_HEIGHT * (n - 1), is_left)
        )  # fmt: skip
    return found


def _place(story: Story, span: Span | None) -> tuple[float, float]:
    """Where the bar of a story begins and how long it is, on the axis of the columns."""
    if span is None or story.first_seen is None or story.last_seen is None:
        return LEFT, RIGHT - LEFT
    start, until = span
    whole = (until - start).total_seconds()
    x = LEFT + (RIGHT - LEFT) * (story.first_seen - start).total_seconds() / whole
    end = LEFT + (RIGHT - LEFT) * (story.last_seen - start).total_seconds() / whole
    return min(x, RIGHT - 7), max(end - x, 7.0)


def _reason(line: Storyline, story: Story, earlier: Sequence[Story], why: str) -> str:
    """Why a story is held to belong: which words it shares with those before it; then what was told of it."""
    if not earlier:
        return " ".join(filter(None, ["The line begins with it.", why]))
    known = [*line.key_terms, *(term for one in earlier for term in (*one.key_terms, *_words(one.title)))]
    shared = _shared(story.key_terms, known) or _shared(_words(story.title), known)
    words = "Follows: shares " + listed([f"“{harmless(term, 40)}”" for term in shared]) + "." if shared else "Follows."
    return " ".join(filter(None, [words, why]))


def _shared(terms: Sequence[str], known: Sequence[str], most: int = 2) -> list[str]:
    """Terms that the line had before; names and longer phrases before single words."""
    before = {term.casefold() for term in known}
    shared = {term.casefold(): term for term in terms if term.casefold() in before}
    return sorted(shared.values(), key=lambda term: (not term[:1].isupper(), " " not in term))[:most]


def _words(title: str) -> list[str]:
    words = regex.findall(r"\p{L}[\p{L}\p{M}\d-]+", title)
    return [word for word in words if len(word) > SHORT and word.casefold() not in stop_words("en")]


def _chart(store: Store, clock: Clock, line: Storyline, since: datetime, until: datetime) -> LineChart:
    """Documents a day (or hour, week, month)."""
    unit, starts = columns_of(clock, [since, until])
    if unit == "hour":
        starts = [starts[0] + n * timedelta(hours=1) for n in range(len(starts))]
    width = WIDTHS[unit]
    bins = store.counted_by_name("storyline", [line.id], starts[0], until, width)[line.id]
    counts = [bins.get(n, 0) for n in range(len(starts))]
    titles = [
        f"{column_name(clock, start, unit)}: {counted(n, 'document')}" for start, n in zip(starts, counts, strict=True)
    ]
    drawn = bars(counts, titles, left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM)
    span = starts[0], starts[-1] + width
    return LineChart(unit, drawn, ticks(clock, *span, LEFT, RIGHT, 8), span)


def _lede(clock: Clock, line: Storyline, n: int, alerts: Sequence[Alert]) -> str:
    """How many stories in how many days, and what was confirmed last."""
    days = "" if line.first_seen is None or line.last_seen is None else (line.last_seen - line.first_seen).days + 1
    parts = [f"{sentence(in_words(n))} {'story' if n == 1 else 'stories'}"]
    if days:
        parts[0] += f" in {counted(int(days), 'day')}"
    parts[0] += "."
    pushed = [alert for alert in alerts if alert.kind in PUSHED and alert.fired_at is not None]
    if pushed:
        last = max(pushed, key=lambda alert: alert.fired_at.timestamp() if alert.fired_at else 0.0)
        when = "" if last.fired_at is None else clock.age(last.fired_at) or clock.said(last.fired_at)
        parts.append(
            f"The last event in it was confirmed {when}." if last.kind == "confirmed" else f"It last turned {when}."
        )
    return " ".join(parts)

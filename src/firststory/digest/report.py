"""The report of a store: what was found in all of it, as one page that anyone can read and pass on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from firststory.digest.blocks import alert_block
from firststory.digest.gather import entries_of
from firststory.digest.pages import render
from firststory.digest.records import Entry
from firststory.digest.topic_words import earlier, topic_name, when
from firststory.digest.words import PUSHED, counted, day
from firststory.harmless import display_title, harmless
from firststory.records import Alert, Story, Verdict

if TYPE_CHECKING:
    from firststory.store.store import Store

TOP_ALERTS = 10
"""Alerts of the whole stream that stand first: those that most sources tell."""
MAX_ALERTS = 300
"""The latest alerts that are listed; the page stays one that a browser opens at once."""
MAX_NOVEL = 100
MAX_ROWS = 12
"""Stories, storylines, topics."""
MAX_DAYS = 90
PIECE_CHARACTERS = 320
"""Of the text of a novel document."""
OPEN_DAYS = 3
"""Days of alerts that are unfolded."""


def report_page(store: Store, name: str) -> str:
    """The page; `name` says what the stream is."""
    return render("report.html", "report.css", **_facts(store, name))


def _facts(store: Store, name: str) -> dict[str, Any]:
    told = store.status()
    alerts = store.alerts(kind=PUSHED, newest_first=True)
    stories = store.stories(limit=MAX_ROWS, order="size")
    top = entries_of(alerts[::-1])[:TOP_ALERTS]
    told_already = {display_title(one.headline) for entry in top for one in (entry.alert, *entry.others)}
    rest = [alert for alert in alerts if display_title(alert.headline) not in told_already]
    novel = store.verdicts(novel=True, newest_first=True, limit=MAX_NOVEL)
    _, now, topics = next(reversed(store.topic_history(limit=1)), (0, None, ()))
    days = _alert_days(rest[:MAX_ALERTS])
    return {
        "stream": harmless(name, 100),
        "told": told,
        "n_alerts": len(alerts),
        "top": [alert_block(entry) for entry in top],
        "alert_days": [(when, [alert_block(Entry(one)) for one in those]) for when, those in days],
        "n_older": len(rest[MAX_ALERTS:]),
        "columns": _columns(store.documents_per_day(), alerts),
        "stories": stories,
        "spans": {story.id: _span(story, stories) for story in stories},
        "storylines": store.storylines(limit=MAX_ROWS, order="size"),
        "topics": topics[:MAX_ROWS],
        "earlier": earlier(topics[0], now) if topics and topics[0].share_before is not None else "",
        "topic_name": topic_name,
        "topic_when": when,
        "novel": novel,
        "settings": store.settings(),
        "open_days": OPEN_DAYS,
        "max_days": MAX_DAYS,
        "pieces": _pieces,
        "harmless": harmless,
        "counted": counted,
        "day": day,
        "display_title": display_title,
    }


def _alert_days(alerts: Sequence[Alert]) -> list[tuple[date | None, list[Alert]]]:
    """The alerts of each day, latest first; those without a time in the end."""
    days: dict[date | None, list[Alert]] = {}
    for alert in alerts:
        days.setdefault(None if alert.fired_at is None else alert.fired_at.date(), []).append(alert)
    return sorted(days.items(), key=lambda pair: pair[0] or date.min, reverse=True)


def _columns(every: Mapping[date, int], fired: Sequence[Alert]) -> list[dict[str, Any]]:
    """Documents and alerts of the latest days, also of those without any, as columns of a chart 100 high."""
    if not every:
        return []
    alerts = Counter(alert.fired_at.date() for alert in fired if alert.fired_at is not None)
    first, last = min(every), max(every)
    latest = [last - timedelta(days=ago) for ago in reversed(range(min(MAX_DAYS, (last - first).days + 1)))]
    top = max(every.get(when, 0) for when in latest)
    return [
        {"day": when, "documents": every.get(when, 0), "alerts": alerts[when],
         "height": 100 * every.get(when, 0) / top, "alert_height": 100 * alerts[when] / top}
        for when in latest
    ]  # fmt: skip


def _span(story: Story, stories: Sequence[Story]) -> tuple[float, float]:
    """Where a story lies in the time of all that are shown: (start, width) in per cent."""
    times = [time for one in stories for time in (one.first_seen, one.last_seen) if time is not None]
    if story.first_seen is None or story.last_seen is None or max(times) == min(times):
        return 0.0, 100.0
    whole = (max(times) - min(times)).total_seconds()
    start = 100 * (story.first_seen - min(times)).total_seconds() / whole
    return start, max(100 * (story.last_seen - story.first_seen).total_seconds() / whole, 1.0)


def _pieces(verdict: Verdict, length: int = PIECE_CHARACTERS) -> list[tuple[str, bool]]:
    """The beginning of a text, cut where the terms of the evidence stand: (piece, is it a term)."""
    text = verdict.document.text
    title = verdict.document.title or ""
    begin = len(title) if title and text.startswith(title) else 0
    end = min(len(text), begin + length)
    marks = sorted((t.start, t.end) for t in verdict.terms if begin <= t.start and t.end <= end)
    pieces, at = [], begin
    for start, stop in marks:
        if start >= at:
            pieces += [(text[at:start], False), (text[start:stop], True)]
            at = stop
    pieces.append((text[at:end] + ("…" if end < len(text) else ""), False))
    return [(_shown(piece), is_term) for piece, is_term in pieces if piece]


def _shown(piece: str) -> str:
    """A piece made harmless; the spaces that part it from its neighbours stay."""
    before, after = piece[:1].isspace() * " ", piece[-1:].isspace() * " "
    return f"{before}{harmless(piece, PIECE_CHARACTERS)}{after}"

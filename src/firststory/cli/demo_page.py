"""The demo's report: one self-contained page without scripts that anyone can read and pass on."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firststory.cli.alert_lines import KIND_NAMES, PUSHED, first_seen
from firststory.harmless import display_title, harmless
from firststory.records import Alert, Verdict

if TYPE_CHECKING:
    from firststory.store.store import Store

TITLES = {"news2017": "News Articles, 2016–2017", "synthetic": "a made-up stream with planted stories"}


def write_page(store: Store, path: Path, corpus: str) -> None:
    """Write the report of a store."""
    from jinja2 import Environment, select_autoescape

    environment = Environment(autoescape=select_autoescape(default=True), trim_blocks=True, lstrip_blocks=True)
    folder = files("firststory.cli") / "templates"
    style = (folder / "demo.css").read_text(encoding="utf-8")
    template = environment.from_string((folder / "demo.html").read_text(encoding="utf-8"))
    # The page allows this one style sheet, by its digest, and nothing else: no script, no image, no request.
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    path.write_text(template.render(style=style, digest=digest, **_facts(store, corpus)), encoding="utf-8")


def _facts(store: Store, corpus: str) -> dict[str, Any]:
    verdicts = store.verdicts()
    novel = [verdict for verdict in verdicts if verdict.is_novel]
    days: dict[date, list[Verdict]] = {}
    for verdict in novel:
        if verdict.document.time is not None:
            days.setdefault(verdict.document.time.date(), []).append(verdict)
    ordered = [(when, sorted(found, key=lambda v: -v.novelty)) for when, found in sorted(days.items(), reverse=True)]
    stories = store.stories(limit=12, order="size")
    alerts = store.alerts(kind=PUSHED, newest_first=True)
    return {
        "corpus": TITLES.get(corpus, corpus),
        "told": store.status(),
        "n_novel": len(novel),
        "days": ordered,
        "n_alerts": len(alerts),
        "alert_days": _alert_days(alerts),
        "kind_names": KIND_NAMES,
        "first_seen": first_seen,
        "display_title": display_title,
        "harmless": harmless,
        "storylines": store.storylines(limit=12, order="size"),
        "columns": _columns(verdicts, alerts),
        "stories": stories,
        "largest": max((story.size for story in stories), default=1),
        "spans": {story.id: _span(story, stories) for story in stories},
        "topics": store.topics()[:10],
        "settings": store.settings(),
        "pieces": _pieces,
    }


def _alert_days(alerts: tuple[Alert, ...]) -> list[tuple[date | None, list[Alert]]]:
    """The alerts of each day, latest first; those without a time in the end."""
    days: dict[date | None, list[Alert]] = {}
    for alert in alerts:
        days.setdefault(None if alert.fired_at is None else alert.fired_at.date(), []).append(alert)
    return sorted(days.items(), key=lambda pair: pair[0] or date.min, reverse=True)


def _columns(verdicts: tuple[Verdict, ...], fired: tuple[Alert, ...]) -> list[dict[str, Any]]:
    """Articles and alerts of the busiest stretch of days, as columns of a chart 100 high."""
    every = Counter(v.document.time.date() for v in verdicts if v.document.time is not None)
    alerts = Counter(alert.fired_at.date() for alert in fired if alert.fired_at is not None)
    busy = sorted(every)[-90:]
    top = max((every[when] for when in busy), default=1)
    return [
        {"day": when, "articles": every[when], "alerts": alerts[when],
         "height": 100 * every[when] / top, "alert_height": 100 * alerts[when] / top}
        for when in busy
    ]  # fmt: skip


def _span(story: Any, stories: tuple[Any, ...]) -> tuple[float, float]:
    """Where a story lies in the time of all that are shown: (start, width) in per cent."""
    times = [time for one in stories for time in (one.first_seen, one.last_seen) if time is not None]
    if story.first_seen is None or not times or max(times) == min(times):
        return 0.0, 100.0
    whole = (max(times) - min(times)).total_seconds()
    start = 100 * (story.first_seen - min(times)).total_seconds() / whole
    return start, max(100 * (story.last_seen - story.first_seen).total_seconds() / whole, 1.0)


def _pieces(verdict: Verdict, length: int = 320) -> list[tuple[str, bool]]:
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
    return [piece for piece in pieces if piece[0]]

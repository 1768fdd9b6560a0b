"""An alert as lines for people and as JSON."""

from __future__ import annotations

from datetime import timedelta
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from firststory.cli.output import day, iso
from firststory.harmless import display_title, harmless
from firststory.records import Alert, Document

if TYPE_CHECKING:
    from rich.text import Text

PUSHED = ("confirmed", "turn")
"""The kinds that people are told at once; first reports are quiet."""
MAX_SOURCES = 12
"""Sources that are named; the others are counted."""
MAX_NAME = 40
"""Characters of the name of a source."""
KIND_NAMES = {"confirmed": "confirmed", "turn": "turn", "first_seen": "first seen"}
STYLES = {"confirmed": "bold green", "turn": "bold yellow", "first_seen": "bold"}


def alert_json(alert: Alert) -> dict[str, Any]:
    """An alert as `firststory alerts --json` prints it."""
    return {
        "id": alert.id,
        "kind": alert.kind,
        "first": _document_json(alert.first),
        "headline": _document_json(alert.headline),
        "fired_at": iso(alert.fired_at),
        "delay_s": None if alert.delay is None else alert.delay.total_seconds(),
        "documents": list(alert.documents),
        "sources": list(alert.sources),
        "terms": list(alert.terms),
        "story": alert.story,
        "storyline": alert.storyline,
        "score": alert.score,
        "sentence": alert.sentence,
    }


def _document_json(document: Document) -> dict[str, Any]:
    """Enough to show it; one without a title is named by its first words."""
    return {
        "id": document.id,
        "time": iso(document.time),
        "title": display_title(document),
        "source": document.source,
    }


def alert_lines(alert: Alert, width: int) -> Text:
    """The headline first; then what kind it is and when it fired, who was first, who tells it, its terms, and why."""
    from rich.text import Text

    names = [harmless(source, MAX_NAME) for source in alert.sources]
    told = ", ".join(names[:MAX_SOURCES]) + (
        f" and {len(names) - MAX_SOURCES} more" if len(names) > MAX_SOURCES else ""
    )
    n = len(alert.documents)
    kind = KIND_NAMES[alert.kind] + ("" if alert.fired_at is None else f" {day(alert.fired_at)}")
    where = [alert.id, *_named("story", alert.story), *_named("storyline", alert.storyline)]
    lines = [
        Text(display_title(alert.headline), style=STYLES[alert.kind]),
        Text("  " + " · ".join([kind, *where]), style="dim"),
        Text("  " + first_seen(alert)),
        Text(f"  {len(names)} source{'s' * (len(names) != 1)}: {told}" if names else f"  {n} document{'s' * (n != 1)}"),
        Text("  " + harmless(", ".join(alert.terms), 300), style="cyan"),
    ]
    shown = [line for line in lines if line.plain.strip()]
    for line in shown:
        line.truncate(width, overflow="ellipsis")
    # The sentence is for reading: it is broken, not cut.
    why = wrap(harmless(alert.sentence, 300), width, initial_indent="  ", subsequent_indent="  ")
    return Text("\n").join([*shown, *(Text(line, style="dim") for line in why)])


def _named(what: str, name: str | None) -> list[str]:
    return [] if name is None else [f"{what} {name}"]


def first_seen(alert: Alert) -> str:
    """Who had it first and how much earlier; the title too, where the headline is of another document."""
    first = alert.first
    who = [harmless(first.source, MAX_NAME)] if first.source else []
    when = [f"{length(alert.delay)} earlier"] if alert.delay else []
    title = [display_title(first)] if first.id != alert.headline.id else []
    told = [", ".join(who + when), *title]
    return "first seen: " + " · ".join(filter(None, told)) if any(told) else ""


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

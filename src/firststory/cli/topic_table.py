"""Topics on the terminal: what names them first, then how large they are, were, and since when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from firststory.digest.topic_words import earlier, topic_name, when
from firststory.harmless import harmless
from firststory.records import Topic, TopicEvent

if TYPE_CHECKING:
    from rich.table import Table

SPARKS = "▁▂▃▄▅▆▇█"
WITH_TREND, WITH_LIFE = 76, 110
"""Columns of a screen from which on the table has them."""


def topic_table(topics: Sequence[Topic], happened: Sequence[TopicEvent], now: datetime | None, width: int) -> Table:
    """One row per topic; `happened` is latest first, `now` the time of these topics."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("topic", ratio=2, overflow="fold")
    table.add_column("share", justify="right", no_wrap=True)
    has_before = any(topic.share_before is not None for topic in topics)
    if has_before:
        table.add_column(earlier(topics[0], now), justify="right", no_wrap=True)
    if width >= WITH_TREND:
        table.add_column("trend", no_wrap=True)
    if width >= WITH_LIFE:
        table.add_column("life", ratio=1, overflow="fold")
    else:
        table.add_column("since", no_wrap=True)
    table.add_column("id", no_wrap=True)
    for topic in topics:
        values: list[str | Text] = [Text(topic_name(topic), style="bold"), f"{topic.share:.1%}"]
        if has_before:
            values.append("–" if topic.share_before is None else f"{topic.share_before:.1%}")
        if width >= WITH_TREND:
            values.append(spark(topic.trend))
        values.append(Text(life_of(topic, happened), "dim") if width >= WITH_LIFE else when(topic.since, topic.born))
        table.add_row(*values, Text(topic.id, "dim"))
    return table


def spark(values: tuple[float, ...], width: int = 16) -> str:
    """Numbers as a line of small bars."""
    last = values[-width:]
    top = max(last, default=0.0) or 1.0
    return "".join(SPARKS[min(int(value / top * len(SPARKS)), len(SPARKS) - 1)] for value in last)


def life_of(topic: Topic, happened: Sequence[TopicEvent]) -> str:
    """How a topic began, what merged into it, and what happened to it last. `happened` is latest first."""
    own = [event for event in happened if event.topic == topic.id]
    parts = [_beginning(topic, own)]
    swallowed = [event.topic for event in happened if event.kind == "merged" and topic.id in event.others]
    if swallowed:
        parts.append(f"holds {', '.join(reversed(swallowed))}")
    last = next((event for event in own if event.kind in ("changed", "faded")), None)
    if last is not None:
        back = ", now back" if last.kind == "faded" else ""
        parts.append(f"{last.kind} {when(last.time, last.step)}{back}")
    return "; ".join(parts)


def _beginning(topic: Topic, own: Sequence[TopicEvent]) -> str:
    date = when(topic.since, topic.born)
    first = next((event for event in reversed(own) if event.kind in ("born", "grown", "split")), None)
    if first is None or first.evidence.endswith("there from the start"):
        return f"since {date}" if first is None else "there from the start"
    if first.kind == "split" and first.others:
        return f"split from {first.others[0]} {date}"
    return f"{first.kind} {date}"


def event_line(event: TopicEvent) -> str:
    """One event in words."""
    others = f" {', '.join(event.others)}" if event.others else ""
    return f"{when(event.time, event.step)}  {event.kind}{others}  {harmless(event.evidence, 200)} ({event.topic})"

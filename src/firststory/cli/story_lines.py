"""A story on the terminal: what it is, its timeline with turning points, its documents."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from firststory.cli.digest_lines import READABLE, broken
from firststory.cli.output import bar
from firststory.cli.tables import lineage
from firststory.digest.timeline import start_of
from firststory.digest.words import KIND_NAMES, counted, day, is_midnight, named_sources, who_and_when
from firststory.harmless import display_title, harmless

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from firststory.digest.story import StoryDetail, TurningPoint
    from firststory.digest.timeline import Timeline, Unit

BAR_COLUMNS = 24
SOURCE_COLUMNS = 20
ID_COLUMNS = 24
"""Longer ids are folded: they must be whole to be typed."""
LONGEST = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=31),
}
"""From one column of a timeline to the next; more is a gap."""
POINT_STYLES = {"confirmed": "green", "turn": "yellow", "first_seen": "", "merged": "dim"}


def print_story(screen: Console, told: StoryDetail) -> None:
    """Title and facts first, then the timeline, then the documents."""
    from rich.rule import Rule

    width = min(screen.width, READABLE)
    screen.print(broken(harmless(told.story.title, 200), width, style="bold"))
    for line in _facts(told):
        screen.print(broken(line, width, "  "))
    if told.story.key_terms:
        screen.print(broken(harmless(", ".join(told.story.key_terms), 300), width, "  ", style="cyan"))
    for line in _descent(told):
        screen.print(broken(line, width, "  ", style="dim"))
    if told.timeline.columns or told.turning_points:
        head = f"Documents per {told.timeline.unit}, and turning points"
        screen.print(Rule(head, align="left", style="dim", characters="─"))
        _print_timeline(screen, told.timeline, told.turning_points, width)
    screen.print(Rule("Documents", align="left", style="dim", characters="─"))
    _print_documents(screen, told)


def _facts(told: StoryDetail) -> list[str]:
    story, line = told.story, told.storyline
    names = [story.id, story.status]
    if line is not None:
        title = "" if line.title == story.title else f": {harmless(line.title, 120)}"
        names.append(f"storyline {line.id} ({counted(line.n_stories, 'story', 'stories')}){title}")
    size = counted(story.size, "document")
    if story.duplicates:
        size += f" and {counted(story.duplicates, 'duplicate')}"
    if story.first_seen is not None:
        size += f", {day(story.first_seen)} to {day(story.last_seen)}"
    facts = [" · ".join(names), size]
    if told.first is not None and (who := who_and_when(told.first)):
        title = display_title(told.first)
        facts.append(f"first report: {who}" + ("" if title == harmless(story.title, len(title)) else f" · {title}"))
    if story.sources:
        facts.append(f"{counted(len(story.sources), 'source')}: {named_sources(story.sources)}")
    return facts


def _descent(told: StoryDetail) -> list[str]:
    """What came before it, and what it is made of."""
    lines = []
    if told.asked.id != told.story.id:
        lines.append(f"{told.asked.id}: {lineage(told.asked)}; its documents are now in {told.story.id}")
    if told.earlier is not None:
        title = harmless(told.earlier.title, 120)
        lines.append(f"before it in the storyline: {told.earlier.id}, {day(told.earlier.first_seen)} · {title}")
    if descent := lineage(told.story, told.holds):
        lines.append(descent)
    return lines


def _print_timeline(screen: Console, timeline: Timeline, points: tuple[TurningPoint, ...], width: int) -> None:
    """One row per column that has documents, the turning points below it."""
    from rich.text import Text

    most = max((column.documents for column in timeline.columns), default=1)
    rows: dict[datetime | None, list[Text]] = {}
    for column in timeline.columns:
        label = f"{column.start:%Y-%m-%d %H:%M}" if timeline.unit == "hour" else f"{column.start:%Y-%m-%d}"
        row = Text(f"  {label}  ", style="dim")
        row.append(bar(column.documents / most, BAR_COLUMNS).rstrip() or "▏", style="blue not dim")
        row.append(f" {column.documents}", style="not dim")
        rows[column.start] = [row]
    for point in points:
        start = None if point.time is None else start_of(point.time, timeline.unit)
        rows.setdefault(start, []).append(_point(point, timeline.unit, width))
    before: datetime | None = None
    for start, lines in sorted(rows.items(), key=lambda row: (row[0] is not None, row[0] and row[0].timestamp())):
        if before is not None and start is not None and start - before > LONGEST[timeline.unit]:
            screen.print("  ⋮", style="dim")
        before = start
        for line in lines:
            screen.print(line)


def _point(point: TurningPoint, unit: Unit, width: int) -> Text:
    """What happened; of the time what the row does not say."""
    when = "" if point.time is None else f" {day(point.time)}"
    if point.time is not None and unit in ("hour", "day"):
        when = "" if is_midnight(point.time) else f" {point.time:%H:%M}"
    # A merge needs its reason; that of an alert is what `firststory alerts` shows.
    why = f" · {harmless(point.reason, 200)}" if point.kind == "merged" and point.reason else ""
    words = f"{KIND_NAMES.get(point.kind, point.kind)} {point.id}{when}: {harmless(point.title, 120)}{why}"
    return broken(words, width, "    ", style=POINT_STYLES[point.kind])


def _print_documents(screen: Console, told: StoryDetail) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("title", ratio=1, overflow="fold")
    table.add_column("source", overflow="ellipsis", no_wrap=True, max_width=SOURCE_COLUMNS)
    table.add_column("time", no_wrap=True)
    table.add_column("id", overflow="fold", style="dim", max_width=ID_COLUMNS)
    for verdict in told.verdicts:
        title = Text(display_title(verdict.document))
        if verdict.duplicate_of:
            title.append(" (duplicate)", style="dim")
        source = Text(harmless(verdict.document.source or "–", 100))
        table.add_row(title, source, day(verdict.document.time), Text(harmless(verdict.document.id, 200)))
    screen.print(table)
    screen.print(
        "Say of one whether it was worth your time: firststory feedback ID --useful (or --not-useful)", style="dim"
    )
    if told.n_documents > len(told.verdicts):
        screen.print(f"The latest {len(told.verdicts)} of {told.n_documents:,}; more with --limit.", style="dim")

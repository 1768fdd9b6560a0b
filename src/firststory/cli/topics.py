"""`firststory topics`: the topics of the stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.records import TopicEvent

SPARKS = "▁▂▃▄▅▆▇█"


def topics(
    store: options.StoreUrl = None,
    at: Annotated[int | None, typer.Option("--at", metavar="STEP", help="As they were after this step.")] = None,
    events: Annotated[
        int, typer.Option("--events", metavar="N", min=0, help="Show the latest N events of all topics.")
    ] = 0,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the river of topics and their lineage (PNG, SVG or PDF)."),
    ] = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Show the topics of a store: their terms, their part of the stream, how it moved, and where they come from."""
    from firststory.cli import output

    if plot is not None:
        _check_figure(plot)
    with options.open_store(store, config) as opened:
        found = opened.topics(at)
        happened = [event for event in opened.topic_events(limit=10_000) if at is None or event.step <= at]
        if plot is not None and found:
            _draw(opened.topic_history(), happened, plot)
    if json:
        output.write_json([output.topic_json(topic, [e for e in happened if e.topic == topic.id]) for topic in found])
        return
    if not found:
        print("No topics yet. They are learnt from the first 200 documents on (run --topics nmf).")
        return
    from rich.table import Table
    from rich.text import Text

    from firststory.harmless import harmless

    table = Table(box=None, header_style="dim", padding=(0, 1))
    table.add_column("topic", no_wrap=True, min_width=5)
    table.add_column("share", justify="right", no_wrap=True, min_width=5)
    table.add_column("trend", no_wrap=True, min_width=16)
    table.add_column("terms", ratio=3, overflow="ellipsis")
    table.add_column("lineage", ratio=2, overflow="ellipsis")
    for topic in found:
        words = ", ".join(term for term, _ in topic.terms[:8])
        life = story_of(topic.id, topic.born, happened)
        table.add_row(topic.id, f"{topic.share:.0%}", spark(topic.trend), Text(harmless(words, 120)), Text(life, "dim"))
    output.console().print(table)
    for event in reversed(happened[:events]):
        others = f" {', '.join(event.others)}" if event.others else ""
        print(f"step {event.step}: {event.topic} {event.kind}{others} ({harmless(event.evidence)})")


def spark(values: tuple[float, ...], width: int = 16) -> str:
    """Numbers as a line of small bars."""
    last = values[-width:]
    top = max(last, default=0.0) or 1.0
    return "".join(SPARKS[min(int(value / top * len(SPARKS)), len(SPARKS) - 1)] for value in last)


def story_of(topic: str, born: int, happened: Sequence[TopicEvent]) -> str:
    """Where a topic comes from, what merged into it, and what happened to it last. `happened` is latest first."""
    own = [event for event in happened if event.topic == topic]
    parent = next((event.others[0] for event in own if event.kind == "split" and event.others), None)
    parts = [f"split from {parent} in step {born}" if parent else f"since step {born}"]
    swallowed = [event.topic for event in happened if event.kind == "merged" and topic in event.others]
    if swallowed:
        parts.append(f"holds {', '.join(reversed(swallowed))}")
    last = next((event for event in own if event.kind in ("changed", "faded")), None)
    if last is not None:
        parts.append(f"{last.kind} in step {last.step}")
    return "; ".join(parts)


def _check_figure(path: Path) -> None:
    """Before the work: whether a figure can be written there, and in a format that matplotlib knows by its name."""
    from firststory.errors import ParameterError
    from firststory.plot.figure import new_figure

    known = new_figure().canvas.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in known:
        raise ParameterError(
            owner="firststory topics",
            parameter="--plot",
            allowed="a file that ends in ." + ", .".join(known),
            received=str(path),
            remedy="Use topics.png",
        )
    options.check_file(path, "firststory topics", "--plot")


def _draw(history: Sequence[Any], happened: Sequence[TopicEvent], path: Path) -> None:
    """The river above, the lines of descent below."""
    from dataclasses import replace

    from firststory.plot import lineage, topic_river
    from firststory.plot.figure import new_figure

    place = {step: number for number, (step, _, _) in enumerate(history)}
    events = [replace(event, step=place[event.step]) for event in reversed(happened) if event.step in place]
    moments = [time for _, time, _ in history]
    times = None if any(time is None for time in moments) else moments
    steps = [topics for _, _, topics in history]
    figure = new_figure(figsize=(12, 14), layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(1, 1.2))
    topic_river(steps, times, ax=above)
    lineage(steps, events, times, ax=below)
    figure.savefig(path, dpi=120)

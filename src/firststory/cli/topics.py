"""`firststory topics`: the topics of the stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.records import TopicEvent


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
    """Show the topics of a store: three phrases that name each, its share now and a month ago, and since when."""
    from firststory.cli import output
    from firststory.cli.topic_table import event_line, topic_table
    from firststory.digest.shapes import topic_json
    from firststory.settings import Settings

    if plot is not None:
        _check_figure(plot)
    with options.open_store(store, config) as opened:
        history = opened.topic_history(limit=500 if plot is not None else 1, at=at)
        _, now, found = history[-1] if history else (0, None, ())
        happened = [event for event in opened.topic_events(limit=10_000) if at is None or event.step <= at]
        told = opened.status()["counts"]
        settings = asdict(Settings()) | opened.settings()  # a store into which no run has written yet has none
    if plot is not None and found:
        _draw(history, happened, plot)
    if json:
        output.write_json([topic_json(topic, [e for e in happened if e.topic == topic.id]) for topic in found])
        return
    screen = output.console()
    if found:
        screen.print(topic_table(found, happened, now, screen.width))
        screen.print(_legend(found[0].id, now, settings), markup=False, style="dim")
    else:
        screen.print(_why_none(told, settings), markup=False)
    for event in reversed(happened[:events]):
        screen.print(event_line(event), markup=False, highlight=False)
    if plot is not None and found:
        screen.print(f"Figure written to {plot}", markup=False)


def _legend(one: str, now: datetime | None, settings: Mapping[str, Any]) -> str:
    until = "" if now is None else f" up to {now:%Y-%m-%d}"
    if settings["topics"] == "nmf":
        return f"Share: part of what the topics explain of the documents{until}."
    return (
        f"Share: part of the latest {max(1000, settings['topic_step']):,} distinct documents{until}. "
        f"The stories of a topic: firststory storylines {one}"
    )


def _why_none(totals: Mapping[str, int], settings: Mapping[str, Any]) -> str:
    """Why a store has no topics."""
    if settings["topics"] == "none":
        return "No topics: this store was begun with --topics none."
    n, timestep = totals.get("scored", 0), settings["topic_step"]
    if n < timestep:
        many = "is 1" if n == 1 else f"are {n:,}"
        return (
            f"No topics yet: they are looked for after every {timestep:,} distinct documents with words, and there "
            f"{many}. A smaller --topic-step begins earlier."
        )
    return (
        "No topics: no storyline has 2% of the latest documents (and ten at least) and a name. "
        "The largest storylines: firststory storylines --order size"
    )


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
    figure = new_figure(figsize=(14, 14), layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(1, 1.2), sharex=True)
    topic_river(steps, times, n_terms=2, ax=above)
    lineage(steps, events, times, n_terms=3, ax=below)
    figure.savefig(path, dpi=120)

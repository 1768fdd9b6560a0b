"""`firststory topics`: the themes of the stream."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options

SPARKS = "▁▂▃▄▅▆▇█"


def topics(
    store: options.StoreUrl = None,
    at: Annotated[int | None, typer.Option("--at", metavar="STEP", help="As they were after this step.")] = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Show the themes of a store: their terms, their part of the stream, and how it moved."""
    from firststory.cli import output

    with options.open_store(store, config) as opened:
        found = opened.topics(at)
    if json:
        output.write_json([output.topic_json(topic) for topic in found])
        return
    if not found:
        print("No themes yet. They are learnt from the first 200 documents on (run --topics nmf).")
        return
    from rich.table import Table
    from rich.text import Text

    from firststory.alerts.harmless import harmless

    table = Table(box=None, header_style="dim", padding=(0, 1))
    table.add_column("theme", no_wrap=True, min_width=5)
    table.add_column("share", justify="right", no_wrap=True, min_width=5)
    table.add_column("trend", no_wrap=True, min_width=16)
    table.add_column("terms", ratio=1, overflow="ellipsis")
    for topic in found:
        words = ", ".join(term for term, _ in topic.terms[:8])
        table.add_row(topic.id, f"{topic.share:.0%}", spark(topic.trend), Text(harmless(words, 120)))
    output.console().print(table)


def spark(values: tuple[float, ...], width: int = 16) -> str:
    """Numbers as a line of small bars."""
    last = values[-width:]
    top = max(last, default=0.0) or 1.0
    return "".join(SPARKS[min(int(value / top * len(SPARKS)), len(SPARKS) - 1)] for value in last)

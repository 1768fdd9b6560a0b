"""An alert as lines for people."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from firststory.digest.words import (
    KIND_NAMES,
    SENTENCE_CHARACTERS,
    about,
    counted,
    day,
    first_seen,
    named_ids,
    named_sources,
    quoted,
)
from firststory.harmless import display_title, harmless
from firststory.records import Alert

if TYPE_CHECKING:
    from rich.text import Text

STYLES = {"confirmed": "bold green", "turn": "bold yellow", "first_seen": "bold"}


def alert_lines(alert: Alert, width: int) -> Text:
    """The headline and the sentence that tells the event; then kind, time, who was first, who tells it, terms, why."""
    from rich.text import Text

    sources = counted(len(alert.sources), "source") + f": {named_sources(alert.sources)}"
    kind = KIND_NAMES[alert.kind] + ("" if alert.fired_at is None else f" {day(alert.fired_at)}")
    lines = [
        Text(display_title(alert.headline), style=STYLES[alert.kind]),
        Text(f"  {kind} · {named_ids(alert)}", style="dim"),
        Text("  " + first_seen(alert)),
        Text("  " + (sources if alert.sources else counted(len(alert.documents), "document"))),
        Text("  " + harmless(about(alert), 300), style="cyan"),
    ]
    shown = [line for line in lines if line.plain.strip()]
    for line in shown:
        line.truncate(width, overflow="ellipsis")
    # Sentences are for reading: they are broken, not cut.
    told, why = (
        wrap(words, width, initial_indent="  ", subsequent_indent="  ")
        for words in (quoted(alert), harmless(alert.sentence, SENTENCE_CHARACTERS))
    )
    title, *facts = shown
    return Text("\n").join([title, *map(Text, told), *facts, *(Text(line, style="dim") for line in why)])

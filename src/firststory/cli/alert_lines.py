"""An alert as lines for people."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from firststory.digest.words import KIND_NAMES, SENTENCE_CHARACTERS, counted, day, first_seen, named_ids, named_sources
from firststory.harmless import display_title, harmless
from firststory.records import Alert

if TYPE_CHECKING:
    from rich.text import Text

STYLES = {"confirmed": "bold green", "turn": "bold yellow", "first_seen": "bold"}


def alert_lines(alert: Alert, width: int) -> Text:
    """The headline first; then what kind it is and when it fired, who was first, who tells it, its terms, and why."""
    from rich.text import Text

    told = counted(len(alert.sources), "source") + f": {named_sources(alert.sources)}"
    kind = KIND_NAMES[alert.kind] + ("" if alert.fired_at is None else f" {day(alert.fired_at)}")
    lines = [
        Text(display_title(alert.headline), style=STYLES[alert.kind]),
        Text(f"  {kind} · {named_ids(alert)}", style="dim"),
        Text("  " + first_seen(alert)),
        Text("  " + (told if alert.sources else counted(len(alert.documents), "document"))),
        Text("  " + harmless(", ".join(alert.terms), 300), style="cyan"),
    ]
    shown = [line for line in lines if line.plain.strip()]
    for line in shown:
        line.truncate(width, overflow="ellipsis")
    # The sentence is for reading: it is broken, not cut.
    why = wrap(harmless(alert.sentence, SENTENCE_CHARACTERS), width, initial_indent="  ", subsequent_indent="  ")
    return Text("\n").join([*shown, *(Text(line, style="dim") for line in why)])

"""The alerts under other settings: a lower ceiling, and documents that do not say where they come from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from firststory.datasets.editor import load_editor_labels
from firststory.errors import DataError
from firststory.evaluate.alerts import alert_scores
from firststory.lab.experiments.covered_events import SHARE, events_of_editor
from firststory.lab.experiments.event_streams import COVERED, run_stream, without_sources
from firststory.lab.experiments.event_tables import HEAD, row

TITLE = "Events found by alerts under other settings"
QUICK_DOCUMENTS = 600


def run(*, quick: bool, out: Path) -> str:
    """One table; `quick` streams 600 documents."""
    lines = [
        "As in `firststory reproduce events`. The budget is a ceiling: fewer alerts than it allows are expected.",
        "",
    ]
    lines += HEAD
    try:
        labels = load_editor_labels()
    except DataError as error:
        return f"The editor's labels are not here: {error}"
    for load in COVERED:
        try:
            stream = load()
        except DataError as error:
            lines.append(f"| {load.__name__} | missing: {error} |")
            continue
        if quick:
            stream = replace(stream, documents=stream.documents[:QUICK_DOCUMENTS])
        known = events_of_editor(stream, labels)
        runs = {
            "5/day": run_stream(stream, "5/day"),
            "20/day": run_stream(stream, "20/day"),
            "20/day, no sources": run_stream(without_sources(stream), "20/day"),
        }
        for name, told in runs.items():
            scores = alert_scores(told.of_kind("confirmed"), known, share=SHARE, anywhere=True)
            lines.append(row(stream.name, f"confirmed, {name}", scores))
            both = alert_scores(told.of_kind("confirmed", "turn"), known, share=SHARE, anywhere=True)
            lines.append(row(stream.name, f"confirmed and turns, {name}", both))
    return "\n".join(lines)

"""A comparison of detectors as tables for the terminal: novelty, alerts, stories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from firststory.evaluate.comparison import Comparison

Columns = Mapping[str, tuple[str, str]]
"""Key of the row -> heading, and how the value is written."""

NOVELTY: Columns = {
    "detector": ("detector", "{}"),
    "cost_topic": ("cost, by story", "{:.3f}"),
    "cost_story": ("cost, by doc", "{:.3f}"),
    "auc": ("AUC", "{:.3f}"),
    "found_at_once": ("found at once", "{:.0%}"),
    "found": ("found", "{:.0%}"),
    "delay_documents": ("delay, docs", "{:.0f}"),
    "delay_days": ("delay, days", "{:.1f}"),
    "novel_per_day": ("novel {unit}", "{:.1f}"),
    "weeks_kept": ("weeks in budget", "{:.0%}"),
    "documents_per_second": ("docs/s", "{:,.0f}"),
}
ALERTS: Columns = {
    "detector": ("detector", "{}"),
    "list": ("alerts", "{}"),
    "n_alerts": ("number", "{:,}"),
    "per_day": ("{unit}", "{:.1f}"),
    "n_events": ("events", "{:,}"),
    "found": ("found", "{:.0%}"),
    "followed": ("by two", "{:.0%}"),
    "within_1h": ("in 1 h", "{:.0%}"),
    "within_6h": ("in 6 h", "{:.0%}"),
    "within_24h": ("in 24 h", "{:.0%}"),
    "delay_hours": ("delay, h", "{:.1f}"),
    "delay_hours_90": ("90 %", "{:.1f}"),
    "exact": ("exact first", "{:.0%}"),
    "n_duplicates": ("again", "{:,}"),
    "precision": ("right", "{:.0%}"),
    "true_first": ("true first", "{:.0%}"),
}
ALERT_WORDS = (
    "events: labels of two documents, from two sources where there are sources",
    "by two: share found of the events that a second source tells of within two days",
    "again: alerts on an event that had one, turns aside",
    "right: at least half of its documents are of one event; true first: it points at a first report\n",
)
STORIES: Columns = {
    "detector": ("detector", "{}"),
    "what": ("", "{}"),
    "n_stories": ("number", "{:,}"),
    "precision": ("precision", "{:.3f}"),
    "recall": ("recall", "{:.3f}"),
    "f1": ("B-cubed F1", "{:.3f}"),
    "nmi": ("NMI", "{:.3f}"),
    "largest": ("largest", "{:.1%}"),
    "purity": ("purity of 15 largest", "{:.2f}"),
}


def show(result: Comparison) -> None:
    """Print all three tables."""
    from firststory.cli import output
    from firststory.harmless import harmless

    screen = output.console()
    screen.print(
        f"{harmless(result.stream)}: {result.n_documents:,} documents, {result.n_labelled:,} with a label, "
        f"{result.n_stories:,} stories, budget {result.budget}",
        markup=False,
    )
    rows = result.table()
    _print(screen, NOVELTY, rows, rows[0]["novel_per"])
    screen.print("cost: minimum normalised TDT cost, 0 is perfect, 1 is what never alerting costs", style="dim")
    screen.print("delay: documents and days before the first novel one, median over the stories found\n", style="dim")
    _print(screen, ALERTS, _alert_rows(rows), next(iter(rows[0]["alerts"].values()))["unit"])
    for sentence in ALERT_WORDS:
        screen.print(sentence, style="dim")
    _print(screen, STORIES, _story_rows(rows), "")


def _alert_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counts as shares of the events, which take less room."""
    from firststory.evaluate.alerts import WITHIN_HOURS

    return [
        {
            **scores,
            "detector": row["detector"],
            "list": name.replace("confirmed and", "with"),
            "found": _share(scores["n_found"], scores["n_events"]),
            "followed": _share(scores["n_followed_found"], scores["n_followed"]),
            "exact": _share(scores["n_exact"], scores["n_events"]),
            **{f"within_{h}h": _share(scores[f"n_within_{h}h"], scores["n_events"]) for h in WITHIN_HOURS},
        }
        for row in rows
        for name, scores in row["alerts"].items()
    ]


def _story_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**row[what], "detector": row["detector"], "what": what}
        for row in rows
        for what in ("stories", "storylines")
        if row[what] is not None
    ]


def _print(screen: Console, columns: Columns, rows: Iterable[dict[str, Any]], unit: str) -> None:
    from rich.table import Table

    unit = "per day" if "day" in unit else unit.replace("documents", "docs")
    table = Table(box=None, header_style="dim", padding=(0, 1), collapse_padding=True)
    for name, (head, _) in columns.items():
        is_word = name in ("detector", "list", "what")
        table.add_column(head.format(unit=unit), justify="left" if is_word else "right", no_wrap=is_word)
    for row in rows:
        table.add_row(*(_formatted(row[name], form) for name, (_, form) in columns.items()))
    screen.print(table)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _formatted(value: Any, form: str) -> str:
    return "–" if value is None or value != value else form.format(value)

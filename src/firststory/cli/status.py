"""`firststory status`: what a store holds, how the threshold for alerts moved, and what was quarantined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from firststory.cli import options

LONGEST_NAME = 500
"""Characters of a file's name with its folders."""


def status(
    store: options.StoreUrl = None,
    quarantine: Annotated[bool, typer.Option("--quarantine", help="Show the lines that were quarantined.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many lines of --quarantine.")] = 20,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Show what a store holds and how its run is doing: counts, lag, rate, memory, thresholds, what was quarantined.

    With where the alerts stand and what was held back, how far each source was read and how much of it waited when it
    was last asked, and how the threshold on single documents moved and why.
    """
    from firststory.cli import output
    from firststory.digest.words import iso

    with options.open_store(store, config) as opened:
        told = opened.status() | {
            "settings": opened.settings(),
            "positions": {name: dict(position.at) for name, position in opened.positions().items()},
            "thresholds": list(opened.thresholds(10)),
        }
        told["feedback"] = _feedback(opened.feedback(), told["settings"].get("budget"))
        bad = opened.quarantined(limit) if quarantine or json else ()
    told["first_time"], told["last_time"] = iso(told["first_time"]), iso(told["last_time"])
    if json:
        told["quarantine"] = [
            {"reason": b.reason, "message": b.message, "source": b.position.source, "at": dict(b.position.at),
             "excerpt": b.excerpt} for b in bad
        ]  # fmt: skip
        output.write_json(told)
        return
    _show(told)
    if quarantine:
        _show_quarantine(bad)


def _show(told: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from firststory.cli import output
    from firststory.cli.alert_status import alert_facts
    from firststory.cli.progress import lag_in_words
    from firststory.cli.summary import COUNT_LABELS
    from firststory.digest.words import counted
    from firststory.harmless import harmless
    from firststory.records import Lag

    screen = output.console()
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim")
    table.add_column()
    table.add_row("store", f"{told['store']} (schema {told['schema']})")
    table.add_row("documents", f"{told['documents']:,} in {counted(told['steps'], 'step')}")
    if told["first_time"]:
        table.add_row("time", f"{told['first_time']} … {told['last_time']}")
    for name, words in alert_facts(told["alert_counts"], told["alerts"]):
        table.add_row(name, Text(words))
    table.add_row("stories", f"{told['stories']:,} in {counted(told['storylines'], 'storyline')}")
    table.add_row("novel", f"{counted(told['novel'], 'document')}, each by itself")
    for name, words in COUNT_LABELS.items():
        if name not in ("scored", "novel", "quarantined") and told["counts"].get(name):
            table.add_row(name, f"{told['counts'][name]:,} {words}")
    reasons = ", ".join(f"{reason} {number}" for reason, number in told["quarantine_reasons"].items())
    table.add_row("quarantined", f"{told['quarantined']:,}" + (f" ({reasons})" if reasons else ""))
    made_with = told["settings"].get("made_with", {})
    settings = ", ".join(f"{key}={value}" for key, value in told["settings"].items() if key != "made_with")
    table.add_row("settings", settings or "none yet")
    if made_with:
        table.add_row("made with", ", ".join(f"{name} {version}" for name, version in made_with.items()))
    if told["feedback"]["sentence"]:
        table.add_row("feedback", told["feedback"]["sentence"])
    lag = told["last_run"].get("lag", {})
    for name, at in told["positions"].items():
        behind = lag_in_words({name: Lag(**lag[name])}, "; ") + " when it was last asked" if name in lag else ""
        table.add_row("source", Text(f"{harmless(name, LONGEST_NAME)}: {_reached(at)}{behind}"))
    if told["last_run"]:
        table.add_row("last run", Text(_last_run(told["last_run"])))
    screen.print(table, markup=False)
    if told["thresholds"]:
        moved = Table(
            box=None,
            header_style="dim",
            padding=(0, 1),
            title="threshold on single documents, latest first",
            title_justify="left",
        )
        for head in ("step", "novelty needed", "p-value needed", "why"):
            moved.add_column(head)
        for row in told["thresholds"]:
            why = Text(harmless(row["reason"], 300))
            moved.add_row(str(row["step"]), _number(row["threshold"]), _number(row["needed_p_value"]), why)
        screen.print(moved)


def _reached(at: Mapping[str, Any]) -> str:
    """How far a source was read, as it counts itself."""
    for name in ("line", "row", "sequence"):
        if name in at:
            return f"{name} {at[name]:,}"
    if "id" in at:
        return f"entry {at['id']}"
    if "offsets" in at:
        return "offsets " + ", ".join(f"{part}: {offset:,}" for part, offset in at["offsets"].items())
    if "seen" in at:
        return f"{len(at['seen']):,} entries remembered"
    return f"{at['received']:,} messages" if "received" in at else "read"


def _last_run(told: Mapping[str, Any]) -> str:
    """How the latest run was doing when it last said so."""
    return (
        f"as of {told['time']}: {told['documents']:,} documents since {told['began']}, "
        f"{told['documents_per_second']:,.0f}/s, {told['documents_per_second_lately']:,.0f}/s lately, "
        f"{told['memory_bytes'] / 1e6:,.0f} MB of memory"
    )


def _feedback(rows: Sequence[Mapping[str, Any]], budget: str | None) -> dict[str, Any]:
    """What people said of verdicts, and what follows from it."""
    from firststory.alerts.budget import parse_budget
    from firststory.alerts.feedback import Feedback
    from firststory.store.looking_up import PENDING_STEP

    feedback = Feedback()
    for row in rows:
        feedback.apply(row["document"], row["useful"])
    marks, pending = feedback.marks, sum(row["step"] == PENDING_STEP for row in rows)
    sentence = feedback.explain(None if budget is None else parse_budget(budget)) if rows else ""
    return {
        "marks": len(marks),
        "useful": sum(mark.useful for mark in marks),
        "pending": pending,
        "strictness": feedback.strictness,
        "sentence": sentence + (f" The next step applies {pending} of the marks." if pending else ""),
    }


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _show_quarantine(bad: tuple[Any, ...]) -> None:
    from firststory.cli import output
    from firststory.harmless import harmless

    screen = output.console()
    for one in bad:
        at, source = one.position.at, harmless(one.position.source, LONGEST_NAME)
        number = at.get("bad_line", at.get("line"))
        where = f"{source}, line {number}" if number is not None else source
        screen.print(f"{one.reason}: {where}", markup=False, style="bold")
        screen.print("  " + harmless(one.message, 200), markup=False)

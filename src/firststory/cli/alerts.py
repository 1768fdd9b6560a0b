"""`firststory alerts`: what a person should know, as it fired; `--follow` waits for more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from datetime import datetime

    from firststory.records import Alert
    from firststory.store.store import Store

ALL = "all"
FEW = 20
POLL_SECONDS = 1.0


def alerts(
    store: options.StoreUrl = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="24h|7d|yesterday|TIME", help="Those since then, counted from the latest document."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(metavar="confirmed|turn|first_seen|all", help="One kind, or all (default: confirmed and turn)."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", min=1, help=f"How many, the latest (default: all with --since or --json, else {FEW})."
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more until interrupted.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    config: options.Config = None,
) -> None:
    """Show the alerts of a store, oldest first: new events that several sources tell, and turns of running stories.

    The quiet list of first reports that nothing confirms yet: --kind first_seen.
    """
    from threading import Event

    from firststory.cli.alert_lines import alert_lines
    from firststory.cli.output import console, write_json
    from firststory.digest.shapes import alert_json
    from firststory.pipeline.since import parse_since

    kinds = wanted_kinds(kind)
    screen = console()

    def show(alert: Alert) -> None:
        if json:
            write_json(alert_json(alert))
        else:
            screen.print(alert_lines(alert, screen.width), "", sep="\n")

    with options.open_store(store, config) as opened:
        moment = parse_since(since, opened.last_time())
        newest = opened.alerts(newest_first=True, limit=1)
        few = limit if limit or json or since else FEW
        found = opened.alerts(since=moment, kind=kinds, newest_first=True, limit=few)[::-1]
        for alert in found:
            show(alert)
        if not json:
            _show_rest(opened, len(found), moment, kinds)
        if follow:
            last = [*newest, *found][-1:]
            waiting = Event()
            for alert in following(opened, kinds, last[0].id if last else None, lambda: not waiting.wait(POLL_SECONDS)):
                show(alert)


def wanted_kinds(kind: str | None) -> tuple[str, ...]:
    """The kinds that `--kind` means."""
    from firststory.digest.words import PUSHED
    from firststory.errors import not_one_of
    from firststory.store.alert_reader import KINDS

    if kind is None:
        return PUSHED
    if kind not in (*KINDS, ALL):
        raise not_one_of("firststory alerts", "--kind", [*KINDS, ALL], kind, "Leave it out for confirmed and turn.")
    return KINDS if kind == ALL else (kind,)


def following(store: Store, kinds: Collection[str], after: str | None, wait: Callable[[], bool]) -> Iterator[Alert]:
    """The alerts that fire after this one, as they come, for as long as `wait` returns True."""
    while wait():
        for alert in store.alerts(kind=kinds, after=after):
            after = alert.id
            yield alert


def _show_rest(store: Store, shown: int, since: datetime | None, kinds: tuple[str, ...]) -> None:
    """What was not shown, and how to see it."""
    from firststory.cli.output import console
    from firststory.digest.words import PUSHED, counted, day

    counts = store.count_alerts(since=since)
    total = sum(counts[kind] for kind in kinds)
    screen = console()
    when = "" if since is None else f" since {day(since)}; the stream ends at {day(store.last_time())}"
    if not shown:
        screen.print(f"No alerts{when}.", markup=False)
        if since is None and not total:
            said = "An event is one when several sources tell it and the warm-up is over. See: firststory status"
            screen.print(f"{said} --store {store.name}", markup=False, soft_wrap=True)
    elif total > shown:
        screen.print(f"{shown} of {total:,} alerts; more with --limit or --since.", markup=False)
    if kinds == PUSHED and counts["first_seen"]:
        reports = counted(counts["first_seen"], "first report")
        screen.print(f"{reports} that nothing confirms: --kind first_seen", markup=False)

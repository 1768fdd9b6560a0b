"""`firststory stories`: what was found, story by story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.store.store import Store

ORDERS = ("last_seen", "first_seen", "size", "growth")


def stories(
    story: Annotated[str | None, typer.Argument(metavar="[STORY]", help="Show the documents of one story.")] = None,
    store: options.StoreUrl = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    order: Annotated[
        str, typer.Option(metavar="|".join(ORDERS), help="Largest or latest of these first.")
    ] = "last_seen",
    search: Annotated[str | None, typer.Option(metavar="WORDS", help="Documents that have all these words.")] = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Show the stories of a store, the documents of one story, or the documents with some words."""
    from firststory.cli import output
    from firststory.errors import ParameterError

    if order not in ORDERS:
        raise ParameterError(
            owner="firststory stories",
            parameter="--order",
            allowed="one of " + ", ".join(ORDERS),
            received=order,
            remedy="Leave it out for last_seen.",
        )
    with options.open_store(store, config) as opened:
        if story is not None or search is not None:
            _show_documents(opened, story, search, limit, json)
            return
        found = opened.stories(limit=limit, order=order)
        total = opened.status()["stories"]
    if json:
        output.write_json([output.story_json(one) for one in found])
        return
    if not found:
        print("No stories yet.")
        return
    from rich.table import Table
    from rich.text import Text

    from firststory.alerts.harmless import harmless

    table = Table(box=None, header_style="dim", padding=(0, 1), expand=False)
    table.add_column("story", no_wrap=True, min_width=5)
    table.add_column("first seen", no_wrap=True, min_width=10)
    table.add_column("last seen", no_wrap=True, min_width=10)
    table.add_column("size", justify="right", no_wrap=True, min_width=4)
    table.add_column("title and key terms", ratio=1, overflow="ellipsis")
    for one in found:
        told = Text(harmless(one.title, 100), style="bold")
        if one.key_terms:
            told.append("\n" + harmless(", ".join(one.key_terms), 120), style="cyan")
        size = f"{one.size}" + (f" +{one.duplicates}" if one.duplicates else "")
        table.add_row(one.id, output.day(one.first_seen), output.day(one.last_seen), size, told)
    screen = output.console()
    screen.print(table)
    if total > len(found):
        screen.print(
            f"{len(found)} of {total:,} stories; more with --limit, one with: firststory stories {found[0].id}"
        )


def _show_documents(opened: Store, story: str | None, search: str | None, limit: int, as_json: bool) -> None:
    from firststory.cli import output
    from firststory.errors import ParameterError

    if story is not None and not opened.verdicts(story=story, limit=1):
        raise ParameterError(
            owner="firststory stories",
            parameter="STORY",
            allowed="the id of a story that the store has",
            received=story,
            remedy="Leave it out to see which there are.",
        )
    found = opened.search(search, limit, story) if search is not None else opened.verdicts(story=story, limit=limit)
    if as_json:
        output.write_json([output.verdict_json(verdict) for verdict in found])
        return
    if not found:
        print("Nothing found.")
        return
    screen = output.console()
    for verdict in found:
        screen.print(output.verdict_lines(verdict, screen.width))

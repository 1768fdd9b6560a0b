"""`firststory stories`: what was found, story by story."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.records import Story
    from firststory.store.store import Store

N_LINEAGE_SHOWN = 8
"""Merged stories that are named."""
ORDERS = ("last_seen", "first_seen", "size", "growth")


def stories(
    story: Annotated[str | None, typer.Argument(metavar="[STORY]", help="Show the documents of one story.")] = None,
    store: options.StoreUrl = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    order: Annotated[
        str, typer.Option(metavar="|".join(ORDERS), help="Largest or latest of these first.")
    ] = "last_seen",
    search: Annotated[str | None, typer.Option(metavar="WORDS", help="Documents that have all these words.")] = None,
    merged: Annotated[bool, typer.Option("--merged", help="Also the stories that were merged into others.")] = False,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Show the stories of a store, the documents of one story, or the documents with some words."""
    from firststory.cli import output
    from firststory.errors import not_one_of

    if order not in ORDERS:
        raise not_one_of("firststory stories", "--order", ORDERS, order, "Leave it out for last_seen.")
    with options.open_store(store, config) as opened:
        if story is not None or search is not None:
            _show_documents(opened, story, search, limit, json)
            return
        found = opened.stories(limit=limit, order=order, merged=merged)
        held = opened.merged_into([one.id for one in found])
        total = opened.count_stories(merged=merged)
    if json:
        output.write_json([output.story_json(one) for one in found])
        return
    if not found:
        print("No stories yet.")
        return
    from rich.table import Table
    from rich.text import Text

    from firststory.harmless import harmless

    table = Table(box=None, header_style="dim", padding=(0, 1), expand=False)
    table.add_column("story", no_wrap=True, min_width=5)
    table.add_column("first seen", no_wrap=True, min_width=10)
    table.add_column("last seen", no_wrap=True, min_width=10)
    table.add_column("size", justify="right", no_wrap=True, min_width=4)
    table.add_column("a day", justify="right", no_wrap=True, min_width=5)
    table.add_column("status", no_wrap=True, min_width=6)
    table.add_column("title and key terms", ratio=1, overflow="ellipsis")
    for one in found:
        told = Text(harmless(one.title, 100), style="bold")
        if one.key_terms:
            told.append("\n" + harmless(", ".join(one.key_terms), 120), style="cyan")
        size = f"{one.size}" + (f" +{one.duplicates}" if one.duplicates else "")
        if descent := lineage(one, held[one.id]):
            told.append("\n" + descent, style="dim")
        days = output.day(one.first_seen), output.day(one.last_seen)
        table.add_row(one.id, *days, size, f"{one.growth:.1f}" if one.growth else "–", one.status, told)
    screen = output.console()
    screen.print(table)
    if total > len(found):
        screen.print(
            f"{len(found)} of {total:,} stories; more with --limit, one with: firststory stories {found[0].id}"
        )


def lineage(story: Story, held: Sequence[str] = ()) -> str:
    """What a story split from, what it was merged into, and what was merged into it."""
    parts = [f"split from {story.parent}"] if story.parent else []
    if story.merged_into:
        parts.append(f"merged into {story.merged_into}")
    if held:
        shown = ", ".join(held[:N_LINEAGE_SHOWN]) + (
            f" and {len(held) - N_LINEAGE_SHOWN} more" if len(held) > N_LINEAGE_SHOWN else ""
        )
        parts.append(f"holds {shown}")
    return "; ".join(parts)


def _show_head(opened: Store, name: str) -> None:
    """The title, status and lineage of a story, before its documents."""
    from firststory.cli import output
    from firststory.harmless import harmless

    story = opened.story(name)
    if story is None:
        return
    screen = output.console()
    screen.print(f"{story.id}, {story.status}: {harmless(story.title, 100)}", markup=False, style="bold")
    if descent := lineage(story, opened.merged_into([name])[name]):
        screen.print(descent, markup=False, style="dim")
    if story.merged_into:
        screen.print(f"Its documents are now in {opened.current_story(name)}:", markup=False, soft_wrap=True)


def _show_documents(opened: Store, story: str | None, search: str | None, limit: int, as_json: bool) -> None:
    from firststory.cli import output
    from firststory.errors import ParameterError

    if story is not None and not opened.verdicts(story=story, limit=1):
        raise ParameterError(
            owner="firststory stories",
            parameter="STORY",
            allowed="the id of a story that the store has",
            received=story,
            remedy="Type firststory stories without an id to see which there are.",
            message=f"The store has no story {story}.",
        )
    found = opened.search(search, limit, story) if search is not None else opened.verdicts(story=story, limit=limit)
    if as_json:
        output.write_json([output.verdict_json(verdict) for verdict in found])
        return
    if story is not None and search is None:
        _show_head(opened, story)
    if not found:
        print("Nothing found.")
        return
    screen = output.console()
    for verdict in found:
        screen.print(output.verdict_lines(verdict, screen.width))

"""`firststory stories`: what was found, story by story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.store.store import Store

FEW = 20
ORDERS = ("last_seen", "first_seen", "size", "growth")


def stories(
    story: Annotated[
        str | None,
        typer.Argument(
            metavar="[STORY]", help="Show one story, as firststory story does; with --search, look inside it."
        ),
    ] = None,
    store: options.StoreUrl = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, help=f"How many (default: {FEW}).")] = None,
    order: Annotated[
        str, typer.Option(metavar="|".join(ORDERS), help="Largest or latest of these first.")
    ] = "last_seen",
    search: Annotated[str | None, typer.Option(metavar="WORDS", help="Documents that have all these words.")] = None,
    merged: Annotated[bool, typer.Option("--merged", help="Also the stories that were merged into others.")] = False,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Show the stories of a store, one of them, or the documents with some words."""
    from firststory.cli import output
    from firststory.cli.story import show_story
    from firststory.digest.shapes import story_json
    from firststory.errors import not_one_of

    if order not in ORDERS:
        raise not_one_of("firststory stories", "--order", ORDERS, order, "Leave it out for last_seen.")
    with options.open_store(store, config) as opened:
        if search is not None:
            _show_found(opened, search, story, limit or FEW, json)
            return
        if story is not None:
            show_story(opened, story, limit, json)
            return
        found = opened.stories(limit=limit or FEW, order=order, merged=merged)
        held = opened.merged_into([one.id for one in found])
        total = opened.count_stories(merged=merged)
    if json:
        output.write_json([story_json(one) for one in found])
        return
    if not found:
        print("No stories yet.")
        return
    from firststory.cli.tables import story_table

    screen = output.console()
    screen.print(story_table(found, held, screen.width))
    if total > len(found):
        screen.print(f"{len(found)} of {total:,} stories; more with --limit, one with: firststory story {found[0].id}")


def _show_found(opened: Store, words: str, story: str | None, limit: int, as_json: bool) -> None:
    """The documents that have all the words, of one story where it is named."""
    from firststory.cli import output
    from firststory.cli.story import no_such_story

    if story is not None and opened.story(story) is None:
        raise no_such_story(story)
    found = opened.search(words, limit, story)
    total = len(found) if len(found) < limit else opened.count_found(words, story)
    if as_json:
        output.write_json([verdict.to_dict() for verdict in found])
        return
    if not found:
        print("Nothing found.")
        return
    screen = output.console()
    for verdict in found:
        screen.print(output.verdict_lines(verdict, screen.width))
    if total > len(found):
        screen.print(f"The best {len(found)} of {total:,} documents; more with --limit.", style="dim")

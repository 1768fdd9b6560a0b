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
    from firststory.cli.tables import story_table

    screen = output.console()
    screen.print(story_table(found, held, screen.width))
    if total > len(found):
        screen.print(
            f"{len(found)} of {total:,} stories; more with --limit, one with: firststory stories {found[0].id}"
        )


def _show_head(opened: Store, name: str) -> None:
    """The title, status and lineage of a story, before its documents."""
    from firststory.cli import output
    from firststory.cli.tables import lineage
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

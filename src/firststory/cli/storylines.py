"""`firststory storylines`: what the stories add up to over weeks and months."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.store.store import Store

ORDERS = ("last_seen", "first_seen", "size", "n_stories")


def storylines(
    storyline: Annotated[
        str | None, typer.Argument(metavar="[STORYLINE]", help="Show the stories of one storyline.")
    ] = None,
    store: options.StoreUrl = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    order: Annotated[
        str, typer.Option(metavar="|".join(ORDERS), help="Largest or latest of these first.")
    ] = "last_seen",
    merged: Annotated[bool, typer.Option("--merged", help="Also those that were merged into others.")] = False,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Show the storylines of a store, or the stories of one storyline, oldest first."""
    from firststory.cli import output
    from firststory.cli.tables import storyline_table
    from firststory.digest.shapes import storyline_json
    from firststory.errors import not_one_of

    if order not in ORDERS:
        raise not_one_of("firststory storylines", "--order", ORDERS, order, "Leave it out for last_seen.")
    with options.open_store(store, config) as opened:
        if storyline is not None:
            _show_one(opened, storyline, merged, json)
            return
        found = opened.storylines(limit=limit, order=order, merged=merged)
        total = opened.count_storylines(merged=merged)
    if json:
        output.write_json([storyline_json(one) for one in found])
        return
    if not found:
        print("No storylines yet.")
        return
    screen = output.console()
    screen.print(storyline_table(found, screen.width))
    if total > len(found):
        more = f"{len(found)} of {total:,} storylines; more with --limit, one with: firststory storylines {found[0].id}"
        screen.print(more, markup=False)


def _show_one(store: Store, name: str, merged: bool, as_json: bool) -> None:
    from firststory.cli import output
    from firststory.cli.tables import story_table
    from firststory.digest.shapes import story_json, storyline_json
    from firststory.errors import ParameterError
    from firststory.harmless import harmless

    told = store.storyline(name)
    if told is None:
        raise ParameterError(
            owner="firststory storylines",
            parameter="STORYLINE",
            allowed="the id of a storyline that the store has",
            received=name,
            remedy="Type firststory storylines without an id to see which there are.",
            message=f"The store has no storyline {name}.",
        )
    stories = store.stories(order="first_seen", merged=merged, storyline=name)[::-1]
    if as_json:
        output.write_json(storyline_json(told) | {"stories": [story_json(one) for one in stories]})
        return
    screen = output.console()
    screen.print(f"{told.id}, {told.status}: {harmless(told.title, 100)}", markup=False, style="bold")
    if told.merged_into:
        into = store.current_storyline(name)
        reason = f" ({harmless(told.reason, 200)})" if told.reason else ""
        screen.print(f"Its stories are now in {into}{reason}:", markup=False, style="dim")
    screen.print(story_table(stories, store.merged_into([one.id for one in stories]), screen.width))

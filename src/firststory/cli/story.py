"""`firststory story`: one story, its timeline with turning points, its documents and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.errors import ParameterError
    from firststory.store.store import Store

FEW = 20


def story(
    name: Annotated[str, typer.Argument(metavar="STORY", help="The id of a story, as tables and alerts show it.")],
    store: options.StoreUrl = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, help=f"How many documents (default: all with --json, else {FEW})."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
    config: options.Config = None,
) -> None:
    """Show one story: first and last report, sources, storyline, timeline with turning points, and its documents."""
    with options.open_store(store, config) as opened:
        show_story(opened, name, limit, json)


def show_story(opened: Store, name: str, limit: int | None, as_json: bool) -> None:
    """Print a story, for people or as JSON; an error where the store does not have it."""
    from firststory.cli.output import console, write_json
    from firststory.cli.story_lines import print_story
    from firststory.digest.story import detail_json, story_detail

    told = story_detail(opened, name, limit if limit or as_json else FEW)
    if told is None:
        raise no_such_story(name)
    if as_json:
        write_json(detail_json(told))
    else:
        print_story(console(), told)


def no_such_story(name: str) -> ParameterError:
    """The error for a story that the store does not have."""
    from firststory.errors import ParameterError

    return ParameterError(
        owner="firststory story",
        parameter="STORY",
        allowed="the id of a story that the store has",
        received=name,
        remedy="Type firststory stories without an id to see which there are.",
        message=f"The store has no story {name}.",
    )

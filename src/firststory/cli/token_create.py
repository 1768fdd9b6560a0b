"""`firststory token create`: let someone use the service."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def token_create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whom it is for: a person, a program.")],
    store: options.StoreUrl = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="read|write", help="What it may do; may be repeated (default: read)."),
    ] = None,
    config: options.Config = None,
) -> None:
    """Make a token for the service, and print it: it cannot be seen again, since only its hash is kept.

    read may ask for everything; write may push documents, say what was useful, and change the budget.
    """
    import sys

    from firststory.store.tokens import create_token

    with options.open_store(store, config, writes=True) as opened:
        made = create_token(opened, name, scope or ["read"])
    print(made, flush=True)
    print("firststory: keep it now; it cannot be shown again.", file=sys.stderr)

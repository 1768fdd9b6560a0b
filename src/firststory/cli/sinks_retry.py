"""`firststory sinks retry`: dead letters are tried again."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def sinks_retry(
    store: options.StoreUrl = None,
    sink: Annotated[str | None, typer.Option("--sink", metavar="NAME", help="Only those of one sink.")] = None,
    config: options.Config = None,
) -> None:
    """Have dead letters tried again, by the run that writes to the store now or by the next one with the same sinks."""
    from firststory.cli import output
    from firststory.digest.words import counted
    from firststory.store.outbox import try_again

    with options.open_store(store, config, writes=True) as opened:
        number = try_again(opened, sink)
    output.console().print(f"{counted(number, 'dead letter')} will be tried again.")

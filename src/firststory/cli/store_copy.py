"""`firststory store copy`: a store into another database, or a backup."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def store_copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The store to copy; a run may go on writing to it.")],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="A new store: news.db or postgresql://user@host/database.")
    ],
    json: options.Json = False,
) -> None:
    """Copy a store into a new one, also from SQLite to PostgreSQL and back: everything, the model too.

    What is copied is the store of one moment, and every row is compared with the original. A copy that is interrupted
    leaves nothing behind. A run into the copy goes on where the original stood.
    """
    from firststory.cli import output
    from firststory.cli.rows_progress import rows_progress
    from firststory.store.copying import copy_store, count_rows
    from firststory.store.engine import holds_store
    from firststory.store.store import Store

    with Store(source, read_only=True) as original:
        is_new = not holds_store(target)
        copy = Store(target)
        try:
            with copy, rows_progress(sum(count_rows(original).values())) as advance:
                counts = copy_store(original, copy, advance)
        except BaseException:
            if is_new:
                copy.remove_file()
            raise
        names = {"from": original.name, "to": copy.name}
    if json:
        output.write_json(names | {"rows": counts})
        return
    screen = output.console(soft_wrap=True)
    screen.print(
        f"{sum(counts.values()):,} rows copied and compared: {counts['documents']:,} documents, "
        f"{counts['stories']:,} stories, {counts['alerts']:,} alerts.",
        markup=False,
    )
    screen.print(f"Go on with: firststory run SOURCE --store {names['to']}", markup=False)

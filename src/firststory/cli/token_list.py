"""`firststory token list`: who may use the service."""

from __future__ import annotations

from firststory.cli import options


def token_list(store: options.StoreUrl = None, json: options.Json = False, config: options.Config = None) -> None:
    """Show the tokens of a store: their names and what they may do, never the tokens themselves."""
    from rich.table import Table
    from rich.text import Text

    from firststory.cli import output
    from firststory.digest.words import day, iso
    from firststory.store.codec import to_time
    from firststory.store.tokens import tokens

    with options.open_store(store, config) as opened:
        found = tokens(opened)
    if json:
        output.write_json(
            [
                {
                    "id": one.id,
                    "name": one.name,
                    "scopes": sorted(one.scopes),
                    "created": iso(to_time(one.created)),
                    "used": iso(to_time(one.used)),
                    "revoked": iso(to_time(one.revoked)),
                }
                for one in found
            ]
        )
        return
    if not found:
        print("No tokens yet.")
        return
    table = Table(box=None, header_style="dim", padding=(0, 1, 0, 0), pad_edge=False)
    for head in ("id", "name", "may", "made", "used", "revoked"):
        table.add_column(head)
    for one in found:
        times = (day(to_time(moment)) for moment in (one.created, one.used, one.revoked))
        table.add_row(one.id, Text(one.name), ", ".join(sorted(one.scopes)), *times)
    output.console().print(table)

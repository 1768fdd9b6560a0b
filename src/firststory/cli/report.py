"""`firststory report`: the page of a whole store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firststory.cli import options


def report(
    store: options.StoreUrl = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the page is written (default: the store's name with .html)."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the stream is called (default: as the store's file).")
    ] = None,
    config: options.Config = None,
) -> None:
    """Write a page that shows what was found in a store: alerts, stories, storylines, topics, and why.

    One file without scripts, which asks the outside for nothing: open it in a browser, or pass it on.
    """
    from firststory.cli.output import console
    from firststory.digest.report import report_page
    from firststory.harmless import harmless

    with options.open_store(store, config) as opened:
        file = Path(opened.status()["store"])
        target = out or Path(file.stem + ".html")
        options.check_file(target, "firststory report", "--out")
        target.write_text(report_page(opened, name or file.stem), encoding="utf-8")
    console().print(f"Written: {harmless(str(target), 500)}", markup=False, soft_wrap=True)

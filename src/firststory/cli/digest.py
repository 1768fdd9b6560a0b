"""`firststory digest`: what happened in a period, to read or to mail."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.digest.records import Digest

FORMATS = ("text", "html", "markdown", "json")
TEXT_FILE_COLUMNS = 80


def digest(
    store: options.StoreUrl = None,
    since: Annotated[
        str,
        typer.Option(
            metavar="24h|7d|yesterday|TIME",
            help="What happened since then, counted from the latest document; all: from the beginning.",
        ),
    ] = "yesterday",
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="|".join(FORMATS), help="For the terminal, a mail, a page of notes, or a program."
        ),
    ] = "text",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write it there instead of printing it.")] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, help="Entries of each section (default: 20 alerts, 10 of the others)."),
    ] = None,
    config: options.Config = None,
) -> None:
    """Tell what happened: confirmed events first, then turns, stories that grow, and first reports in brief.

    No story is told twice. The HTML is one page without scripts that can be mailed as it is.
    """
    from firststory.digest.gather import digest_of
    from firststory.errors import not_one_of
    from firststory.pipeline.since import parse_since

    if form not in FORMATS:
        raise not_one_of("firststory digest", "--format", FORMATS, form, "Leave it out for text.")
    if out is not None:
        options.check_file(out, "firststory digest", "--out")
    with options.open_store(store, config) as opened:
        told = digest_of(opened, parse_since(None if since == "all" else since, opened.last_time()), limit)
    if form == "text" and out is None:
        from firststory.cli.digest_lines import print_digest
        from firststory.cli.output import console

        print_digest(console(), told)
        return
    written = _written(told, form)
    if out is None:
        print(written, end="", flush=True)
    else:
        out.write_text(written, encoding="utf-8")


def _written(told: Digest, form: str) -> str:
    """The digest in one of the formats."""
    if form == "json":
        from firststory.cli.output import json_line
        from firststory.digest.shapes import digest_json

        return json_line(digest_json(told)) + "\n"
    if form == "markdown":
        from firststory.digest.markdown import markdown_page

        return markdown_page(told)
    if form == "html":
        from firststory.digest.pages import html_page

        return html_page(told)
    from io import StringIO

    from rich.console import Console

    from firststory.cli.digest_lines import print_digest

    file = StringIO()
    print_digest(Console(file=file, width=TEXT_FILE_COLUMNS, highlight=False), told)
    return file.getvalue()

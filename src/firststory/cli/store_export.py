"""`firststory store export`: everything that was found, as files for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from firststory.cli import options


def store_export(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the files go.")] = Path(
        "firststory-export"
    ),
    file_format: Annotated[str, typer.Option("--format", help="parquet or jsonl.")] = "parquet",
    store: options.StoreUrl = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Write documents with their verdicts, stories, storylines, alerts, topics, thresholds, feedback and what was
    quarantined to files, one for each.

    Parquet has times as timestamps and lists as JSON; JSON lines have times as text and lists as lists. All files are
    of one moment, also while a run goes on.
    """
    from firststory.cli import output
    from firststory.cli.rows_progress import rows_progress
    from firststory.store.copying import count_rows
    from firststory.store.exporting import TABLES, export

    with options.open_store(store, config) as opened:
        options.make_folder(out, "store export", "--out")
        rows = count_rows(opened)
        with rows_progress(sum(rows[name] for name in TABLES)) as advance:
            counts = export(opened, out, file_format, advance)
    if json:
        output.write_json({"folder": str(out), "rows": counts})
        return
    screen = output.console(soft_wrap=True)
    for name, number in counts.items():
        screen.print(f"{number:>12,}  {out / f'{name}.{file_format}'}", markup=False)

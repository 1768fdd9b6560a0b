"""Rows that went by: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Advance(Protocol):
    """Called with what is being done and how many rows of it are done."""

    def __call__(self, what: str, rows: int) -> None: ...


@contextmanager
def rows_progress(total: int | None) -> Iterator[Advance]:
    """A bar on standard error for so many rows."""
    if not sys.stderr.isatty():
        yield lambda what, rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda what, rows: bar.update(task, description=what, advance=rows)

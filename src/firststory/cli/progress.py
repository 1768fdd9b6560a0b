"""How far a run is: a bar with documents per second and the time left; without a terminal, a line now and then.

This is the edge of the program: the clock is read here and nowhere below.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

from firststory.cli.preparing import compiling_seconds
from firststory.digest.words import counted
from firststory.harmless import harmless
from firststory.sources.files import Meter

if TYPE_CHECKING:
    from rich.console import Console

EVERY = 5.0
"""Seconds between two plain lines."""


class Progress:
    """Shows the progress on standard error; results go to standard output."""

    def __init__(self, meter: Meter, quiet: bool = False) -> None:
        self._meter = meter
        self._quiet = quiet
        self._documents = 0
        self._alerts = 0
        self._begin = self._last = time.monotonic()
        self._compiled_before = compiling_seconds()
        self._done_before = 0
        """Bytes that an earlier run had read."""
        self._bar: Any = None
        self._task: Any = None
        if sys.stderr.isatty() and not quiet:
            self._bar, self._task = _make_bar(meter.total)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self) -> None:
        """What comes now is the stream: loading and resuming are over and do not count."""
        self._begin, self._compiled_before = time.monotonic(), compiling_seconds()
        self._done_before = self._meter.done()

    def advance(self, documents: int, alerts: int) -> None:
        """A step is done."""
        self._documents += documents
        self._alerts += alerts
        now = time.monotonic()
        rate = self.rate()
        if self._bar is not None:
            done = self._meter.done()
            so_far = f"{counted(self._documents, 'document')} · {counted(self._alerts, 'alert')}"
            description = f"{so_far} · {rate:,.0f}/s"
            self._bar.update(self._task, completed=done, description=description)
        elif not self._quiet and now - self._last >= EVERY:
            self._last = now
            so_far = f"{counted(self._documents, 'document')}, {counted(self._alerts, 'alert')}"
            self.say(f"{so_far}, {rate:,.0f} documents/s{self._left(now)}")

    def say(self, text: str) -> None:
        """One line for people, on standard error. It may name a file, and names of files come from strangers."""
        text = harmless(text, 500)
        if self._bar is not None:
            self._bar.console.print(text, markup=False)
        elif not self._quiet:
            print(text, file=sys.stderr, flush=True)

    def show(self, result: Any, screen: Console) -> None:
        """A result for people: above the bar where both are on the terminal, else where results go."""
        above = self._bar.console if self._bar is not None and screen.is_terminal else screen
        above.print(result)

    def rate(self) -> float:
        """Documents a second, without the time that went into compiling kernels."""
        return self._documents / max(self._working(time.monotonic()), 1e-9)

    def _working(self, now: float) -> float:
        return now - self._begin - (compiling_seconds() - self._compiled_before)

    def _left(self, now: float) -> str:
        done, total = self._meter.done() - self._done_before, self._meter.total
        if not total or done <= 0:
            return ""
        seconds = self._working(now) * max(total - self._done_before - done, 0) / done
        return f", about {seconds:,.0f} s left" if seconds < 120 else f", about {seconds / 60:,.0f} min left"


def _make_bar(total: int | None) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20), TimeRemainingColumn()]
    bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
    return bar, bar.add_task("starting", total=total)

"""How far a run is: a bar with documents per second and the time left; without a terminal, a line now and then.

This is the edge of the program: the clock is read here and nowhere below.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from firststory.cli.alert_lines import alert_lines
from firststory.digest.words import PUSHED, counted
from firststory.harmless import harmless
from firststory.sources.files import Meter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from firststory.records import Lag, Step
    from firststory.vitals import Vitals


class Progress:
    """Shows the progress on standard error, and alerts where results go, above the bar where both are on a terminal."""

    def __init__(self, meter: Meter, screen: Console, quiet: bool = False) -> None:
        self._meter = meter
        self._screen = screen
        self._quiet = quiet
        self._vitals: Vitals | None = None
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

    def start(self, **facts: Any) -> None:
        """People know what they have typed."""

    def begin(self, vitals: Vitals) -> None:
        """What comes now is the stream: loading and resuming are over and do not count."""
        self._vitals = vitals
        self._done_before = self._meter.done()

    def advance(self, step: Step, is_due: bool) -> None:
        """A step is done; without a terminal a line is due now and then."""
        vitals = self._vitals
        if vitals is None or self._quiet:
            return
        for alert in step.alerts:
            if alert.kind in PUSHED:
                self._show(alert_lines(alert, self._screen.width).append("\n"))
        documents, alerts = counted(vitals.documents, "document"), counted(vitals.alerts, "alert")
        if self._bar is not None:
            description = f"{documents} · {alerts} · {vitals.rate():,.0f}/s{lag_in_words(vitals.lag(), ' · ')}"
            self._bar.update(self._task, completed=self._meter.done(), description=description)
        elif is_due:
            lag = lag_in_words(vitals.lag(), ", ")
            self.say(f"{documents}, {alerts}, {vitals.rate():,.0f} documents/s{self._left(vitals)}{lag}")

    def say(self, text: str) -> None:
        """One line for people, on standard error. It may name a file, and names of files come from strangers."""
        text = harmless(text, 500)
        if self._bar is not None:
            self._bar.console.print(text, markup=False)
        elif not self._quiet:
            print(text, file=sys.stderr, flush=True)

    def _show(self, result: Any) -> None:
        above = self._bar.console if self._bar is not None and self._screen.is_terminal else self._screen
        above.print(result)

    def _left(self, vitals: Vitals) -> str:
        done, total = self._meter.done() - self._done_before, self._meter.total
        if not total or done <= 0:
            return ""
        seconds = vitals.working() * max(total - self._done_before - done, 0) / done
        return f", about {seconds:,.0f} s left" if seconds < 120 else f", about {seconds / 60:,.0f} min left"


def lag_in_words(lag: Mapping[str, Lag], before: str = "") -> str:
    """How far behind a run is, all sources together; nothing where no source can tell.

    Examples
    --------
    >>> from firststory.records import Lag
    >>> lag_in_words({"a": Lag(1200, "documents"), "b": Lag(300, "documents"), "c": Lag(5_300_000, "bytes")}, ", ")
    ', 1,500 documents and 5.3 MB behind'
    """
    units = {unit: sum(one.amount for one in lag.values() if one.unit == unit) for unit in ("documents", "bytes")}
    known = {one.unit for one in lag.values()}
    words = [counted(units["documents"], "document")] if "documents" in known else []
    words += [f"{units['bytes'] / 1e6:,.1f} MB"] if "bytes" in known else []
    return f"{before}{' and '.join(words)} behind" if words else ""


def _make_bar(total: int | None) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20), TimeRemainingColumn()]
    bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
    return bar, bar.add_task("starting", total=total)

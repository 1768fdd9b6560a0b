"""Sources of which nothing could be read: that is no success, however well the stream went on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import typer

from firststory.cli.guard import ERROR, complain
from firststory.records import Quarantined

if TYPE_CHECKING:
    from firststory.records import Arrival


class Unread:
    """Counts what came of each source.

    Parameters
    ----------
    known : collection of str
        Sources that an earlier run has read from: a bad line at their end says nothing of the rest.
    """

    def __init__(self, known: Collection[str] = ()) -> None:
        self._known = known
        self._good: Counter[str] = Counter()
        self._bad: dict[str, Counter[str]] = {}
        self._first: dict[str, str] = {}

    def watch(self, arrivals: Iterator[Arrival]) -> Iterator[Arrival]:
        """The same arrivals."""
        for arrival in arrivals:
            if isinstance(arrival, tuple):
                self._good[arrival[1].source] += 1
            elif isinstance(arrival, Quarantined):
                source = arrival.position.source
                self._bad.setdefault(source, Counter())[arrival.reason] += 1
                self._first.setdefault(source, arrival.message)
            yield arrival

    def check(self) -> None:
        """Exit with status 1 where nothing of a source could be read, and say what the first trouble was."""
        unread = [source for source in self._bad if not self._good[source] and source not in self._known]
        for source in unread:
            reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(self._bad[source].items()))
            shown = "standard input" if source == "-" else source
            first = self._first[source].removeprefix("document: ")
            complain(f"nothing in {shown} could be read ({reasons}); the first: {first}")
        if unread:
            raise typer.Exit(ERROR)

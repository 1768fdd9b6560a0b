"""Sources of which nothing could be read: that is no success, and nothing of them is stored.

Their lines are held back until one is a document, so that the next run, with the right `--map` or `--format`, reads
them again. Standard input cannot be read again: there nothing is held back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import typer

from firststory.cli.guard import ERROR, complain
from firststory.records import Idle, Quarantined

if TYPE_CHECKING:
    from firststory.records import Arrival

MOST_HELD = 10_000
"""Lines held back at most; after so many the stream goes on."""
STDIN = "-"


class Unread:
    """Watches what comes of each source.

    Parameters
    ----------
    known : collection of str
        Sources that an earlier run has read from: a bad line at their end says nothing of the rest.
    """

    def __init__(self, known: Collection[str] = ()) -> None:
        self._read = {STDIN: False} | dict.fromkeys(known, True)
        """Sources whose lines are no longer held back, and whether a document came of them."""
        self._bad: dict[str, Counter[str]] = {}
        self._first: dict[str, str] = {}

    def watch(self, arrivals: Iterator[Arrival]) -> Iterator[Arrival]:
        """The same arrivals, without those of sources of which nothing can be read."""
        held: list[Quarantined] = []
        for arrival in arrivals:
            if isinstance(arrival, Idle):
                yield arrival
                continue
            bad = arrival if isinstance(arrival, Quarantined) else None
            source = arrival.position.source if isinstance(arrival, Quarantined) else arrival[1].source
            if held and held[0].position.source != source:
                held = []
            if bad is not None:
                self._bad.setdefault(source, Counter())[bad.reason] += 1
                self._first.setdefault(source, bad.message)
                if source not in self._read and len(held) < MOST_HELD:
                    held.append(bad)
                    continue
            self._read[source] = self._read.get(source, False) or bad is None
            yield from held
            held = []
            yield arrival

    def check(self) -> None:
        """Exit with status 1 where nothing of a source could be read, and say what the first trouble was."""
        unread = [source for source in self._bad if not self._read.get(source)]
        for source in unread:
            reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(self._bad[source].items()))
            shown = "standard input" if source == STDIN else source
            first = self._first[source].removeprefix("document: ")
            complain(f"nothing in {shown} could be read ({reasons}); the first: {first}")
        if unread:
            raise typer.Exit(ERROR)

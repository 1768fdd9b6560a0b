"""The sources that a command names: files read one after another, or live sources read at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from firststory.cli.interrupt import Interrupt
from firststory.records import Arrival, Lag, Position
from firststory.settings import resolve
from firststory.sources.files import STDIN, Meter, are_whole, expand, read_all
from firststory.sources.live import LiveSources
from firststory.sources.opening import identity_of, is_live, open_sources, with_folders
from firststory.sources.source import Options

IDLE_SECONDS = 1.0
"""Silence of standard input after which what has come so far is judged."""


class Input(NamedTuple):
    """Arrivals, and whom to tell which of them are safe in the store."""

    arrivals: Iterator[Arrival]
    acknowledge: Callable[[Sequence[Position]], None]
    lag: Callable[[], Mapping[str, Lag]] = dict


class WantedSources:
    """What was named on the command line, checked before a store is made."""

    def __init__(self, names: Sequence[str], named: Mapping[str, Any], store: str, follow: bool) -> None:
        settings = resolve(named)
        self._reading = {
            "format": settings.format,
            "max_document_bytes": settings.max_document_bytes,
            "columns": settings.columns,
        }
        self.is_live = is_live(names, follow)
        self._names = [] if self.is_live else expand(with_folders(names))
        options = Options(
            identity=identity_of(store),
            max_document_bytes=settings.max_document_bytes,
            allow_private_addresses=settings.allow_private_addresses,
            poll_seconds=settings.poll,
            columns=settings.columns,
            follow=follow,
            read_file=self._reading,
        )
        self._sources = open_sources(names, options) if self.is_live else []

    @property
    def names(self) -> list[str]:
        """What is read, without passwords."""
        return [source.name for source in self._sources] or list(self._names)

    @property
    def has_standard_input(self) -> bool:
        return STDIN in self._names

    @property
    def never_wait(self) -> bool:
        """Whether all that is read is there already."""
        return not self.is_live and are_whole(self._names)

    def meter(self) -> Meter:
        """How far reading is; the length of live sources is as unknown as that of standard input."""
        return Meter([STDIN] if self.is_live else self._names)

    @contextmanager
    def open(
        self, positions: Mapping[str, Position], say: Callable[[str], None], meter: Meter, interrupt: Interrupt
    ) -> Iterator[Input]:
        """Begin to read where the store stands."""
        if not self.is_live:
            options = {**self._reading, "idle_seconds": IDLE_SECONDS, "stdin": interrupt.standard_input()}
            yield Input(read_all(self._names, positions, say, meter, **options), lambda _: None)
            return
        with LiveSources(self._sources, positions, say) as live:
            yield Input(iter(live), live.acknowledge, live.lag)

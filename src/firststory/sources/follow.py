"""Files beside live sources, read once or followed for ever as `tail -F` does: appended to, rotated, truncated."""

from __future__ import annotations

from collections.abc import Iterator

from firststory.records import Arrival, Position
from firststory.sources.files import STDIN, expand, read, source_name
from firststory.sources.source import Options, Source, wrong_address

POLL_SECONDS = 0.2


def open_files(name: str, options: Options) -> list[Source]:
    """The files that a path or a glob means."""
    if name == STDIN:
        raise wrong_address(
            name,
            "a file or an address where sources are followed",
            "Standard input is read alone, or with files that end.",
        )
    return [FileSource(path, options) for path in expand([name])]


class FileSource:
    """One file among live sources."""

    def __init__(self, path: str, options: Options) -> None:
        self.name = source_name(path)
        self._path, self._options = path, options

    def read(self, after: Position | None) -> Iterator[Arrival]:
        yield from read(self._path, after=after, **(self._options.read_file or {}))

    def acknowledge(self, position: Position) -> None:
        """A file remembers nothing."""

    def close(self) -> None:
        """Nothing stays open."""

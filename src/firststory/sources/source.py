"""What a live source must do.

A source is read in a thread of its own (`live.py`), which alone calls it, so clients need not be shared between
threads. Positions rule: what the store has committed is where reading goes on, whatever the other side believes.
Acknowledging tells the other side what it may forget; it is repeated, and may be lost, without harm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from firststory.errors import SourceError
from firststory.records import Arrival, Lag, Position


class Source(Protocol):
    """Documents from outside that arrive as they like, and for as long as they like."""

    @property
    def name(self) -> str:
        """The name under which positions are kept: an address without passwords."""

    def read(self, after: Position | None) -> Iterator[Arrival]:
        """Arrivals after a position, for ever or to the end; `Idle` at least once a second while there is nothing.

        Raises `Unavailable` where trying again may help, and any other error where it will not.
        """

    def acknowledge(self, position: Position) -> None:
        """Everything up to a position is safe in the store."""

    def close(self) -> None:
        """Give connections back."""


@runtime_checkable
class TellsLag(Protocol):
    """A source that knows how far behind the store is."""

    def lag(self, committed: Position | None) -> Lag | None:
        """What there is after what the store has committed; None while the other side cannot tell."""


@dataclass(frozen=True, slots=True)
class Options:
    """What sources need to know beside their address."""

    identity: str = "firststory"
    """A name for this reader that is the same in every run of one store, and another for another store."""
    max_document_bytes: int = 5_000_000
    allow_private_addresses: bool = False
    poll_seconds: float = 300.0
    """Between two looks at a feed that says nothing about it."""
    fetch_seconds: float = 60.0
    """For a whole answer of a feed's server."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Under which names the fields of a document are found; what an address says itself comes first."""
    follow: bool = False
    read_file: Mapping[str, Any] | None = None
    """Options for `files.read`."""


class Unavailable(Exception):
    """The other side is away or busy; `retry_after` is how many seconds it asks for."""

    def __init__(self, problem: str, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after = retry_after


def wrong_address(address: str, allowed: str, remedy: str) -> SourceError:
    """The error for an address that cannot be right."""
    return SourceError(owner="source", parameter="SOURCE", allowed=allowed, received=address, remedy=remedy)

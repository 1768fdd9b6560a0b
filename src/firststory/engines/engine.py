"""What an engine does: a function on every piece, the results in the order of the pieces.

Where pieces begin and end is decided by the caller and never depends on the number of workers, so the results are the
same bits on every engine. A function is called with a piece and with what all pieces share; it changes neither, keeps
nothing, and may be called more than once for a piece: a worker that is lost is replaced by another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class Residents(Protocol):
    """Objects that live with an engine, by number. Any of them can be lost at any time, and is then placed again."""

    n_wanted: int
    """Into how many objects work is best cut here."""

    def place(self, states: Mapping[int, Any]) -> None:
        """Make objects of these states, in place of what had their numbers."""
        ...

    def ask(self, own: Mapping[int, Any], shared: Any) -> dict[int, Any]:
        """What `call` answers, by number. Those that are lost are not in the result.

        An object may be asked the same more than once: `call` must not mind.
        """
        ...

    def close(self) -> None:
        """Let go of all objects."""
        ...


class Engine(Protocol):
    """Computes pieces."""

    name: str
    """As it was typed: "threads:2"."""

    def map(self, function: Callable[..., Result], pieces: Sequence[Any], *shared: Any) -> list[Result]:
        """`[function(piece, *shared) for piece in pieces]`; what is shared is sent once, not with every piece.

        For a cluster the function must be one that a module has under its own name.
        """
        ...

    def settle(self, load: Callable[[Any], Any], call: Callable[[Any, Any, Any], Any]) -> Residents:
        """Room for objects that stay where they are computed with: `load(state)` makes one, `call(object, own, shared)`
        asks it. For a cluster both must be functions that a module has under their own names.
        """
        ...

    def close(self) -> None:
        """Give threads and connections back."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *problem: object) -> None: ...

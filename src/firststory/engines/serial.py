"""The engine that everyone has: one piece after another, in this thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from firststory.engines.engine import Residents, Result
from firststory.engines.residents import LocalResidents


class SerialEngine:
    """Computes pieces one after another.

    Examples
    --------
    >>> SerialEngine().map(pow, [1, 2, 3], 2)
    [1, 4, 9]
    """

    name = "serial"

    def map(self, function: Callable[..., Result], pieces: Sequence[Any], *shared: Any) -> list[Result]:
        return [function(piece, *shared) for piece in pieces]

    def settle(self, load: Callable[[Any], Any], call: Callable[[Any, Any, Any], Any]) -> Residents:
        return LocalResidents(self, 1, load, call)

    def close(self) -> None:
        """Nothing to give back."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

"""Objects that stay in this process: what serial and threads keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firststory.engines.engine import Engine


class LocalResidents:
    """Objects in memory, asked one after the other or side by side, as the engine maps.

    Examples
    --------
    >>> from firststory.engines.serial import SerialEngine
    >>> words = SerialEngine().settle(list, lambda words, own, shared: (len(words), own, shared))
    >>> words.place({0: "ab", 1: "abc"})
    >>> words.ask({0: "x", 1: "y"}, "z")
    {0: (2, 'x', 'z'), 1: (3, 'y', 'z')}
    """

    def __init__(
        self, engine: Engine, n_wanted: int, load: Callable[[Any], Any], call: Callable[[Any, Any, Any], Any]
    ) -> None:
        self.n_wanted = n_wanted
        self._engine, self._load, self._call = engine, load, call
        self._held: dict[int, Any] = {}

    def place(self, states: Mapping[int, Any]) -> None:
        made = self._engine.map(self._load, list(states.values()))
        self._held.update(zip(states, made, strict=True))

    def ask(self, own: Mapping[int, Any], shared: Any) -> dict[int, Any]:
        there = [number for number in own if number in self._held]
        answers = self._engine.map(lambda number: self._call(self._held[number], own[number], shared), there)
        return dict(zip(there, answers, strict=True))

    def close(self) -> None:
        self._held.clear()

"""Which stories fade: those without a document for some days, and the quietest where there are too many."""

from __future__ import annotations

from typing import Self

import numpy as np

from firststory.state import State
from firststory.stories.quiet import QuietFirst
from firststory.units import DAY_SECONDS


class Ageing:
    """When each open story last got a document: its time, and its turn (the number of the document in the stream).

    A story without any time cannot fade by time; it can by turn.

    Examples
    --------
    >>> ageing = Ageing()
    >>> ageing.touch(1, last=0.0)
    >>> ageing.touch(2, last=5 * DAY_SECONDS)
    >>> ageing.pop_quiet(now=6 * DAY_SECONDS, fade_days=2.0, max_stories=10)
    [1]
    """

    def __init__(self) -> None:
        self._turn = 0
        self._turns: dict[int, int] = {}
        self._last: dict[int, float] = {}
        self._by_turn = QuietFirst()
        self._by_time = QuietFirst()

    def touch(self, key: int, last: float | None) -> None:
        """A document has come to a story, whose latest time is now `last`."""
        self._turn += 1
        self._set(key, self._turn, last)

    def _set(self, key: int, turn: int, last: float | None) -> None:
        if key not in self._turns:
            self._by_turn.add(turn, key)
        self._turns[key] = turn
        if last is not None:
            if key not in self._last:
                self._by_time.add(last, key)
            self._last[key] = last

    def merge(self, key: int, into: int) -> None:
        """A story was merged into another."""
        self._set(into, self._turns[into], max((self._last[k] for k in (key, into) if k in self._last), default=None))
        self._forget(key)

    def pop_quiet(self, now: float | None, fade_days: float, max_stories: int) -> list[int]:
        """The stories that fade now; they are forgotten."""
        quiet: list[int] = []
        if now is not None:
            quiet = self._by_time.pop_before(now - fade_days * DAY_SECONDS, self._last.get)
        n_too_many = len(self._turns) - len(quiet) - max_stories
        if n_too_many > 0:
            quiet += self._by_turn.pop_first(n_too_many, self._turns.get, without=set(quiet))
        for key in quiet:
            self._forget(key)
        # Where stories fade by their number, or go into others, the time of most never comes.
        self._by_time.drop_gone(self._last.get, len(self._last))
        self._by_turn.drop_gone(self._turns.get, len(self._turns))
        return quiet

    def _forget(self, key: int) -> None:
        del self._turns[key]
        self._last.pop(key, None)

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """The turn and time of each story; NaN for no time."""
        keys = sorted(self._turns)
        return {
            "turn": self._turn,
            "keys": np.array(keys, dtype=np.int64),
            "turns": np.array([self._turns[key] for key in keys], dtype=np.int64),
            "last": np.array([self._last.get(key, np.nan) for key in keys], dtype=np.float64),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        ageing = cls()
        ageing._turn = state["turn"]
        for key, turn, last in zip(*(state[name].tolist() for name in ("keys", "turns", "last")), strict=True):
            ageing._set(key, turn, None if np.isnan(last) else last)
        return ageing

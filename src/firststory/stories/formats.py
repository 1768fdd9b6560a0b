"""Titles that begin like many others ("Watch live:", "Opinion |") name a format, not an event."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Self

from firststory.state import State

MAX_KICKERS = 1000
MIN_STORIES = 3
"""Stories that must have begun with the same words before they are a format."""
_KICKER = re.compile(r"^\s*(\S[^:|\u2014]{0,28}?)\s*(?:[:\u2014]\s|\|)")
"""At most thirty characters before a colon, a dash or a bar."""


class TitleFormats:
    """The words before the first colon, dash or bar of titles, and how many stories began with them.

    Examples
    --------
    >>> formats = TitleFormats()
    >>> for title in ("Watch live: Trump speaks", "Watch live: vote on Kavanaugh", "Watch live: the rally"):
    ...     formats.note_opening(title)
    >>> formats.is_format("Watch live: Mars landing"), formats.is_format("Brexit: no deal")
    (True, False)
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()

    def note_opening(self, title: str) -> None:
        """A story was opened by a document of this title."""
        kicker = _kicker(title)
        if kicker:
            self._counts[kicker] = self._counts.pop(kicker, 0) + 1
            if len(self._counts) > MAX_KICKERS:
                self._counts.popitem(last=False)

    def is_format(self, title: str) -> bool:
        """Whether several stories began like this title."""
        return self._counts.get(_kicker(title), 0) >= MIN_STORIES

    def get_state(self) -> State:
        """The words and their counts, those that were not heard for longest first."""
        return {"kickers": list(self._counts), "counts": list(self._counts.values())}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        formats = cls()
        formats._counts = OrderedDict(zip(state["kickers"], state["counts"], strict=True))
        return formats


def _kicker(title: str) -> str:
    found = _KICKER.match(title) if ":" in title or "|" in title or "\u2014" in title else None
    return found[1].casefold() if found else ""

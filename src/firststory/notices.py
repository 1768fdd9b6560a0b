"""A sentence for people that programs can read too: what happened, how bad it is, and the facts."""

from __future__ import annotations

from typing import Any, Self


class Notice(str):
    """A sentence with an event, a level and facts beside it; whoever only prints it need not know.

    Examples
    --------
    >>> told = Notice("Redis is back.", "source_back", source="redis://localhost:6379/news")
    >>> print(told), told.event, told.level, told.facts
    Redis is back.
    (None, 'source_back', 'info', {'source': 'redis://localhost:6379/news'})
    """

    event: str
    level: str
    facts: dict[str, Any]

    def __new__(cls, sentence: str, event: str, level: str = "info", **facts: Any) -> Self:
        made = super().__new__(cls, sentence)
        made.event, made.level, made.facts = event, level, facts
        return made

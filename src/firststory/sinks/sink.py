"""What a sink must do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from firststory.records import Alert

Shape = Callable[[Alert], dict[str, Any]]
"""An alert as the JSON value that `firststory alerts --json` prints."""


class Sink(Protocol):
    """Where alerts go."""

    @property
    def name(self) -> str:
        """The name under which deliveries are kept: without passwords."""

    @property
    def every(self) -> float:
        """Seconds in which alerts are gathered and delivered together; 0 for each by itself, at once."""

    def deliver(self, alerts: Sequence[Alert]) -> None:
        """Hand the alerts over; raises `NotDelivered`. The same alerts may come again after a kill."""


class NotDelivered(Exception):
    """It did not work. `is_final` says that trying again would not help, `retry_after` when to try."""

    def __init__(self, problem: str, *, is_final: bool = False, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.is_final, self.retry_after = is_final, retry_after

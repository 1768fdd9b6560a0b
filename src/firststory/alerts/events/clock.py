"""The clock of the alerts: seconds that never fall, and how long an event is watched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from firststory.alerts.budget import UNTIMED_DAY_DOCUMENTS
from firststory.arrays import Floats
from firststory.units import DAY_SECONDS

FADING = 0.998
WATCH_DAYS, LEAST_WATCH_DAYS = 1.0, 0.125
"""How long an event is watched, and the least time that is assumed between two reports, where times have a clock."""
DATED_WATCH_DAYS, DATED_LEAST_WATCH_DAYS = 2.0, 1.0
"""The same where times are days only."""


@dataclass(slots=True)
class AlertClock:
    """A document counts from when it came: one that comes late comes now.

    Where a stream has no times, a thousand documents are a day.

    Examples
    --------
    >>> clock = AlertClock()
    >>> clock.arrivals([10.0, 5.0, None]).tolist(), clock.is_timed
    ([10.0, 10.0, 10.0], True)
    >>> float(AlertClock().arrivals([None] * 1001)[-1])
    86400.0
    """

    now: float = 0.0
    begun: float | None = None
    is_timed: bool = False
    documents: int = 0
    with_clock: float = 0.0
    with_time: float = 0.0
    """Fading numbers of documents whose time has a clock, and of those with a time."""

    @property
    def is_dated(self) -> bool:
        """Whether times are days without a clock."""
        return self.is_timed and self.with_clock < 0.1 * self.with_time

    @property
    def watch_days(self) -> float:
        """How long an event is watched."""
        return DATED_WATCH_DAYS if self.is_dated else WATCH_DAYS

    @property
    def least_watch_days(self) -> float:
        """The least time that is assumed between two reports."""
        return DATED_LEAST_WATCH_DAYS if self.is_dated else LEAST_WATCH_DAYS

    def arrivals(self, seconds: Sequence[float | None]) -> Floats:
        """When each document came; its own time unless that lies before the latest one."""
        times = np.array([np.nan if one is None else one for one in seconds], dtype=np.float64)
        known = ~np.isnan(times)
        if known.any():
            self._note(times[known])
        elif not self.is_timed:
            ordinals = np.arange(self.documents, self.documents + len(times), dtype=np.float64)
            times = ordinals * (DAY_SECONDS / UNTIMED_DAY_DOCUMENTS)
        self.documents += len(times)
        if len(times) == 0:
            return times
        if self.begun is None:
            first = times[~np.isnan(times)][0]
            self.begun = self.now = float(first)
        clock = np.fmax.accumulate(np.fmax(times, self.now))
        self.now = float(clock[-1])
        return clock

    def shift_to(self, seconds: float) -> float:
        """The first time of a stream that had none so far: returns by how much what came before is moved."""
        moved = 0.0 if self.begun is None else seconds - self.now
        if self.begun is not None:
            self.begun, self.now = self.begun + moved, seconds
        return moved

    def _note(self, times: Floats) -> None:
        fading = FADING ** len(times)
        self.is_timed = True
        self.with_clock = self.with_clock * fading + float((times % DAY_SECONDS != 0.0).sum())
        self.with_time = self.with_time * fading + len(times)

    def get_state(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        return cls(**state)

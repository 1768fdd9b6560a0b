"""The clock of a stream: it never runs backwards, and stands still where documents have no times."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats
from firststory.errors import ParameterError

UNDECIDED = -1
"""No document has come yet: the stream may turn out to have times, or none."""


def forward(times: Floats | None, n: int, now: float) -> tuple[Floats, float]:
    """The time of each row as the stream's clock shows it when the rows come one after the other, and the new now.

    A late row counts as if it came with the latest time seen; before any time is known the clock shows 0.
    """
    if times is None or n == 0:
        return np.full(n, now if math.isfinite(now) else 0.0), now
    clock = np.maximum.accumulate(np.maximum(times, now))
    return clock, float(clock[-1])


def standing(times: Floats | None, n: int, now: float) -> Floats:
    """The time of each row as if it came next, by itself."""
    if times is None:
        return np.full(n, now if math.isfinite(now) else 0.0)
    return np.maximum(times, now)


def has_times(decided: int, times: Floats | None, owner: str) -> int:
    """1 for a stream with times, 0 for one without: the first batch decides (`decided` is -1 before it)."""
    if decided == UNDECIDED:
        return int(times is not None)
    if times is not None and not decided:
        raise ParameterError(
            owner=owner,
            parameter="times",
            allowed="given from the first batch on, or never",
            received="times for a stream that began without",
            remedy="Fit again with times=..., or leave times out.",
        )
    return decided

"""The clock of a stream: it never runs backwards, and stands still where documents have no times."""

from __future__ import annotations

import math

import numpy as np

from firststory.detectors.base import Floats


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

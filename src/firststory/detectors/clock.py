"""The clock of a stream: it never runs backwards, and stands still where documents have no times.

`now` is the latest time seen, -inf before any.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Floats
from firststory.errors import ParameterError

UNDECIDED = -1
"""No document has come yet: the stream may have times, or not."""


def advance_clock(times: Floats | None, n: int, now: float) -> tuple[Floats, float]:
    """What the clock shows as each of n rows comes, one after the other, and the latest time afterwards.

    A late row counts as if it came at the latest time seen; before any time is known the clock shows 0.

    Examples
    --------
    >>> import numpy as np
    >>> clock, now = advance_clock(np.array([3.0, 2.0, 5.0]), 3, -np.inf)
    >>> clock.tolist(), now
    ([3.0, 3.0, 5.0], 5.0)
    """
    if times is None or n == 0:
        return np.full(n, now if math.isfinite(now) else 0.0), now
    clock = np.maximum.accumulate(np.maximum(times, now))
    return clock, float(clock[-1])


def read_clock(times: Floats | None, n: int, now: float) -> Floats:
    """What the clock would show for each of n rows if that row alone came next; nothing advances.

    Examples
    --------
    >>> import numpy as np
    >>> read_clock(np.array([7.0, 2.0, 6.0]), 3, 5.0).tolist()
    [7.0, 5.0, 6.0]
    """
    if times is None:
        return np.full(n, now if math.isfinite(now) else 0.0)
    return np.maximum(times, now)


def stream_has_times(decided: int, times: Floats | None, owner: str) -> int:
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
            message="Times were given for a stream that began without them.",
        )
    return decided

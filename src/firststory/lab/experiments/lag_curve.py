"""How old the nearest earlier document usually is, beside how old earlier documents are: learnt as a stream goes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats

BINS = 14
"""Of ages: bin b is 2^b - 1 to 2^(b+1) - 1 days."""

PRIOR = 20.0
"""Documents' worth of belief that the nearest is as old as any."""

POWER = 0.2
"""How much an age counts: the ratio to this power, by which the cosine is multiplied."""

EVERY = 20
"""Documents between two looks at the curve."""


class LagCurve:
    """Ratio of the ages of nearest documents to the ages of all, by bins of age, falling with age.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.arange(40.0)
    >>> neighbours = np.arange(40)[:, None] - 1
    >>> known = LagCurve().follow(neighbours, np.where(neighbours >= 0, 0.5, 0.0), times)
    >>> float(known[0]), float(known[-1])
    (0.0, 0.5)
    """

    def __init__(self) -> None:
        self.nearest, self.all = np.zeros(BINS), np.zeros(BINS)

    def factors(self) -> Floats:
        """What a cosine is multiplied with in each bin; 1 for the youngest."""
        share = self.all / max(self.all.sum(), 1e-12)
        ratio = (self.nearest + PRIOR * share) / np.maximum(self.all + PRIOR * share, 1e-12)
        ratio = np.where(self.all > 0, ratio, 0.0)
        falling = np.maximum.accumulate(ratio[::-1])[::-1]  # and unseen bins are like the next older one
        factors: Floats = (falling / max(falling[0], 1e-12)) ** POWER if falling[0] > 0 else np.ones(BINS)
        return factors

    def follow(self, neighbours: NDArray[np.int64], cosines: Floats, days: Floats) -> Floats:
        """For each document the best cosine to its neighbours as the curve of its past weighs it."""
        known = np.zeros(len(days))
        factors = np.ones(BINS)
        for i in range(1, len(days)):
            if i % EVERY == 0:
                factors = self.factors()
            there = neighbours[i] >= 0
            if there.any():
                bins = _bins(days[i] - days[neighbours[i][there]])
                known[i] = (cosines[i][there] * factors[bins]).max()
                weight = cosines[i][0] ** 2
                self.nearest[bins[0]] += weight
                self.all += weight * np.bincount(_bins(days[i] - days[:i]), minlength=BINS) / i
        return known


def _bins(ages: Floats) -> NDArray[np.int64]:
    return np.minimum(np.log2(1.0 + np.maximum(ages, 0.0)), BINS - 1).astype(np.int64)

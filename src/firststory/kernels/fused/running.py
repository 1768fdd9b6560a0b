"""Averages of a stream in which the past fades."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.jit import kernel


@kernel
def running_share(happened: NDArray[np.bool_], share: float, half_life: float) -> tuple[Floats, float]:
    """How often it has happened before each step, the last ones counting most; and after all of them."""
    keep = 0.5 ** (1.0 / half_life)
    before = np.empty(len(happened))
    for i in range(len(happened)):
        before[i] = share
        share = keep * share + ((1.0 - keep) if happened[i] else 0.0)
    return before, share

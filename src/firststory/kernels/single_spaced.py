"""Words with one space between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.jit import kernel

SPACE = 32


@kernel
def single_spaced(letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The bytes with every run of spaces as one, and none at either end."""
    out, n, before = np.empty(len(letters) + 1, np.uint8), 0, np.uint8(SPACE)
    for letter in letters:
        out[n] = letter  # stays only if n moves on: no branch to guess
        n += (letter != SPACE) | (before != SPACE)
        before = letter
    return out[: n - 1] if n > 0 and before == SPACE else out[:n]

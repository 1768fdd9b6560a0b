"""Words with one space between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.jit import kernel

SPACE = 32


@kernel
def single_spaced(letters: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The bytes with every run of spaces as one, and none at either end."""
    out, n = np.empty(len(letters) + 1, np.uint8), 0
    for letter in letters:
        if letter != SPACE:
            out[n] = letter
            n += 1
        elif n > 0 and out[n - 1] != SPACE:
            out[n] = SPACE
            n += 1
    return out[: n - 1] if n > 0 and out[n - 1] == SPACE else out[:n]

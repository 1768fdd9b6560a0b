"""Names for the arrays that flow through firststory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Slots = NDArray[np.int32]
"""Places in a table of bounded size."""
Columns = NDArray[np.int32]
"""Columns of a vocabulary."""

"""Columns under other numbers, for detectors that keep rows or clusters in an index of posting lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class IndexedColumns:
    """What a pruning of the vocabulary asks of a detector; `index_` has a list a column."""

    index_: Any
    n_features_in_: int

    def columns_in_use(self) -> NDArray[np.int64]:
        """The columns that a remembered row or a cluster has."""
        return np.flatnonzero(self.index_.length)

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        self.index_.renumber(new)
        self.n_features_in_ = int((new >= 0).sum())

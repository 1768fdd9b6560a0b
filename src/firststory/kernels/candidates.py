"""The fused index, judging rows by themselves, names the earlier rows that came closest too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.fused import COMPLETED, FusedIndex
from firststory.kernels.fused_follow import judge_fused

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class CandidateIndex(FusedIndex):
    """`FusedIndex` with `nearest`: `judge`, and whom it found."""

    def nearest(
        self, indptr: Ints, indices: Ints, data: Floats, days: Floats, ticks: Floats, *, k: int, budget: int,
        knobs: Floats,
    ) -> tuple[Floats, Floats, Floats, Ints]:  # fmt: skip
        """NN and CEN of each row by itself against the past; the k best (plain cosines, ordinals)."""
        n, kept = len(indptr) - 1, max(k, COMPLETED)
        neighbour, centroid = np.zeros(n), np.zeros(n)
        cosines, ordinals = np.zeros((n, kept)), np.full((n, kept), -1, dtype=np.int64)
        judge_fused(
            indptr.astype(np.int64), indices.astype(np.int64), data, days, ticks, k, budget, self._fresh(knobs),
            knobs,
            self.meta, self.tally, self.start, self.length, self.members, self.weights,
            self.log_start, self.log_length, self.log_terms, self.log_weights,
            self.idf2, self.lanes.copy(), self.common, self.common_begin, self.holders, self.held, self.summed,
            self.portion, self.c_lanes.copy(), self.c_day, self.c_tick, self.c_label, self.gathered.copy(),
            np.empty_like(self.touched), np.empty_like(self.clusters),
            np.zeros((n, kept)), cosines, ordinals, neighbour, centroid,
        )  # fmt: skip
        return neighbour, centroid, cosines[:, :k], ordinals[:, :k]

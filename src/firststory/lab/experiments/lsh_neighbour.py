"""First story detection by locality-sensitive hashing: the yardstick of Petrović, Osborne and Lavrenko (2010).

A document is hashed into a bucket of each of L tables by the signs of k random projections. Of the documents that it
collides with, the 3 L that it collides with most often are compared exactly; if none of them is near, so are the
latest documents (their "variance reduction"). Buckets have a fixed size: the oldest document leaves.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from firststory.arrays import Floats, Ints

PROJECTION_BLOCK_ROWS = 2000


@dataclass(frozen=True)
class LshNeighbour:
    """Their settings: 13 bits, 70 tables, the latest 2,000 documents where the nearest is farther than 0.5.

    The size of a bucket is not published.
    """

    bits: int = 13
    tables: int = 70
    latest: int = 2000
    far_distance: float = 0.5
    bucket_size: int = 64
    seed: int = 0

    def novelty(self, rows: sp.csr_matrix) -> Floats:
        """One minus the best cosine found for each row among the earlier ones; 1 where there is none.

        Examples
        --------
        >>> LshNeighbour().novelty(sp.csr_matrix([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [4.0, 2.0, 0.0]])).round(6)
        array([1., 1., 0.])
        """
        unit = sp.csr_matrix(normalize(rows))
        buckets = self._buckets(unit)
        tables: list[dict[int, deque[int]]] = [{} for _ in range(self.tables)]
        scores = np.ones(unit.shape[0])
        for i in range(unit.shape[0]):
            collisions: Counter[int] = Counter()
            for table, key in zip(tables, buckets[i].tolist(), strict=True):
                bucket = table.setdefault(key, deque(maxlen=self.bucket_size))
                collisions.update(bucket)
                bucket.append(i)
            # Of equally frequent collisions the latest come first.
            often = sorted(collisions, key=lambda j: (-collisions[j], -j))[: 3 * self.tables]
            best = _best_cosine(unit, i, np.array(often, dtype=np.int64))
            if 1.0 - best > self.far_distance and i:
                best = max(best, _best_cosine(unit, i, np.arange(max(0, i - self.latest), i)))
            scores[i] = 1.0 - best
        return scores

    def _buckets(self, unit: sp.csr_matrix) -> Ints:
        """The bucket of each row in each table, from random hyperplanes through the origin."""
        rng = np.random.default_rng(self.seed)
        planes = rng.standard_normal((unit.shape[1], self.tables * self.bits), dtype=np.float32)
        powers = 1 << np.arange(self.bits, dtype=np.int64)
        keys = []
        for begin in range(0, unit.shape[0], PROJECTION_BLOCK_ROWS):
            side = np.asarray(unit[begin : begin + PROJECTION_BLOCK_ROWS].astype(np.float32) @ planes) > 0
            keys.append(side.reshape(len(side), self.tables, self.bits) @ powers)
        return np.concatenate(keys)


def _best_cosine(unit: sp.csr_matrix, i: int, earlier: Ints) -> float:
    if not len(earlier):
        return 0.0
    cosines = unit[earlier] @ unit[i].T
    return min(1.0, float(cosines.max()))

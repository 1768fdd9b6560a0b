"""First story detection by k-term hashing: the yardstick of Wurzer, Lavrenko and Osborne (2015).

A document is the set of all combinations of up to k of its terms. Its novelty is the share of them that no earlier
document had, averaged over the sizes. What was seen is one table of bits, so that time and memory are constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints


@dataclass(frozen=True)
class KTermHashing:
    """Combinations of up to `k` terms, all sizes weighing the same (theirs are learnt).

    Combinations grow with the cube of the length: of a longer document the `max_terms` terms of highest weight count.
    """

    k: int = 3
    max_terms: int = 12
    table_bits: int = 26

    def novelty(self, rows: sp.csr_matrix) -> Floats:
        """The share of unseen combinations of each row; a row without terms is not novel.

        Examples
        --------
        Of b and c in the second row, c is new (1 of 2), and so is the pair (1 of 1): (1/2 + 1) / 2.

        >>> KTermHashing().novelty(sp.csr_matrix([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]]))
        array([1.  , 0.75, 0.  ])
        """
        seen = np.zeros(1 << self.table_bits, dtype=np.bool_)
        scores = np.zeros(rows.shape[0])
        for i in range(rows.shape[0]):
            own = slice(rows.indptr[i], rows.indptr[i + 1])
            heaviest = np.argsort(-rows.data[own], kind="stable")[: self.max_terms]
            terms = np.sort(rows.indices[own][heaviest]).astype(np.uint64)
            shares = []
            for size in range(1, min(self.k, len(terms)) + 1):
                places = _hashes(terms[_combinations(len(terms), size)]) >> np.uint64(64 - self.table_bits)
                shares.append(1.0 - seen[places].mean())
                seen[places] = True
            scores[i] = np.mean(shares) if shares else 0.0
        return scores


@cache
def _combinations(n: int, size: int) -> Ints:
    return np.array(list(combinations(range(n), size)), dtype=np.int64).reshape(comb(n, size), size)


def _hashes(terms: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A 64-bit number for each row of terms (multiply and shift, as in splitmix64)."""
    # Far from every column number: zero would be a fixed point.
    out = np.full(len(terms), terms.shape[1] * 0x94D049BB133111EB % 2**64, dtype=np.uint64)
    for column in terms.T:
        out = (out ^ column) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
        out *= np.uint64(0xBF58476D1CE4E5B9)
    return out

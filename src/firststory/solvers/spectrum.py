"""Psi_max(Z), the largest eigenvalue of Z'Z, as a bound that is never too small."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def largest_eigenvalue(matrix: sp.csr_matrix, *, accuracy: float = 0.01, max_iterations: int = 300) -> float:
    """An upper bound of Psi_max(Z), usually within `accuracy` of it, for a non-negative Z.

    A step size of 1 / Psi_max that comes from an unfinished power iteration is too long. Z'Z is non-negative, so
    each iterate v > 0 brackets the answer (Collatz-Wielandt): max_i (Z'Z v)_i / v_i is an upper bound.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> round(largest_eigenvalue(sp.csr_matrix([[3.0, 0.0], [0.0, 4.0]])), 6)
    16.0
    """
    Z = matrix.tocsr()
    used = np.flatnonzero(np.bincount(Z.indices[Z.data > 0], minlength=Z.shape[1]))
    if used.size == 0:
        return 0.0
    small = Z[:, used] if used.size < Z.shape[1] else Z
    transposed = small.T.tocsr()
    v = np.full(used.size, 1.0 / np.sqrt(used.size))
    upper = np.inf
    for _ in range(max_iterations):
        w = transposed @ (small @ v)
        ratio = w[v > 1e-290] / v[v > 1e-290]
        upper = min(upper, float(ratio.max()))
        if upper - float(v @ w) <= accuracy * upper:
            break
        v = w / np.linalg.norm(w)
    return upper

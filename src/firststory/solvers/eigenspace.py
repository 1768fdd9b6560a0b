"""The leading eigenpairs, by value, of a symmetric operator that is known only by what it does to a block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from firststory.arrays import Floats

SEARCH_BLOCKS = 4
"""How many blocks the search space holds before it is restarted from its best vectors."""


@dataclass(frozen=True, slots=True)
class Eigenpairs:
    """Largest first; `violation` is the largest |A q - a q| among the wanted pairs over |a_1|."""

    values: Floats
    vectors: Floats
    violation: float


def leading_eigenpairs(
    apply: Callable[[Floats], Floats],
    start: Floats,
    n_keep: int,
    *,
    n_wanted: int | None = None,
    tolerance: float = 1e-9,
    max_iterations: int = 60,
) -> Eigenpairs:
    """Restarted block Krylov iteration with Rayleigh-Ritz from the columns of `start` (d x at least n_keep).

    Picking by value, never by magnitude, matters: the all-pairs moment has negative eigenvalues (its `-diag(c)`).
    Iteration stops when the first `n_wanted` pairs are within `tolerance`. A small operator is simply written out.
    """
    d, width = start.shape
    if d <= max(SEARCH_BLOCKS * width, 64):
        values, vectors = np.linalg.eigh(_symmetric(apply(np.eye(d))))
        return Eigenpairs(values[::-1][:n_keep].copy(), np.ascontiguousarray(vectors[:, ::-1][:, :n_keep]), 0.0)
    wanted = n_keep if n_wanted is None else n_wanted
    basis = _orthonormal(start)
    image = apply(np.ascontiguousarray(basis))
    violation = np.inf
    for iteration in range(max_iterations + 1):
        values, rotation = np.linalg.eigh(_symmetric(basis.T @ image))
        values, rotation = values[::-1][:n_keep], rotation[:, ::-1][:, :n_keep]
        ritz, ritz_image = basis @ rotation, image @ rotation
        residual = ritz_image - ritz * values
        norms = np.sqrt(np.einsum("ij,ij->j", residual, residual))
        violation = float(norms[:wanted].max() / max(abs(values[0]), 1e-300))
        if violation <= tolerance or iteration == max_iterations:
            break
        if basis.shape[1] + n_keep > SEARCH_BLOCKS * width:
            basis, image = ritz, ritz_image
        fresh = _orthonormal_to(basis, residual[:, norms > 1e-14 * max(abs(values[0]), 1e-300)])
        if not fresh.shape[1]:
            break
        basis, image = np.hstack([basis, fresh]), np.hstack([image, apply(np.ascontiguousarray(fresh))])
    return Eigenpairs(values.copy(), np.ascontiguousarray(ritz), violation)


def _orthonormal_to(basis: Floats, block: Floats) -> Floats:
    """The part of `block` outside `basis`, orthonormal; twice is enough."""
    for _ in range(2):
        block = _orthonormal(block - basis @ (basis.T @ block))
    return block


def _orthonormal(block: Floats) -> Floats:
    """Orthonormal columns of the same span by its Gram matrix: for tall blocks far quicker than a QR."""
    for _ in range(2):  # the first pass leaves errors of the square root of rounding
        norms = np.sqrt(np.einsum("ij,ij->j", block, block))
        unit = block[:, norms > 0.0] / norms[norms > 0.0]
        values, vectors = np.linalg.eigh(unit.T @ unit)
        kept = values > 1e-12 * max(values[-1], 0.0) if values.size else np.zeros(0, dtype=bool)
        block = unit @ (vectors[:, kept] / np.sqrt(values[kept]))
    return block


def _symmetric(matrix: Floats) -> Floats:
    return 0.5 * (matrix + matrix.T)

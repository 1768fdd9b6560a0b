"""One projected move of the atoms for given codes, term by term: A+ = Proj_C( (A + step (M X' - beta H X X'))_+ )."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.l1.dictionary import gram_of_codes, moved_terms, projected_atoms, thresholds_of_atoms
from firststory.solvers.blocks import run_blocks

TERMS = 2048
"""Terms a block; fixed, so that nothing depends on the number of threads."""

HEAVY = 512
"""Frequent terms that are summed before the others, so that an atom's threshold is soon bounded from below."""

GRAM_ATOMS = 1024
"""Up to so many atoms the Gram matrix of the codes is formed: 8 MB; above, sums go over the documents."""

NONE: Floats = np.empty(0)


@dataclass(frozen=True)
class ByTerm:
    """Rows of terms: for each term the documents or atoms that hold it, and their values."""

    ptr: NDArray[Any]
    holders: NDArray[Any]
    values: Floats

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> ByTerm:
        """From k x m rows (CSR)."""
        turned = rows.tocsc()
        return cls(turned.indptr, turned.indices, turned.data)

    @classmethod
    def empty(cls, width: int) -> ByTerm:
        """No term is held."""
        return cls(np.zeros(width + 1, np.int64), np.empty(0, np.int32), np.empty(0))

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which terms are."""
        return np.asarray(self.ptr[1:] > self.ptr[:-1])


class AtomMover:
    """Moves atoms for given codes: what the steps on the same codes share."""

    def __init__(
        self, codes: sp.csr_matrix, frequency: NDArray[np.int64], step: float, beta: float, n_jobs: int | None
    ) -> None:
        k = codes.shape[1]
        self.codes, self.width = codes, frequency.shape[0]
        self.heavy = np.argsort(-frequency, kind="stable")[:HEAVY]
        self.step, self.beta, self.n_jobs = step, beta, n_jobs
        self.stays = np.bincount(codes.indices, minlength=k) == 0
        self.threshold = np.zeros(k)  # of the last move
        self.gram, self.users = np.zeros((0, 0)), ByTerm.empty(k)
        if beta and k <= GRAM_ATOMS:
            self.gram = gram_of_codes(codes.indptr, codes.indices, codes.data, k)
        elif beta:
            self.users = ByTerm.of(codes)

    def move(
        self,
        atoms: sp.csr_matrix,
        listed: ByTerm,
        history: ByTerm,
        cells: ByTerm | None = None,
        scale: float = 0.0,
        base: Floats | None = None,
    ) -> sp.csr_matrix:
        """Proj_C( (A + step (M X' + scale C - beta H X X') - base)_+ ): `listed` is M, `cells` C and `history` H.

        An atom's own terms and the frequent ones come first: they give most of its threshold, and little else reaches
        that.
        """
        k = atoms.shape[0]
        cells = ByTerm.empty(self.width) if cells is None else cells
        now = ByTerm.of(atoms)
        floor = np.where(self.stays, np.inf, 0.0)
        every = listed.held | cells.held | history.held | now.held
        if base is None:
            base = np.zeros(k)
            rest = np.ones(self.width, dtype=bool)
            rest[self.heavy] = False
            own = self._candidates(np.flatnonzero(now.held), listed, cells, scale, history, now, base, floor, True)
            bound, sums, sizes, *_ = thresholds_of_atoms(own[0], own[2], k)
            floor = np.maximum(floor, bound)
            first = self._candidates(self.heavy, listed, cells, scale, history, now, base, floor, False, sums, sizes)
            new = rest[own[1]]
            owners, values = np.concatenate([own[0][new], first[0]]), np.concatenate([own[2][new], first[2]])
            floor = np.maximum(floor, thresholds_of_atoms(owners, values, k)[0])
            then = self._candidates(np.flatnonzero(every & rest), listed, cells, scale, history, now, base, floor)
            owners, values = np.concatenate([first[0], then[0]]), np.concatenate([first[2], then[2]])
            terms = np.concatenate([first[1], then[1]])
        else:  # little outlasts the base
            owners, terms, values = self._candidates(
                np.flatnonzero(every), listed, cells, scale, history, now, base, floor
            )
        threshold, _, _, ptr, order = thresholds_of_atoms(owners, values, k)
        self.threshold = threshold
        ends, kept, data = projected_atoms(
            ptr, order, terms, values, threshold, self.stays, atoms.indptr, atoms.indices, atoms.data
        )
        return sp.csr_matrix((data, kept, ends), shape=(k, self.width))

    def _candidates(
        self,
        terms: NDArray[np.intp],
        listed: ByTerm,
        cells: ByTerm,
        scale: float,
        history: ByTerm,
        now: ByTerm,
        base: Floats,
        floor: Floats,
        own_only: bool = False,
        sums: Floats = NONE,
        sizes: Floats = NONE,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
        """Atom, term and value of what the projection may keep."""
        codes, users = self.codes, self.users

        def block(start: int, stop: int) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
            return moved_terms(
                start,
                stop,
                terms,
                listed.ptr,
                listed.holders,
                listed.values,
                cells.ptr,
                cells.holders,
                cells.values,
                scale,
                history.ptr,
                history.holders,
                history.values,
                now.ptr,
                now.holders,
                now.values,
                codes.indptr,
                codes.indices,
                codes.data,
                users.ptr,
                users.holders,
                users.values,
                self.gram,
                self.beta,
                self.step,
                base,
                floor,
                own_only,
                sums,
                sizes,
            )

        blocks = run_blocks(block, terms.shape[0], TERMS, self.n_jobs)
        if not blocks:
            return np.empty(0, np.int32), np.empty(0, np.int32), NONE
        owners, kept, values = zip(*blocks, strict=True)
        return np.concatenate(owners), np.concatenate(kept), np.concatenate(values)

"""One projected move of the atoms for given codes, term by term: A+ = Proj_C( (A + step (X'M - beta (X'X) H))_+ )."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.l1.dictionary import gram_of_codes, moved_terms, projected_atoms, thresholds_of_atoms
from firststory.kernels.l1.layout import ByTerm, Candidates, Update, rows_of
from firststory.solvers.blocks import run_blocks

BLOCK_TERMS = 2048
"""Terms per block; fixed, so that nothing depends on the number of threads."""

FREQUENT_TERMS = 512
"""Frequent terms that are summed before the others, so that an atom's threshold is soon bounded from below."""

GRAM_ATOMS = 1024
"""Up to this many atoms the Gram matrix of the codes is formed: 8 MB; above, sums go over the documents."""

NO_VALUES: Floats = np.empty(0)


def by_term_of(rows: sp.csr_matrix) -> ByTerm:
    """k x m rows (CSR), listed by term."""
    turned = rows.tocsc()
    return ByTerm(turned.indptr, turned.indices, turned.data)


def no_terms(width: int) -> ByTerm:
    """Lists of `width` terms that hold nothing."""
    return ByTerm(np.zeros(width + 1, np.int64), np.empty(0, np.int32), np.empty(0))


def _held(lists: ByTerm) -> NDArray[np.bool_]:
    """Which terms have an entry."""
    return np.asarray(lists.ptr[1:] > lists.ptr[:-1])


class AtomMover:
    """Moves atoms for given codes: what the steps on the same codes share."""

    def __init__(
        self, codes: sp.csr_matrix, frequency: NDArray[np.int64], step: float, beta: float, n_jobs: int | None
    ) -> None:
        k = codes.shape[1]
        self.codes, self.width = codes, frequency.shape[0]
        self.heavy = np.argsort(-frequency, kind="stable")[:FREQUENT_TERMS]
        self.step, self.beta, self.n_jobs = step, beta, n_jobs
        self.stays = np.bincount(codes.indices, minlength=k) == 0
        self.threshold = np.zeros(k)  # of the last move
        self.gram, self.users = np.zeros((0, 0)), no_terms(k)
        if beta and k <= GRAM_ATOMS:
            self.gram = gram_of_codes(rows_of(codes), k)
        elif beta:
            self.users = by_term_of(codes)

    def move(
        self,
        atoms: sp.csr_matrix,
        listed: ByTerm,
        history: ByTerm,
        cells: ByTerm | None = None,
        scale: float = 0.0,
        base: Floats | None = None,
    ) -> sp.csr_matrix:
        """Proj_C( (A + step (X'M + scale C - beta (X'X) H) - base)_+ ): `listed` is M, `cells` C and `history` H.

        An atom's own terms and the frequent ones come first: they give most of its threshold, and little else reaches
        that.
        """
        k = atoms.shape[0]
        cells = no_terms(self.width) if cells is None else cells
        now = by_term_of(atoms)
        update = Update(
            listed, cells, history, now, rows_of(self.codes), self.users, self.gram, scale, self.beta, self.step
        )
        floor = np.where(self.stays, np.inf, 0.0)
        every = _held(listed) | _held(cells) | _held(history) | _held(now)
        if base is None:
            base = np.zeros(k)
            rest = np.ones(self.width, dtype=bool)
            rest[self.heavy] = False
            own = self._candidates(np.flatnonzero(_held(now)), update, base, floor, True)
            bound, sums, sizes, *_ = thresholds_of_atoms(own.atoms, own.values, k)
            floor = np.maximum(floor, bound)
            first = self._candidates(self.heavy, update, base, floor, False, sums, sizes)
            new = rest[own.terms]
            owners = np.concatenate([own.atoms[new], first.atoms])
            values = np.concatenate([own.values[new], first.values])
            floor = np.maximum(floor, thresholds_of_atoms(owners, values, k)[0])
            then = self._candidates(np.flatnonzero(every & rest), update, base, floor)
            found = Candidates(*(np.concatenate(pair) for pair in zip(first, then, strict=True)))
        else:  # little outlasts the base
            found = self._candidates(np.flatnonzero(every), update, base, floor)
        threshold, _, _, ptr, order = thresholds_of_atoms(found.atoms, found.values, k)
        self.threshold = threshold
        ends, kept, data = projected_atoms(ptr, order, found.terms, found.values, threshold, self.stays, rows_of(atoms))
        return sp.csr_matrix((data, kept, ends), shape=(k, self.width))

    def _candidates(
        self,
        terms: NDArray[np.intp],
        update: Update,
        base: Floats,
        floor: Floats,
        own_only: bool = False,
        sums: Floats = NO_VALUES,
        sizes: Floats = NO_VALUES,
    ) -> Candidates:
        """What the projection may keep."""

        def block(start: int, stop: int) -> Candidates:
            return moved_terms(start, stop, terms, update, base, floor, own_only, sums, sizes)

        blocks = run_blocks(block, terms.shape[0], BLOCK_TERMS, self.n_jobs)
        if not blocks:
            return Candidates(np.empty(0, np.int32), np.empty(0, np.int32), NO_VALUES)
        return Candidates(*(np.concatenate(part) for part in zip(*blocks, strict=True)))

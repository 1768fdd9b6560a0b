"""Second and third moments of a corpus in a fixed frame, kept as sums to which documents are added and taken away.

The all-ordered-pairs and all-ordered-triples moments (C2)-(C3) of one document with counts c and length L are

    M2(c) = (c c' - diag c) / (L(L-1))
    M3(c) = (c(x)c(x)c - Sym3[sum_i c_i e_i(x)e_i(x)c] + 2 sum_i c_i e_i(x)e_i(x)e_i) / (L(L-1)(L-2))

Seen through an orthonormal basis Q (d x r) their leading terms are small sums, z (x) z and z (x) z (x) z with z = Q'c.
The corrections are kept per word (d numbers, and d x r for the cross term) and are put in only when the moment is
asked for (C4). A document costs O(nnz r + r^3 / 6), an estimate O(d r^2 + d k^3): neither depends on the past.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.topics.moments import MomentSums, add_documents, apply_pairs, mirror, project_documents

BLOCK_WORDS = 2048
"""Words whose correction terms are multiplied at once."""


class Documents(NamedTuple):
    """Sparse documents as slices of flat arrays: document t is `begin[t]:end[t]` of `indices` and `data`."""

    begin: NDArray[Any]
    end: NDArray[Any]
    indices: NDArray[Any]
    data: Floats

    @classmethod
    def of(cls, rows: sp.csr_matrix) -> Documents:
        """The rows of a CSR matrix."""
        return cls(rows.indptr[:-1], rows.indptr[1:], rows.indices, rows.data)

    def __len__(self) -> int:
        return int(self.begin.shape[0])


class MomentSketch:
    """The sums of (C4) in the frame of `basis`; with a square orthonormal basis nothing is lost."""

    __slots__ = ("basis", "first", "n_documents", "pairs", "triples", "word_second", "word_third", "word_triples")

    def __init__(self, basis: Floats) -> None:
        d, r = basis.shape
        self.basis = np.ascontiguousarray(basis)
        self.pairs = np.zeros((r, r))
        self.triples = np.zeros((r, r, r))
        self.word_triples = np.zeros((d, r))
        self.word_second = np.zeros(d)
        self.word_third = np.zeros(d)
        self.first = np.zeros(d)
        self.n_documents = 0

    @property
    def width(self) -> int:
        """The number of terms d."""
        return int(self.basis.shape[0])

    @property
    def rank(self) -> int:
        """The size r of the frame."""
        return int(self.basis.shape[1])

    def add(self, documents: Documents, sign: int = 1) -> None:
        """Add documents of three words or more, or with sign = -1 take them away again."""
        sums = MomentSums(self.pairs, self.triples, self.word_triples, self.word_second, self.word_third, self.first)
        add_documents(*documents, float(sign), self.basis, sums)
        self.n_documents += sign * len(documents)

    def widen(self, width: int) -> None:
        """New terms on the right: they are counted at once, and seen by the frame when it is next renewed."""
        more = width - self.width
        if more > 0:
            self.basis = np.vstack([self.basis, np.zeros((more, self.rank))])
            self.word_triples = np.vstack([self.word_triples, np.zeros((more, self.rank))])
            self.word_second = np.append(self.word_second, np.zeros(more))
            self.word_third = np.append(self.word_third, np.zeros(more))
            self.first = np.append(self.first, np.zeros(more))

    def pair_moment(self) -> Floats:
        """Q' M2 Q (r x r)."""
        whole = np.tril(self.pairs) + np.tril(self.pairs, -1).T
        moment: Floats = whole - self.basis.T @ (self.basis * self.word_second[:, None])
        return moment / max(self.n_documents, 1)

    def triple_moment(self, frame: Floats) -> Floats:
        """M3(W, W, W) with W = Q `frame` (d x k), frame r x k."""
        k = frame.shape[1]
        full = np.empty_like(self.triples)
        mirror(self.triples, full)
        leading = full
        for _ in range(3):  # contract the first axis and put the new one last: three times is all of them
            leading = np.tensordot(leading, frame, axes=([0], [0]))
        outer = np.zeros((k * k, k))
        for start in range(0, self.width, BLOCK_WORDS):
            part = slice(start, start + BLOCK_WORDS)
            words = self.basis[part] @ frame
            third = (2.0 / 3.0) * self.word_third[part, None] * words - self.word_triples[part] @ frame
            outer += np.einsum("ia,ib->iab", words, words).reshape(len(words), k * k).T @ third
        cross = outer.reshape(k, k, k)
        total: Floats = leading + cross + cross.transpose(0, 2, 1) + cross.transpose(2, 1, 0)
        return total / max(self.n_documents, 1)

    def get_state(self) -> dict[str, Any]:
        """The sums, by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        sketch = cls(state["basis"])
        for name in cls.__slots__:
            setattr(sketch, name, state[name])
        return sketch


def pair_operator(documents: Documents, block: Floats) -> Floats:
    """M2 `block` for the mean pair moment of the documents, by one pass over them."""
    out = np.zeros_like(block)
    apply_pairs(*documents, np.ascontiguousarray(block), out)
    return out / max(len(documents), 1)


def project(documents: Documents, block: Floats) -> Floats:
    """`block'` c for each document, as rows."""
    out = np.empty((len(documents), block.shape[1]))
    project_documents(*documents, np.ascontiguousarray(block), out)
    return out

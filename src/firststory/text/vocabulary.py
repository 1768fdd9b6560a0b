"""Terms and their columns: append-only, in first-seen order, never more than a hard limit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Remap:
    """What a pruning did to the columns: the only time that a term's column changes.

    Attributes
    ----------
    old_to_new : array of int64
        The new column of every old one, -1 where the term was dropped. Kept terms keep their order.
    width : int
        How many columns there are now.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> remap = Remap(np.array([0, -1, 1]), 2)
    >>> remap.matrix(sp.csr_matrix([[5.0, 6.0, 7.0]])).toarray()
    array([[5., 7.]])
    >>> remap.array(np.array([1.0, 2.0, 3.0]))
    array([1., 3.])
    """

    old_to_new: NDArray[np.int64]
    width: int

    @property
    def kept(self) -> NDArray[np.int64]:
        """The old column of every new one."""
        return np.flatnonzero(self.old_to_new >= 0)

    def matrix(self, X: sp.spmatrix) -> sp.csr_matrix:
        """A matrix of documents in the new columns."""
        self._check(X.shape[1])
        return sp.csr_matrix(X)[:, self.kept]

    def array(self, values: NDArray[Any], axis: int = -1) -> NDArray[Any]:
        """An array with one entry per column along `axis`, in the new columns."""
        self._check(values.shape[axis])
        return np.take(values, self.kept, axis=axis)

    def _check(self, width: int) -> None:
        if width != self.old_to_new.size:
            raise ParameterError(
                owner="Remap",
                parameter="the width",
                allowed=f"{self.old_to_new.size}, as before the pruning",
                received=width,
                remedy="Apply each pruning's remap once, in order, to what was learnt before it.",
            )


class Vocabulary:
    """Terms in first-seen order; a term's place is its column.

    Examples
    --------
    >>> vocabulary = Vocabulary(max_terms=2)
    >>> vocabulary.add(["storm", "flood", "storm", "fire"])
    [0, 1, 0, -1]
    >>> "flood" in vocabulary, vocabulary["fire"], len(vocabulary)
    (True, -1, 2)
    """

    def __init__(self, max_terms: int) -> None:
        self.max_terms = max_terms
        self._columns: defaultdict[str, int] = defaultdict()
        self._terms: list[str] = []
        """The same in a list, as far as it was asked for."""

    @property
    def terms(self) -> Sequence[str]:
        """The terms in the order of their columns; it grows with the vocabulary."""
        n_new = len(self._columns) - len(self._terms)
        self._terms += reversed(list(islice(reversed(self._columns), n_new)))
        return self._terms

    def add(self, terms: Sequence[str]) -> list[int]:
        """The column of each term; a new one for a new term where there is room, else -1."""
        known = self._columns
        if len(known) + len(terms) <= self.max_terms:
            known.default_factory = count(len(known)).__next__
            places = list(map(known.__getitem__, terms))
            known.default_factory = None  # nobody else may add by asking
            return places
        columns = []
        for term in terms:
            if term not in known and len(known) < self.max_terms:
                known[term] = len(known)
            columns.append(known.get(term, -1))
        return columns

    def find(self, terms: Iterable[str]) -> list[int]:
        """The column of each term, -1 where there is none."""
        get = self._columns.get
        return [get(term, -1) for term in terms]

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another term."""
        return len(self._columns) >= self.max_terms

    def prune(self, keep: NDArray[np.bool_]) -> Remap:
        """Drop the terms that are not kept and close the gaps."""
        old_to_new = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int64)
        kept = (term for term, column in self._columns.items() if keep[column])
        self._columns = defaultdict(None, ((term, column) for column, term in enumerate(kept)))
        self._terms = []
        return Remap(old_to_new, len(self._columns))

    def __getitem__(self, term: str) -> int:
        return self._columns.get(term, -1)

    def __contains__(self, term: object) -> bool:
        return term in self._columns

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def get_state(self) -> dict[str, Any]:
        encoded = [term.encode("utf-8", "surrogatepass") for term in self._columns]
        ends = np.cumsum([len(term) for term in encoded], dtype=np.int64) if encoded else np.empty(0, np.int64)
        return {"max_terms": self.max_terms, "ends": ends, "utf8": np.frombuffer(b"".join(encoded), dtype=np.uint8)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Vocabulary:
        vocabulary = cls(int(state["max_terms"]))
        joined = state["utf8"].tobytes()
        ends = state["ends"].tolist()
        spans = zip([0, *ends], ends, strict=False)
        vocabulary.add([joined[begin:end].decode("utf-8", "surrogatepass") for begin, end in spans])
        return vocabulary

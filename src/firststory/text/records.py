"""What a vectorizer hands out beside plain rows."""

from __future__ import annotations

from typing import NamedTuple

import scipy.sparse as sp


class Token(NamedTuple):
    """A term where it stands: `text[start:end] == surface`. `column` is -1 while the term has none."""

    surface: str
    start: int
    end: int
    term: str
    column: int


class CountedRows(NamedTuple):
    """Rows as they are weighted, and the counts that they were made of: equal columns, other values."""

    weights: sp.csr_matrix
    counts: sp.csr_matrix

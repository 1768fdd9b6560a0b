"""From numbered forms to rows: count the terms of each document and weight them by the past."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.kernels.text import counting
from firststory.text.forms import FormTable
from firststory.text.records import CountedRows
from firststory.text.surfaces import Cut
from firststory.text.vocabulary import Vocabulary
from firststory.text.weighting import DocumentFrequencies

WEIGHTINGS = {"count": counting.COUNT, "binary": counting.BINARY, "tfidf": counting.TFIDF}
NORMS = {None: counting.NO_NORM, "l1": counting.L1, "l2": counting.L2}


class RowRules(NamedTuple):
    """How counts become a row."""

    weighting: str
    sublinear: bool
    norm: str | None
    surface_weight: float
    short: int


class Scratch:
    """Zeros, and room for columns: fresh memory for every document would cost more than the document.

    It is taken and put back after use; where an error or another thread came between, the next one is new.
    """

    def __init__(self) -> None:
        self._room = np.zeros(0), np.zeros(0, dtype=np.int32)

    def take(self, width: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        room, self._room = self._room, (np.zeros(0), np.zeros(0, dtype=np.int32))
        return room if room[0].size >= width else _longer_room(room, width)

    def put_back(self, tally: NDArray[np.float64], touched: NDArray[np.int32]) -> None:
        self._room = tally, touched


def count_rows(
    cuts: Iterable[Cut],
    table: FormTable,
    vocabulary: Vocabulary,
    frequencies: DocumentFrequencies,
    rules: RowRules,
    scratch: Scratch,
    *,
    learn: bool,
) -> tuple[CountedRows, int]:
    """The rows of all documents of the cuts, and how many occurrences of terms had no column.

    Where `learn`, each document is weighted by those before it and then counted itself.
    """
    (tally, touched), n_touched, n_dropped = scratch.take(len(vocabulary)), 0, 0
    indices, data, counts = np.empty(0, dtype=np.int32), np.empty(0), np.empty(0)
    parts: list[tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]] = []
    goes_on = False
    for cut in cuts:
        chunk, forms = cut.chunk, cut.forms
        if learn:
            frequencies.grow(len(vocabulary))
        if tally.size < len(vocabulary):
            tally, touched = _longer_room((tally, touched), len(vocabulary))
        most = forms.size * table.most_terms + n_touched
        if most > data.size:
            indices, data, counts = np.empty(most, dtype=np.int32), np.empty(most), np.empty(most)
        indptr = np.empty(chunk.ends.size + 1, dtype=np.int64)
        n_rows, n_touched, dropped = counting.count_documents(
            forms, cut.starts, forms.size, chunk.ends, chunk.is_open,
            table.column, table.first, table.last, table.columns, table.missing, table.marked, table.common,
            rules.surface_weight, 0 if chunk.is_open or goes_on else rules.short,
            WEIGHTINGS[rules.weighting], rules.sublinear, NORMS[rules.norm], frequencies.keep, learn,
            frequencies.frequency, frequencies.seen, frequencies.clock,
            tally, touched, n_touched, indptr, indices, data, counts,
        )  # fmt: skip
        goes_on = chunk.is_open
        n_dropped += int(dropped)
        nnz = int(indptr[n_rows])
        lengths = np.diff(indptr[: n_rows + 1])
        parts.append((indices[:nnz].copy(), data[:nnz].copy(), counts[:nnz].copy(), lengths))
    scratch.put_back(tally, touched)
    width = len(vocabulary)
    if not parts:
        return CountedRows(sp.csr_matrix((0, width)), sp.csr_matrix((0, width))), 0
    columns, weights, numbers, sizes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    ends = np.concatenate([[0], np.cumsum(sizes)])
    index_type = np.int32 if ends[-1] < 2**31 else np.int64
    structure = columns.astype(index_type, copy=False), ends.astype(index_type)
    return CountedRows(*(_canonical(values, *structure, width) for values in (weights, numbers))), n_dropped


def _canonical(values: NDArray[Any], columns: NDArray[Any], ends: NDArray[Any], width: int) -> sp.csr_matrix:
    rows = sp.csr_matrix((values, columns, ends), shape=(len(ends) - 1, width))
    rows.has_canonical_format = True
    return rows


def _longer_room(room: tuple[NDArray[Any], NDArray[Any]], width: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """A document that goes on from chunk to chunk has its counts in here: they stay."""
    size = width * 5 // 4 + 1024
    tally, touched = (np.concatenate([array, np.zeros(size - array.size, dtype=array.dtype)]) for array in room)
    return tally, touched

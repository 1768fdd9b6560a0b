"""The work of the l1-dictionary on one block of documents, for an engine: values in, values out.

Every sum over documents is made by the caller, in the order of the documents, so that a block may be computed anywhere.
What goes to a worker and comes back is in proportion to the non-zeros of the block; atoms go once for all blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.kernels.l1.coding import code_documents
from firststory.kernels.l1.layout import ByTerm, CodingProblem, CodingResult, Multipliers, Penalty, Rows
from firststory.kernels.l1.multipliers import carried_multipliers, clipped_multipliers


class ClippedBlock(NamedTuple):
    """M of a block of documents, without gaps."""

    counts: NDArray[np.int64]
    terms: NDArray[np.int32]
    values: Floats


class CarriedBlock(NamedTuple):
    """Delta+ of a block of documents, and how far it moved."""

    terms: NDArray[np.int32]
    values: Floats
    sizes: NDArray[np.int64]
    change: Floats


def blocks_of(n: int, size: int) -> list[tuple[int, int]]:
    """Where blocks begin and end: by their fixed size alone."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def rows_between(rows: Rows, start: int, stop: int) -> Rows:
    """Some of the rows, counted from zero again."""
    begin, end = rows.ptr[start], rows.ptr[stop]
    return Rows(rows.ptr[start : stop + 1] - begin, rows.columns[begin:end], rows.values[begin:end])


def code_block(documents: Rows, atoms: ByTerm, mass: Floats, problem: CodingProblem, duals: bool) -> CodingResult:
    """The exact codes of the documents of one block, one after another without gaps."""
    n, size = documents.ptr.shape[0] - 1, documents.columns.shape[0]
    result = empty_coding(n, size, duals)
    code_documents(0, n, documents, atoms, mass, problem, result)
    used = int(result.n_codes.sum())
    return result._replace(code_atoms=result.code_atoms[:used].copy(), code_values=result.code_values[:used].copy())


def empty_coding(n: int, size: int, duals: bool) -> CodingResult:
    """Room for the coding of n documents that have `size` terms together."""
    return CodingResult(
        objective=np.empty(n),
        nearest=np.empty(n),
        pivots=np.empty(n, np.int64),
        survivors=np.empty(n, np.int64),
        violation=np.empty(n),
        n_codes=np.empty(n, np.int64),
        code_atoms=np.empty(size, np.int32),
        code_values=np.empty(size),
        duals=np.zeros(size if duals else 0),
    )


def clip_block(
    block: tuple[Rows, Rows, Rows, NDArray[np.int64]], atoms: Rows, penalty: Penalty, width: int, all_rows: bool
) -> ClippedBlock:
    """M of the documents of one block: (documents, codes, Delta, room for each document)."""
    documents, codes, delta, reach = block
    n = reach.shape[0]
    room = np.concatenate([np.zeros(1, np.int64), np.cumsum(reach)])
    out = Multipliers(room, np.zeros(n, np.int64), np.empty(room[-1], np.int32), np.empty(room[-1]))
    clipped_multipliers(0, n, documents, codes, atoms, delta, penalty, width, all_rows, out)
    kept = np.arange(room[-1]) - np.repeat(room[:-1], reach) < np.repeat(out[1], reach)
    return ClippedBlock(out[1], out[2][kept], out[3][kept])


def carry_block(
    block: tuple[Rows, Rows, ClippedBlock], after: Rows, penalty: Penalty, width: int, most: int
) -> CarriedBlock:
    """Delta+ of the documents of one block: (Delta, codes, M)."""
    delta, codes, clipped = block
    n = clipped.counts.shape[0]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(clipped.counts)])
    given = Multipliers(starts, clipped.counts, clipped.terms, clipped.values)
    sizes, change = np.zeros(n, np.int64), np.zeros(n)
    terms, values = carried_multipliers(0, n, delta, codes, given, after, penalty, width, most, sizes, change)
    return CarriedBlock(terms, values, sizes, change)


def concatenated(blocks: list[Any], kind: Any) -> Any:
    """The same record over all blocks."""
    return kind(*(np.concatenate(part) for part in zip(*blocks, strict=True)))

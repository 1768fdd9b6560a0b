"""Texts to rows in blocks on an engine: the columns, the rows and what is learnt are those of one block after another.

Each block is read by a vectorizer of its own, whose columns are in the order of first appearance in the block. Blocks
are taken in their order: what is new in one gets the next columns. A term appears first where the first block that has
it has it first, so the columns are the same; the rows are renumbered and sorted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.engines.engine import Engine
from firststory.text.records import CountedRows
from firststory.text.surfaces import Cut
from firststory.text.vocabulary import Vocabulary
from firststory.text.weighting import DocumentFrequencies

BLOCK_TEXTS = 1_000
NO_BOUND = 2**31 - 1


class BlockRows(NamedTuple):
    """The rows of a block under its own columns."""

    terms: list[str]
    weights: NDArray[np.float64]
    counts: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]


class LateCuts(Sequence[Cut]):
    """The cuts of texts that are read when somebody asks for one."""

    def __init__(self, read: Callable[[], Iterable[Cut]]) -> None:
        self._read = read

    @cached_property
    def _cuts(self) -> list[Cut]:
        return list(self._read())

    def __len__(self) -> int:
        return len(self._cuts)

    def __getitem__(self, at: Any) -> Any:
        return self._cuts[at]


def count_block(texts: Sequence[str], parameters: dict[str, Any]) -> BlockRows:
    """What a worker does with one block."""
    from firststory.text.vectorizer import StreamVectorizer

    vectorizer = StreamVectorizer(**parameters | {"max_terms": NO_BOUND})
    found = vectorizer.partial_fit_with_counts(texts)
    weights = found.weights
    return BlockRows(
        list(vectorizer.vocabulary_), weights.data, found.counts.data, weights.indices, weights.indptr.astype(np.int64)
    )


def count_in_blocks(
    documents: Sequence[str],
    parameters: dict[str, Any],
    engine: Engine,
    vocabulary: Vocabulary,
    frequencies: DocumentFrequencies,
    count_here: Callable[[Sequence[str]], CountedRows],
) -> CountedRows:
    """The rows of all documents, which are learnt. `count_here` takes blocks for which there may be too few columns."""
    blocks = [documents[at : at + BLOCK_TEXTS] for at in range(0, len(documents), BLOCK_TEXTS)]
    done = []
    for texts, block in zip(blocks, engine.map(count_block, blocks, parameters), strict=True):
        if len(vocabulary) + len(block.terms) > vocabulary.max_terms:
            done.append(count_here(texts))
        else:
            done.append(_taken_over(block, vocabulary, frequencies))
    width = len(vocabulary)
    return CountedRows(*(_stacked([getattr(rows, name) for rows in done], width) for name in ("weights", "counts")))


def _taken_over(block: BlockRows, vocabulary: Vocabulary, frequencies: DocumentFrequencies) -> CountedRows:
    """The block's rows under the columns of the stream, and what is learnt of them."""
    new = np.array(vocabulary.add(block.terms), dtype=np.int32)
    n, width = len(block.indptr) - 1, len(vocabulary)
    columns, row = new[block.indices], np.repeat(np.arange(n), np.diff(block.indptr))
    order = np.lexsort((columns, row))
    frequencies.grow(width)
    # Nothing decays here: a document counts one, and sums of ones are exact in any order.
    frequencies.frequency[:width] += np.bincount(columns, minlength=width)
    np.maximum.at(frequencies.seen, columns, frequencies.clock[0] + row + 1.0)
    frequencies.clock += n
    structure = columns[order], block.indptr
    return CountedRows(
        *(sp.csr_matrix((values[order], *structure), shape=(n, width)) for values in (block.weights, block.counts))
    )


def _stacked(parts: Sequence[sp.csr_matrix], width: int) -> sp.csr_matrix:
    """All rows, as wide as the last."""
    ends = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.indptr) for part in parts]), dtype=np.int64)])
    index_type = np.int32 if ends[-1] < 2**31 else np.int64
    columns = np.concatenate([part.indices for part in parts]).astype(index_type, copy=False)
    values = np.concatenate([part.data for part in parts])
    rows = sp.csr_matrix((values, columns, ends.astype(index_type)), shape=(len(ends) - 1, width))
    rows.has_canonical_format = True
    return rows

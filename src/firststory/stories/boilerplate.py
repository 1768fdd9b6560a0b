"""What a publisher writes under every text ("Digg, Newsvine, Permalink") tells of no happening: learnt and ignored."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from firststory.arrays import Array, Columns, Flags, Floats, Ints
from firststory.state import State

BLOCK_DOCUMENTS = 16
"""Documents of a source that are counted together; boilerplate is what two such blocks in a row have."""
MAX_SOURCES = 1000
MIN_SHARE = 0.5
"""Of the documents of a source that have a term which may be boilerplate."""
MAX_RATIO = 0.1
"""How frequent such a term may be in the rest of the stream, as a part of its frequency in the source. What a paper
writes about most, others write about too: with a quarter, China would be boilerplate of China Daily."""
MAX_SOURCE_SHARE = 0.5
"""Of the documents of the stream: of a source with more nothing is ignored, for there is no rest to compare it with."""

FrequencyOf = Callable[[Ints], Array]
"""In how many documents of the stream each of these columns was."""


@dataclass(slots=True)
class _Source:
    """What is known of a source."""

    n_documents: int = 0
    block: list[Columns] = field(default_factory=list)
    """The columns of the documents since the last full block."""
    frequent: Columns = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """The columns that a good part of the last full block has, in order."""
    boilerplate: Columns = field(default_factory=lambda: np.empty(0, dtype=np.int32))


class Boilerplate:
    """The terms that a source has in many of its documents, block after block, and the rest of the stream seldom.

    Examples
    --------
    >>> boilerplate = Boilerplate()
    >>> for number in range(32):
    ...     boilerplate.learn("The Bugle", np.array([7, 100 + number]), lambda asked: np.full(len(asked), 32.0), 1000)
    >>> boilerplate.strip("The Bugle", np.array([7, 500, 600]), np.array([0.8, 0.48, 0.36])).round(2).tolist()
    [0.0, 0.8, 0.6]
    """

    def __init__(self) -> None:
        self._sources: OrderedDict[str, _Source] = OrderedDict()

    def strip(self, source: str | None, columns: Array, weights: Floats) -> Floats:
        """The weights of a row of this source without its boilerplate, of the same length as before.

        Weights of boilerplate are 0. A row that has nothing else stays as it is.
        """
        known = self._sources.get(source) if source else None
        if known is None or not len(known.boilerplate):
            return weights
        found = _are_among(columns, known.boilerplate)
        if not found.any():
            return weights
        kept = np.where(found, 0.0, weights)
        length = np.sqrt(kept @ kept)
        return kept * (np.sqrt(weights @ weights) / length) if length > 0.0 else weights

    def learn(self, source: str | None, columns: Array, frequency_of: FrequencyOf, n_documents: int) -> None:
        """A document of a source; `n_documents` is how many documents the stream has had."""
        if not source:
            return
        known = self._sources.get(source)
        if known is None:
            known = self._sources[source] = _Source()
            if len(self._sources) > MAX_SOURCES:
                self._sources.popitem(last=False)
        else:
            self._sources.move_to_end(source)
        known.n_documents += 1
        known.block.append(np.asarray(columns, dtype=np.int32))
        if len(known.block) == BLOCK_DOCUMENTS:
            _count_block(known, frequency_of, n_documents)

    # -- the vocabulary ------------------------------------------------------------------------------------

    def columns_in_use(self) -> Ints:
        """The columns that are frequent in a source. Others of its latest documents may be forgotten."""
        found = [array for known in self._sources.values() for array in (known.frequent, known.boilerplate)]
        return np.unique(np.concatenate([np.empty(0, np.int32), *found])).astype(np.int64)

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        for known in self._sources.values():
            known.block = [_renumbered(columns, new) for columns in known.block]
            known.frequent = _renumbered(known.frequent, new)
            known.boilerplate = _renumbered(known.boilerplate, new)

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """The sources, those that were not heard for longest first."""
        every = list(self._sources.values())
        return {
            "sources": list(self._sources),
            "n_documents": np.array([known.n_documents for known in every], dtype=np.int64),
            "n_in_block": np.array([len(known.block) for known in every], dtype=np.int64),
            "block": _joined([columns for known in every for columns in known.block]),
            "frequent": _joined([known.frequent for known in every]),
            "boilerplate": _joined([known.boilerplate for known in every]),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        self = cls()
        blocks, frequent, known_parts = (_parted(state[name]) for name in ("block", "frequent", "boilerplate"))
        at = 0
        for i, source in enumerate(state["sources"]):
            n = int(state["n_in_block"][i])
            self._sources[source] = _Source(
                int(state["n_documents"][i]), blocks[at : at + n], frequent[i], known_parts[i]
            )
            at += n
        return self


def _count_block(known: _Source, frequency_of: FrequencyOf, n_documents: int) -> None:
    """A block is full: what is frequent in it and in the one before, but not in the rest of the stream."""
    columns, counts = _frequent(np.concatenate(known.block))
    again = _are_among(columns, known.frequent)
    known.frequent, known.block = columns, []
    columns, share = columns[again], counts[again] / BLOCK_DOCUMENTS
    if not len(columns) or known.n_documents > MAX_SOURCE_SHARE * n_documents:
        known.boilerplate = columns[:0]
        return
    n_others = n_documents - known.n_documents
    elsewhere = frequency_of(columns.astype(np.int64)) - share * known.n_documents
    known.boilerplate = columns[elsewhere <= MAX_RATIO * share * n_others]


def _frequent(columns: Columns) -> tuple[Columns, Ints]:
    """The columns that are in a good part of a block, in order, and how often; a document has each column once."""
    ordered = np.sort(columns)
    # In order, a column that is there at least n times stands n - 1 places on as well.
    further = math.ceil(MIN_SHARE * BLOCK_DOCUMENTS) - 1
    often = ordered[further:]
    often = often[often == ordered[: len(often)]]
    if not len(often):
        return often, np.empty(0, np.int64)
    first = np.flatnonzero(np.concatenate([[True], often[1:] != often[:-1]]))
    return often[first], np.diff(first, append=len(often)) + further


def _are_among(columns: Columns, others: Array) -> Flags:
    """Which of some columns are among others, which are in order."""
    if not len(columns) or not len(others):
        return np.zeros(len(columns), np.bool_)
    places = np.searchsorted(others, columns)
    places[places == len(others)] = 0
    found: Flags = others[places] == columns
    return found


def _renumbered(columns: Columns, new: Ints) -> Columns:
    renumbered = new[columns]
    return renumbered[renumbered >= 0].astype(np.int32)


def _joined(rows: Sequence[Columns]) -> State:
    return {
        "length": np.array([len(row) for row in rows], dtype=np.int64),
        "columns": np.concatenate([np.empty(0, np.int32), *rows]),
    }


def _parted(joined: State) -> list[Columns]:
    parts = np.split(joined["columns"], np.cumsum(joined["length"]))
    return [part.copy() for part in parts[:-1]]

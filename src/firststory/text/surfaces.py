"""How the terms of texts read where they first stand, for people."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Ints
from firststory.kernels.text.first_places import first_places
from firststory.text.chunks import Chunk
from firststory.text.forms import FormTable

Columns = NDArray[np.int32]
FEW_TERMS = 40
"""Of a text with fewer, all are cut out at once."""


class Cut(NamedTuple):
    """A chunk that was cut into tokens: where each begins and ends, and the number of its form."""

    chunk: Chunk
    languages: NDArray[np.uint8]
    """The number of the language of each document."""
    starts: NDArray[Any]
    ends: NDArray[Any]
    forms: NDArray[Any]
    generation: object
    """That of the table whose numbers these are."""


class TextForms(Mapping[int, str]):
    """{column: as it reads} of one text, in the order of the text.

    Most texts are asked for a few of their columns, if at all: what is kept is where each stands, and no string is cut
    before somebody wants it.
    """

    __slots__ = ("_columns", "_ends", "_starts", "_text")

    def __init__(self, text: str, columns: Columns, starts: Columns, ends: Columns) -> None:
        self._text, self._columns, self._starts, self._ends = text, columns, starts, ends

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[int]:
        return iter(self._columns.tolist())

    def __getitem__(self, column: int) -> str:
        places = np.flatnonzero(self._columns == column)
        if not len(places):
            raise KeyError(column)
        return self._text[self._starts[places[0]] : self._ends[places[0]]]

    def some(self, columns: Collection[int]) -> dict[int, str]:
        """Those of these columns that the text has."""
        wanted, text, start, end = set(columns), self._text, self._starts.item, self._ends.item
        found = [(i, column) for i, column in enumerate(self._columns.tolist()) if column in wanted]
        return {column: text[start(i) : end(i)] for i, column in found}

    def whole(self) -> dict[int, str]:
        """All of them."""
        spans = zip(self._columns.tolist(), self._starts.tolist(), self._ends.tolist(), strict=True)
        return {column: self._text[start:end] for column, start, end in spans}


class SurfaceForms:
    """How the terms of texts read, each text looked at when it is asked for.

    Parameters
    ----------
    cuts : iterable of Cut
        The texts, cut into tokens; one after the other is asked for and done with.
    table : FormTable
        The forms of the tokens.
    mark : ndarray
        Has a place for every column and is zero before and after.
    lead : int or array of int, optional
        Only this many of the first characters of each text are looked at; an array has a number for each text.
    hidden : set of int
        Columns that are not shown to people.
    """

    def __init__(
        self,
        cuts: Iterable[Cut],
        table: FormTable,
        mark: NDArray[Any],
        lead: int | Ints | None = None,
        hidden: frozenset[int] = frozenset(),
    ) -> None:
        self._hidden = hidden
        self._pieces: list[tuple[str, Columns, NDArray[Any], NDArray[Any]]] = []
        """Of each chunk the text, columns, and where the term of each begins and ends."""
        self._places: list[list[tuple[int, int, int]]] = []
        """Of each text the chunks that it stands in, and which of their columns are its own."""
        goes_on = False
        for chunk, _, starts, ends, forms, _ in cuts:
            bounds = np.searchsorted(starts, chunk.ends)
            begins = np.concatenate([[0], bounds[:-1]])
            if lead is not None:
                # The first text of this chunk is the last of those before, where that goes on.
                first = len(self._places) - goes_on
                opening = np.concatenate([[0], chunk.ends[:-1] + 1])
                opening += lead if isinstance(lead, int) else lead[first : first + len(bounds)]
                opening[0] = 0 if goes_on else opening[0]
                bounds = np.minimum(bounds, np.searchsorted(starts, opening))
            columns, tokens, parts = first_places(
                forms, begins, bounds, table.column, table.first, table.last, table.columns, table.common, mark
            )
            places = [[(len(self._pieces), a, b)] for a, b in itertools.pairwise(parts.tolist())]
            if goes_on:  # a long text goes on in the next chunk
                self._places[-1] += places.pop(0)
            self._places += places
            self._pieces.append((chunk.text, columns, starts[tokens], ends[tokens]))
            goes_on = chunk.is_open

    def __len__(self) -> int:
        return len(self._places)

    def columns(self, number: int) -> Ints:
        """The columns of a text, in order."""
        parts = [self._pieces[chunk][1][a:b] for chunk, a, b in self._places[number]]
        # In one piece each column stands once.
        columns = np.sort(parts[0]) if len(parts) == 1 else np.unique(np.concatenate(parts))
        if self._hidden:
            columns = np.array([column for column in columns.tolist() if column not in self._hidden], dtype=np.int64)
        return columns.astype(np.int64)

    def __getitem__(self, number: int) -> dict[int, str]:
        """{column: as it reads} of a text; of several pieces the first that has a column tells."""
        found: dict[int, str] = {}
        for chunk, a, b in reversed(self._places[number]):
            text, columns, starts, ends = self._pieces[chunk]
            spans = zip(columns[a:b].tolist(), starts[a:b].tolist(), ends[a:b].tolist(), strict=True)
            found |= {column: text[start:end] for column, start, end in spans if column not in self._hidden}
        return found

    def text(self, number: int) -> Mapping[int, str]:
        """The same of a text that is asked for few of its columns, or later."""
        (chunk, a, b), *more = self._places[number]
        return self[number] if more or b - a < FEW_TERMS else self._of_piece(chunk, a, b)

    def _of_piece(self, chunk: int, a: int, b: int) -> TextForms:
        text, columns, starts, ends = self._pieces[chunk]
        columns, starts, ends = columns[a:b], starts[a:b], ends[a:b]
        if self._hidden:
            shown = np.array([column not in self._hidden for column in columns.tolist()], dtype=np.bool_)
            columns, starts, ends = columns[shown], starts[shown], ends[shown]
        if not len(columns):  # all are hidden
            return TextForms("", columns, starts, ends)
        # Copies, and no more than is needed of the text: a chunk is long, and a story keeps this for days.
        begin = int(starts[0])
        return TextForms(text[begin : ends.max()], columns.copy(), starts - begin, ends - begin)

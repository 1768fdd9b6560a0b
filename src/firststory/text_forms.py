"""How the terms of one text read: where each stands in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Self

import numpy as np

from firststory.arrays import Columns


class TextForms(Mapping[int, str]):
    """{column: as it reads} of one text, in the order of the text.

    Most texts are asked for a few of their columns, if at all: what is kept is where each stands, and no string is cut
    before somebody wants it.
    """

    __slots__ = ("_columns", "_ends", "_starts", "_text")

    def __init__(self, text: str, columns: Columns, starts: Columns, ends: Columns) -> None:
        self._text, self._columns, self._starts, self._ends = text, columns, starts, ends

    @classmethod
    def joined(cls, text: str, columns: Columns, lengths: Columns) -> Self:
        """Of terms that stand one behind the other, with nothing between them."""
        ends = np.cumsum(lengths, dtype=np.int32)
        return cls(text, columns.copy(), ends - lengths, ends)

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
        return dict(zip(self._columns.tolist(), self.words(), strict=True))

    def words(self) -> list[str]:
        """How they read, in the order of the columns."""
        text = self._text
        return [text[start:end] for start, end in zip(self._starts.tolist(), self._ends.tolist(), strict=True)]

    def as_joined(self) -> tuple[str, Columns, Columns]:
        """What `joined` makes the same of."""
        return "".join(self.words()), self._columns, self._ends - self._starts

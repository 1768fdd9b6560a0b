"""How the terms of texts read where they first stand, for people."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.first_places import first_places
from firststory.text.chunks import chunks
from firststory.text.forms import FormTable
from firststory.text.vocabulary import Vocabulary

Piece = tuple[str, NDArray[Any], NDArray[Any], NDArray[Any]]
"""A text with columns, and where the term of each begins and ends."""


def surface_readers(
    texts: Sequence[str], table: FormTable, vocabulary: Vocabulary, mark: NDArray[Any]
) -> list[Callable[[], dict[int, str]]]:
    """For each text a function that gives {column: as it reads}; the texts are cut all at once.

    `mark` has a place for every column and is zero before and after.
    """
    pieces: list[list[Piece]] = [[] for _ in texts]
    number = 0
    for chunk in chunks(texts):
        starts, ends, forms = table.lookup(chunk, vocabulary.find, retry=False)
        bounds = [0, *np.searchsorted(starts, chunk.ends).tolist()]
        for first, last in itertools.pairwise(bounds):
            columns, tokens = first_places(
                forms[first:last], table.column, table.first, table.last, table.columns, table.common, mark
            )
            pieces[number].append((chunk.text, columns, starts[first:last][tokens], ends[first:last][tokens]))
            number += 1
        number -= chunk.is_open  # a long document goes on in the next chunk
    return [partial(_read, piece) for piece in pieces]


def _read(pieces: Sequence[Piece]) -> dict[int, str]:
    """Of several pieces of a text the first that has a column tells how it reads."""
    found: dict[int, str] = {}
    for text, columns, begins, ends in pieces:
        for column, begin, end in zip(columns.tolist(), begins.tolist(), ends.tolist(), strict=True):
            found.setdefault(column, text[begin:end])
    return found

"""The surface forms of a stream: case, stop word, stem, weight and column are found once for each, then looked up.

The table is a cache and no part of the state: it is emptied when it is full, which changes no result, because columns
belong to terms and live in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.counting import pending_forms
from firststory.kernels.tokens import RUN, find_tokens, number_forms
from firststory.text.analyse import Analyser, is_marked
from firststory.text.characters import plain_classes, word_classes
from firststory.text.chunks import Chunk
from firststory.text.segmentation import IcuSegmenter

FIRST_FORMS = 1 << 12
"""Room for forms at the beginning."""

MAX_FORMS = 1 << 19
"""Room for forms at most; about 50 MB."""

Ints = NDArray[np.int32]


class FormTable:
    """Forms of one analyser; `lookup` turns the tokens of a chunk into form numbers."""

    def __init__(self, analyser: Analyser, segmenter: str, max_length: int, surface_weight: float) -> None:
        self.analyser = analyser
        self.max_length = max_length
        self.surface_weight = surface_weight
        self._plain = analyser.rules.plain
        self._classes = plain_classes() if self._plain else word_classes()
        self._segmenter = IcuSegmenter() if segmenter == "icu" and not self._plain else None
        self._capacity = FIRST_FORMS
        self.clear()

    def clear(self) -> None:
        """Forget every form."""
        n = self._capacity
        self.n_forms = 0
        self._table = np.full(_table_size(n), -1, dtype=np.int32)
        self._hash = np.zeros(n, dtype=np.uint64)
        self._start = np.zeros(n, dtype=np.int64)
        self._end = np.zeros(n, dtype=np.int64)
        self._kind = np.zeros(n, dtype=np.uint8)
        self._flag = np.zeros(n, dtype=np.uint8)
        self._arena = np.zeros(8 * n, dtype=np.uint32)
        self.first = np.zeros(n, dtype=np.int32)
        """Terms of form f: columns[first[f]:last[f]], -1 where a term has no column."""
        self.last = np.zeros(n, dtype=np.int32)
        self.columns = np.zeros(n, dtype=np.int32)
        self.missing = np.ones(n, dtype=np.int32)
        """How many terms of a form have no column; 1 where that was not looked up yet."""
        self.weight = np.ones(n)

    def tokens(self, chunk: Chunk) -> tuple[NDArray[np.uint32], Ints, Ints, NDArray[np.uint8]]:
        """Code points of the chunk; start, end and kind of each token."""
        codes = chunk.codes()
        starts = np.empty(codes.size, dtype=np.int32)
        ends = np.empty(codes.size, dtype=np.int32)
        kinds = np.empty(codes.size, dtype=np.uint8)
        n = find_tokens(codes, self._classes, self._plain, self._segmenter is None, starts, ends, kinds)
        starts, ends, kinds = starts[:n], ends[:n], kinds[:n]
        if self._segmenter is not None and (kinds == RUN).any():
            starts, ends, kinds = self._segmented(chunk.text, starts, ends, kinds)
        return codes, starts, ends, kinds

    def _segmented(self, text: str, starts: Ints, ends: Ints, kinds: NDArray[np.uint8]) -> Any:
        assert self._segmenter is not None
        spans: list[tuple[int, int, int]] = []
        for start, end, kind in zip(starts.tolist(), ends.tolist(), kinds.tolist(), strict=True):
            if kind == RUN:
                spans += [(start + a, start + b, RUN) for a, b in self._segmenter.spans(text[start:end])]
            else:
                spans.append((start, end, kind))
        table = np.array(spans, dtype=np.int32).reshape(-1, 3)
        return (*tuple(np.ascontiguousarray(table[:, c]) for c in (0, 1)), table[:, 2].astype(np.uint8))

    def lookup(self, chunk: Chunk, column: Callable[[str], int], *, retry: bool) -> tuple[Ints, Ints]:
        """Start and form number of each token; terms of new forms (and, with `retry`, of forms whose terms had no
        column) are looked up by `column`, in the order in which they appear."""
        codes, starts, ends, kinds = self.tokens(chunk)
        n = starts.size
        self._make_room(n, int((ends - starts).clip(max=self.max_length).sum()))
        forms = np.empty(n, dtype=np.int32)
        known = self.n_forms
        self.n_forms = number_forms(
            codes, starts, ends, kinds, n, self.max_length, self._table, self._hash, self._start, self._end,
            self._kind, self._arena, known, forms,
        )  # fmt: skip
        if retry:
            found = np.empty(self.n_forms, dtype=np.int32)
            self._resolve(found[: pending_forms(forms, n, self.missing, self._flag, found)], known, column)
        else:
            self._resolve(np.arange(known, self.n_forms, dtype=np.int32), known, column)
        return starts, forms

    def _resolve(self, numbers: Ints, known: int, column: Callable[[str], int]) -> None:
        """Terms and columns of forms; those from `known` on are new."""
        surfaces = self._surfaces(numbers)
        terms = self.analyser.terms(surfaces, self._kind[numbers].tolist())
        used = int(self.last[known - 1]) if known else 0
        self._reserve(used + sum(map(len, terms)))
        for f, surface, found in zip(numbers.tolist(), surfaces, terms, strict=True):
            if f >= known:
                self.first[f] = used
                used += len(found)
                self.last[f] = used
                if self.surface_weight != 1.0 and is_marked(surface):
                    self.weight[f] = self.surface_weight
            missing = 0
            for a, term in enumerate(found, self.first[f]):
                v = column(term)
                self.columns[a] = v
                missing += v < 0
            self.missing[f] = missing

    def _surfaces(self, numbers: Ints) -> list[str]:
        if not numbers.size:
            return []
        if numbers[-1] - numbers[0] != numbers.size - 1:  # old forms among them
            spans = zip(self._start[numbers].tolist(), self._end[numbers].tolist(), strict=True)
            return [self._arena[a:b].tobytes().decode("utf-32-le", "surrogatepass") for a, b in spans]
        begin, end = int(self._start[numbers[0]]), int(self._end[numbers[-1]])
        text = self._arena[begin:end].tobytes().decode("utf-32-le", "surrogatepass")
        starts, ends = (self._start[numbers] - begin).tolist(), (self._end[numbers] - begin).tolist()
        return [text[a:b] for a, b in zip(starts, ends, strict=True)]

    def _make_room(self, n_tokens: int, n_characters: int) -> None:
        """So that a chunk's forms fit even if every token is new; grow, and start afresh at the limit."""
        need = self.n_forms + n_tokens
        if need > self._capacity:
            if need > MAX_FORMS:
                self._capacity = max(self._capacity, n_tokens)
                self.clear()
            else:
                self._grow(max(need, 2 * self._capacity))
        used = int(self._end[self.n_forms - 1]) if self.n_forms else 0
        if used + n_characters > self._arena.size:
            self._arena = _longer(self._arena, max(used + n_characters, 2 * self._arena.size))

    def _grow(self, capacity: int) -> None:
        self._capacity = capacity
        for name in ("_hash", "_start", "_end", "_kind", "_flag", "first", "last"):
            setattr(self, name, _longer(getattr(self, name), capacity))
        for name in ("missing", "weight"):
            setattr(self, name, _longer(getattr(self, name), capacity, fill=1))
        size = _table_size(capacity)
        self._table = np.full(size, -1, dtype=np.int32)
        slots = (self._hash[: self.n_forms] & np.uint64(size - 1)).astype(np.int64)
        for f, slot in enumerate(slots.tolist()):
            while self._table[slot] >= 0:
                slot = (slot + 1) & (size - 1)
            self._table[slot] = f

    def _reserve(self, n_columns: int) -> None:
        if n_columns > self.columns.size:
            self.columns = _longer(self.columns, max(n_columns, 2 * self.columns.size))


def _table_size(capacity: int) -> int:
    """A power of two that leaves the table at most half full."""
    return 1 << (2 * capacity - 1).bit_length()


def _longer(array: NDArray[Any], size: int, fill: float = 0) -> NDArray[Any]:
    longer = np.full(size, fill, dtype=array.dtype)
    longer[: array.size] = array
    return longer

"""The surface forms of a stream: case, stop word, stem, weight and column are found once for each, then looked up.

A form belongs to a language: "die" is a German article and an English verb.

The table is a cache and no part of the state: it is emptied when it is full, which changes no result, because columns
belong to terms and live in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.text.counting import pending_forms, place_terms
from firststory.kernels.text.tokens import RUN, find_tokens, number_forms, rehash
from firststory.text.analyse import Analyser, is_marked
from firststory.text.characters import plain_classes, word_classes
from firststory.text.chunks import Chunk
from firststory.text.segmentation import IcuSegmenter

FIRST_FORMS = 1 << 12
"""Room for forms at the beginning."""

MAX_FORMS = 1 << 19
"""Room for forms at most."""

MAX_READ = 1 << 17
"""Forms whose terms are kept for `terms_of`."""

Ints = NDArray[np.int32]
Columns = Callable[[list[str]], list[int]]
"""Terms -> their columns, -1 where a term has none."""


class Tokens(NamedTuple):
    """The code points of a chunk; start, end and kind of each of its tokens."""

    codes: NDArray[np.uint32]
    starts: Ints
    ends: Ints
    kinds: NDArray[np.uint8]


class FormTable:
    """Forms of a stream; `lookup` turns the tokens of a chunk into form numbers.

    Parameters
    ----------
    make_analyser : callable
        Gives the analyser of a language by its number.
    plain : bool
        Whether tokens are runs of letters and digits and nothing else.
    """

    def __init__(
        self,
        make_analyser: Callable[[int], Analyser],
        *,
        plain: bool,
        segmenter: str,
        max_length: int,
        surface_weight: float,
    ) -> None:
        self._make_analyser = make_analyser
        self._analysers: dict[int, Analyser] = {}
        self.max_length = max_length
        self.surface_weight = surface_weight
        self._plain = plain
        self._classes = plain_classes() if self._plain else word_classes()
        self._segmenter = IcuSegmenter() if segmenter == "icu" and not self._plain else None
        self._capacity = FIRST_FORMS
        self._room = _room(0)
        self._read: dict[tuple[int, str, int], tuple[str, ...]] = {}
        self.clear()

    def analyser(self, language: int) -> Analyser:
        """The analyser of a language by its number."""
        if language not in self._analysers:
            self._analysers[language] = self._make_analyser(language)
        return self._analysers[language]

    def clear(self) -> None:
        """Forget every form."""
        n = self._capacity
        self.generation = object()
        """Another one after each clearing: numbers of forms mean nothing across it."""
        self.n_forms = 0
        self._used = 0
        self._n_missing = 0
        self.most_terms = 1
        """The most terms that a form has."""
        self._table = np.zeros((_table_size(n), 4), dtype=np.uint64)
        self._arena = np.zeros(8 * n, dtype=np.uint32)
        self._place = np.zeros(n, dtype=np.int64)
        self._simple = np.zeros(n, dtype=np.bool_)
        """Words of ASCII letters and digits."""
        self._flag = np.zeros(n, dtype=np.uint8)
        self.column = np.zeros(n, dtype=np.int32)
        """The column of a form with one term; NO_TERM, or MANY_TERMS, which are listed:"""
        self.first = np.zeros(n, dtype=np.int32)
        self.last = np.zeros(n, dtype=np.int32)
        self.columns = np.zeros(n, dtype=np.int32)
        """Terms of form f: columns[first[f]:last[f]], -1 where a term has no column."""
        self.missing = np.ones(n, dtype=np.int32)
        """How many terms of a form have no column; 1 where that was not looked up yet."""
        self.marked = np.zeros(n, dtype=np.bool_)
        """Capitalised, or with a digit."""
        self.common = np.zeros(n, dtype=np.bool_)
        """Counted in short texts only."""

    def tokens(self, chunk: Chunk) -> Tokens:
        """The tokens of a chunk. Good until the next call."""
        codes = chunk.codes()
        if codes.size > self._room[0].size:  # kept from chunk to chunk: fresh memory is slow memory
            self._room = _room(codes.size)
        starts, ends, kinds = self._room
        n = find_tokens(codes, self._classes, self._plain, self._segmenter is None, starts, ends, kinds)
        starts, ends, kinds = starts[:n], ends[:n], kinds[:n]
        if self._segmenter is not None and (kinds == RUN).any():
            starts, ends, kinds = self._segmented(chunk.text, starts, ends, kinds)
        return Tokens(codes, starts, ends, kinds)

    def _segmented(self, text: str, starts: Ints, ends: Ints, kinds: NDArray[np.uint8]) -> Any:
        """The tokens with runs of scripts without spaces cut into words."""
        assert self._segmenter is not None
        runs = np.flatnonzero(kinds == RUN)
        words = [self._segmenter.spans(text[starts[t] : ends[t]]) for t in runs.tolist()]
        times = np.ones(starts.size, dtype=np.int64)
        times[runs] = [len(spans) for spans in words]
        inside = np.array([span for spans in words for span in spans], dtype=np.int32).reshape(-1, 2)
        starts, ends, kinds = np.repeat(starts, times), np.repeat(ends, times), np.repeat(kinds, times)
        at = kinds == RUN
        ends[at] = starts[at] + inside[:, 1]
        starts[at] += inside[:, 0]
        return starts, ends, kinds

    def terms_of(self, surfaces: list[str], kinds: list[int], language: int) -> list[tuple[str, ...]]:
        """The terms of each form as it is written; forms that were asked for before are not analysed again."""
        asked = [(language, *form) for form in zip(surfaces, kinds, strict=True)]
        new = list(dict.fromkeys(form for form in asked if form not in self._read))
        if new:
            if len(self._read) + len(new) > MAX_READ:
                self._read.clear()
                new = list(dict.fromkeys(asked))
            terms = self.analyser(language).terms([surface for _, surface, _ in new], [kind for *_, kind in new])
            self._read.update(zip(new, terms, strict=True))
        return [self._read[form] for form in asked]

    def lookup(self, tokens: Tokens, languages: NDArray[np.uint8], column: Columns, *, retry: bool) -> Ints:
        """The form number of each token; `languages` are the numbers of their languages.

        Terms of new forms (and, with `retry`, of forms whose terms had no column) are looked up by `column`, in the
        order in which they appear.
        """
        codes, starts, ends, kinds = tokens
        n = starts.size
        # A form takes its letters and one word of the arena.
        self._make_room(n, n + int(np.minimum(ends - starts, self.max_length).sum()))
        forms = np.empty(n, dtype=np.int32)
        known = self.n_forms
        self.n_forms, self._used = number_forms(
            codes, starts, ends, kinds, languages, n, self.max_length, self._table, self._arena, self._used, known,
            forms, self._place, self._simple,
        )  # fmt: skip
        if retry and self._n_missing:
            found = np.empty(self.n_forms, dtype=np.int32)
            self._resolve(found[: pending_forms(forms, n, self.missing, self._flag, found)], known, column)
        else:
            self._resolve(np.arange(known, self.n_forms, dtype=np.int32), known, column)
        return forms

    def _resolve(self, numbers: Ints, known: int, column: Columns) -> None:
        """Terms and columns of forms; those from `known` on are new."""
        if not numbers.size:
            return
        terms, counts = self._terms(numbers)
        self.most_terms = max(self.most_terms, int(counts.max()))
        found = np.array(column(terms), dtype=np.int32)
        used = int(self.last[known - 1]) if known else 0
        self._reserve(used + found.size)
        self._n_missing += place_terms(
            numbers, known, counts, found, used, self.column, self.first, self.last, self.columns, self.missing
        )

    def _terms(self, numbers: Ints) -> tuple[list[str], NDArray[np.int64]]:
        """The terms of forms, one after the other, and how many each has."""
        languages = (self._arena[self._place[numbers]] >> 8) & 255
        if (languages == languages[0]).all():
            return self._terms_in(self.analyser(int(languages[0])), numbers)
        counts = np.zeros(numbers.size, dtype=np.int64)
        found: list[list[str]] = [[]] * numbers.size
        for language in np.unique(languages).tolist():
            which = np.flatnonzero(languages == language)
            terms, counts[which] = self._terms_in(self.analyser(language), numbers[which])
            behind = np.cumsum(counts[which]).tolist()
            for i, begin, end in zip(which.tolist(), [0, *behind], behind, strict=False):
                found[i] = terms[begin:end]
        return [term for terms in found for term in terms], counts

    def _terms_in(self, analyser: Analyser, numbers: Ints) -> tuple[list[str], NDArray[np.int64]]:
        """`_terms` of forms that are all in one language."""
        rules = analyser.rules
        letters, starts, ends = self._letters(numbers)
        if self.surface_weight != 1.0:  # right for simple forms, others are looked at below
            has_digit = np.logical_or.reduceat((letters >= 48) & (letters <= 57), starts)
            self.marked[numbers] = has_digit | (letters[starts] <= 90)
        begins = starts.tolist()
        lower = np.where((letters >= 65) & (letters <= 90), letters + np.uint32(32), letters)
        text, folded = (array.tobytes().decode("utf-32-le", "surrogatepass") for array in (letters, lower))
        words = [folded[a:b] for a, b in zip(begins, ends.tolist(), strict=True)]
        simple = self._simple[numbers] if analyser.simple else np.zeros(numbers.size, dtype=bool)
        header = self._arena[self._place[numbers]]
        counts = _outside(words, rules.stop_words)
        counts[(header >> 16) < rules.min_length] = 0
        is_common = 1 - _outside(words, rules.common)
        several = {}
        for i in np.flatnonzero(~simple).tolist():
            surface = text[begins[i] : ends[i]]
            several[i] = found = analyser.words(surface, int(header[i] & 255))
            counts[i], is_common[i] = len(found), analyser.is_common(found)
            words[i] = found[0] if found else ""
            if self.surface_weight != 1.0:
                self.marked[numbers[i]] = is_marked(surface)
        self.common[numbers] = is_common
        most = counts.max(initial=0)
        kept = words if most == 1 == counts.min() else [words[i] for i in np.flatnonzero(counts).tolist()]
        if most > 1:
            kept = [word for i in np.flatnonzero(counts).tolist() for word in several.get(i, (words[i],))]
        return analyser.stems(kept), counts

    def _letters(self, numbers: Ints) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
        """The code points of forms, and where each form begins and ends among them."""
        places = self._place[numbers]
        lengths = (self._arena[places] >> 16).astype(np.int64)
        if int(numbers[-1]) - int(numbers[0]) == numbers.size - 1 and (np.diff(numbers) == 1).all():
            # New forms only: one stretch of the arena, headers and all.
            begin = int(places[0])
            letters = self._arena[begin : places[-1] + 1 + lengths[-1]].copy()
            letters[places - begin] = 32
            starts = places + 1 - begin
        else:
            ends = np.cumsum(lengths)
            starts = ends - lengths
            letters = self._arena[np.arange(ends[-1]) + np.repeat(places + 1 - starts, lengths)]
        return letters, starts, starts + lengths

    def _make_room(self, n_tokens: int, n_words: int) -> None:
        """So that a chunk's forms fit even if every token is new; grow, and start afresh at the limit."""
        need = self.n_forms + n_tokens
        if need > self._capacity:
            if need > MAX_FORMS:
                self._capacity = max(self._capacity, n_tokens)
                self.clear()
            else:
                self._grow(max(need, min(2 * self._capacity, MAX_FORMS)))
        if self._used + n_words > self._arena.size:
            self._arena = _longer(self._arena, max(self._used + n_words, 2 * self._arena.size))

    def _grow(self, capacity: int) -> None:
        self._capacity = capacity
        for name in ("_place", "_simple", "_flag", "column", "first", "last", "marked", "common"):
            setattr(self, name, _longer(getattr(self, name), capacity))
        self.missing = _longer(self.missing, capacity, fill=1)
        table = np.zeros((_table_size(capacity), 4), dtype=np.uint64)
        rehash(self._table, table)
        self._table = table

    def _reserve(self, n_columns: int) -> None:
        if n_columns > self.columns.size:
            self.columns = _longer(self.columns, max(n_columns, 2 * self.columns.size))


def _outside(words: list[str], listed: frozenset[str]) -> NDArray[np.int64]:
    """1 for each word that is not listed, else 0: of new words hardly any is."""
    counts = np.ones(len(words), dtype=np.int64)
    if not listed.isdisjoint(words):
        counts[[i for i, word in enumerate(words) if word in listed]] = 0
    return counts


def _room(n: int) -> tuple[Ints, Ints, NDArray[np.uint8]]:
    """For start, end and kind of n tokens."""
    return np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), np.empty(n, dtype=np.uint8)


def _table_size(capacity: int) -> int:
    """A power of two that leaves the table at most half full."""
    return 1 << (2 * capacity - 1).bit_length()


def _longer(array: NDArray[Any], size: int, fill: float = 0) -> NDArray[Any]:
    longer = np.full(size, fill, dtype=array.dtype)
    longer[: array.size] = array
    return longer

"""The terms of texts that were read already, where they stand: what is known of a text is not read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from firststory.kernels.text.counting import NO_TERM
from firststory.text.forms import FormTable
from firststory.text.records import Token
from firststory.text.surfaces import Cut


class ReadTokens:
    """Tokens of the texts that a vectorizer learnt last, each text looked at when it is asked for.

    Parameters
    ----------
    cuts : iterable of Cut
        The texts, cut into tokens.
    table : FormTable
        The forms of the tokens.
    terms : sequence of str
        The terms by their columns.
    hidden : set of str
        Words that are not shown to people.
    """

    def __init__(self, cuts: Iterable[Cut], table: FormTable, terms: Sequence[str], hidden: frozenset[str]) -> None:
        self._table, self._terms, self._hidden = table, terms, hidden
        self._places: list[list[tuple[Cut, int, int, int]]] = []
        """Of each text the chunks that it stands in, which of their tokens are its own, and where they begin in it."""
        goes_on, before = False, 0
        for cut in cuts:
            ends = np.searchsorted(cut.starts, cut.chunk.ends).tolist()
            begins = [0, *(cut.chunk.ends[:-1] + 1).tolist()]
            places = [[(cut, a, b, -begin)] for a, b, begin in zip([0, *ends], ends, begins, strict=False)]
            if goes_on:  # a long text goes on in the next chunk
                (_, a, b, _), *_ = places.pop(0)
                self._places[-1].append((cut, a, b, before))
            self._places += places
            goes_on, before = cut.chunk.is_open, (before if goes_on else 0) + len(cut.chunk.text)

    def of(self, number: int, title: int = 0) -> list[Token]:
        """The terms of a text, each form where it first stands; terms without a column are left out.

        The first `title` characters are a title: what stands there has no place in the text, -1, and is given again
        where the text has it too.
        """
        found: list[Token] = []
        for cut, a, b, offset in self._places[number]:
            shift = offset - title
            middle = a + int(np.searchsorted(cut.starts[a:b], -shift))
            if middle > a:
                found += self._first(cut, a, middle, None)
            found += self._first(cut, middle, b, shift)
        return found

    def _first(self, cut: Cut, a: int, b: int, shift: int | None) -> list[Token]:
        """The tokens a .. b of a chunk, the first of each form; without a shift they have no place."""
        table, terms, hidden, text = self._table, self._terms, self._hidden, cut.chunk.text
        forms, seen, found = cut.forms[a:b], {-1}, list[Token]()  # -1: too long
        columns, common = table.column[forms].tolist(), table.common[forms].tolist()
        places = zip(cut.starts[a:b].tolist(), cut.ends[a:b].tolist(), strict=True)
        for form, column, is_common, (start, end) in zip(forms.tolist(), columns, common, places, strict=True):
            if form in seen:
                continue
            seen.add(form)
            if column == NO_TERM or is_common:
                continue
            surface = text[start:end]
            if hidden and surface.lower() in hidden:
                continue
            begin, behind = (-1, -1) if shift is None else (start + shift, end + shift)
            if column >= 0:
                found.append(Token(surface, begin, behind, terms[column], column))
            else:
                several = table.columns[table.first[form] : table.last[form]].tolist()
                found += [Token(surface, begin, behind, terms[one], one) for one in several if one >= 0]
        return found

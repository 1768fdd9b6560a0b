"""Read documents and learn from them what their names, figures and phrases are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import isfinite
from typing import Self

import numpy as np

from firststory.errors import ParameterError, StateError
from firststory.kernels.phrases import layout as k
from firststory.kernels.phrases.learning import together_key
from firststory.kernels.phrases.reading import read_documents
from firststory.kernels.phrases.tables import marks_of
from firststory.records import Document
from firststory.state import State, flatten, unflatten
from firststory.text.language import check_language
from firststory.text.phrases.alphabet import alphabet_of, key_number, numbers_of, stop_numbers
from firststory.text.phrases.found import ReadDocuments
from firststory.text.phrases.kinds import kind_of
from firststory.text.phrases.records import Kind, Phrase
from firststory.text.phrases.tables import (
    count_of,
    counts_of,
    name_text,
    new_tables,
    slots_of,
    tables_from,
    tables_state,
)
from firststory.text.phrases.variants import document_phrases

MAX_CHARACTERS = 20_000
"""Of a document that are read, its title included."""

CHUNK = 1 << 17
"""Characters that are read at a time."""


class PhraseReader:
    """Whole names, figures with their unit, and phrases, learnt from the stream in one pass and bounded memory.

    Use it where people read what a document is about. It needs capitals to tell names: of text in lower case, and of
    scripts without case, it finds phrases and figures, but few names. Word lists are English: in other languages names
    and phrases are found, their kinds mostly not.

    Parameters
    ----------
    half_life : float
        After so many documents what was learnt counts half.
    capacity : int
        Words that are remembered, a power of two; of names half as many.
    languages : sequence of str
        Whose stop words begin and end no phrase.

    Examples
    --------
    >>> reader = PhraseReader()
    >>> storm = Document(id="1", text="Storm kills 12 people in Porto Alegre\\nMayor Jane Doe closed the bridge.")
    >>> _ = reader.learn([storm])
    >>> [(phrase.text, phrase.form) for phrase in reader.phrases(storm)][:3]
    [('Storm kills', 'words'), ('12 people', 'figure'), ('Porto Alegre', 'name')]
    """

    _state_version = 1

    def __init__(
        self, half_life: float = 20_000.0, capacity: int = 1 << 16, languages: Sequence[str] = ("en",)
    ) -> None:
        if not (isfinite(half_life) and half_life >= 1.0):
            raise _refused("half_life", "a number of documents, at least 1", half_life)
        if capacity < 1 << 10 or capacity > 1 << 24 or capacity & (capacity - 1):
            raise _refused("capacity", "a power of two from 1024 to 16777216", capacity)
        self.half_life = float(half_life)
        self.capacity = int(capacity)
        self.languages = tuple(check_language(code, type(self).__name__) for code in languages)
        self._alphabet = alphabet_of(self.languages)
        self._stop_numbers = stop_numbers(self.languages)
        self.tables = new_tables(self.capacity)
        self._room = _room(0)

    @property
    def n_documents_(self) -> float:
        """How many documents were learnt; older ones count less."""
        return float(self.tables.clock[k.N_DOCUMENTS])

    def learn(self, documents: Iterable[Document]) -> ReadDocuments:
        """Learn from documents, one after the other; returns what was read of them."""
        return self._read(list(documents), learn=True)

    def read(self, documents: Iterable[Document]) -> ReadDocuments:
        """The phrases of documents; nothing is learnt."""
        return self._read(list(documents), learn=False)

    def phrases(self, document: Document) -> list[Phrase]:
        """The phrases of a title and the first 320 characters behind it, and names and words that the body repeats.

        In the order of the text; nothing is learnt.
        """
        return document_phrases(self, self.read([document]), [0])[0]

    def kind(self, name: str) -> Kind:
        """What a name mostly is in this stream: "person", "place", "organisation", or "other" if that is not sure."""
        return kind_of(self.tables, self.number_of(name))

    def documents_with(self, phrase: str) -> float:
        """In how many documents a phrase was, older ones counting less; of words, in how many titles and leads."""
        return self.documents_with_each([phrase])[0]

    def documents_with_each(self, phrases: Sequence[str]) -> list[float]:
        """`documents_with` of many."""
        numbers = self.numbers_of(phrases)
        named = counts_of(self.tables, self.tables.names, numbers, k.NAME_DOCUMENTS)
        told = counts_of(self.tables, self.tables.counts, [number ^ int(k.OF_PHRASE) for number in numbers])
        return list(map(max, named, told))

    def documents_with_word(self, word: str) -> float:
        """In how many documents a word was."""
        return self.documents_with_each_word([word])[0]

    def documents_with_each_word(self, words: Sequence[str]) -> list[float]:
        """`documents_with_word` of many."""
        return counts_of(self.tables, self.tables.words, self.numbers_of(words))

    def documents_together(self, one: str, other: str) -> float:
        """In how many titles and leads two phrases were together."""
        a, b = np.uint64(self.number_of(one)), np.uint64(self.number_of(other))
        return count_of(self.tables, self.tables.counts, int(together_key(a, b)))

    def usual_text(self, name: str) -> str:
        """How a name mostly reads; empty where it is not known."""
        return name_text(self.tables, self.number_of(name))

    def number_of(self, phrase: str) -> int:
        """The number by which the tables know a phrase."""
        return key_number(phrase)

    def numbers_of(self, phrases: Sequence[str]) -> list[int]:
        """The numbers by which the tables know phrases."""
        return numbers_of(phrases)

    def mostly_lower(self, words: Iterable[str]) -> set[str]:
        """Those of some words that are mostly written small where capitals say something."""
        asked = list(dict.fromkeys(words))
        if not asked:
            return set()
        slots = slots_of(self.tables.words, self.numbers_of(asked))
        counts = self.tables.words.counts[slots]
        is_small = (slots >= 0) & (counts[:, k.IN_LOWER] > counts[:, k.IN_UPPER])
        return {word for word, small in zip(asked, is_small.tolist(), strict=True) if small}

    def is_first_name(self, number: int) -> bool:
        """Whether a word, by its number, is a known first name."""
        return bool(marks_of(self._alphabet.keys, self._alphabet.marks, np.uint64(number)) & k.FIRST_NAME)

    def is_stop_word(self, word: str) -> bool:
        """Whether a word is a stop word of the reader's languages, or a date."""
        return self.is_stop_number(self.number_of(word))

    def is_stop_number(self, number: int) -> bool:
        """Whether a word, by its number, is a stop word of the reader's languages, or a date."""
        return number in self._stop_numbers

    # -- reading -------------------------------------------------------------------------------------------

    def _read(self, documents: Sequence[Document], *, learn: bool) -> ReadDocuments:
        texts, shifts = zip(*map(_joined, documents), strict=True) if documents else ((), ())
        names = [document.source for document in documents]
        keys = dict(zip(known := list(dict.fromkeys(names)), numbers_of(list(map(_source, known))), strict=True))
        sources = np.array([keys[name] for name in names], np.uint64)  # 0 where none is known
        rate = 2.0 ** (1.0 / self.half_life)
        parts = []
        for begin, end in _chunks(texts):
            codes = np.frombuffer("\n".join(texts[begin:end]).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
            ends = np.cumsum(np.fromiter(map(len, texts[begin:end]), np.int64, end - begin) + 1) - 1
            if codes.size + 2 > self._room[0].size:  # kept from chunk to chunk: fresh memory is slow memory
                self._room = _room(codes.size + 2)
            tokens, lines, found, dull = self._room
            n, n_dull = read_documents(
                codes, ends, sources[begin:end], self._alphabet, self.tables, rate, learn, tokens, lines, found, dull
            )
            kept, spans = found[:n].copy(), dull[:n_dull].copy()
            kept["document"] += begin
            spans["document"] += begin
            parts.append((kept, spans))
        return ReadDocuments(texts, shifts, parts)

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """Parameters and everything learnt, as a flat dict of arrays and JSON values."""
        parameters = {"half_life": self.half_life, "capacity": self.capacity, "languages": list(self.languages)}
        state: State = {"class": type(self).__name__, "version": self._state_version, "params": parameters}
        return flatten(state | {"tables": tables_state(self.tables)})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`: what it reads from here on is the same, bit for bit."""
        values = unflatten(state)
        parameters = values.get("params")
        if (values.get("class"), values.get("version")) != (cls.__name__, cls._state_version) or not parameters:
            raise StateError(
                owner=cls.__name__,
                parameter="state",
                allowed=f"of class {cls.__name__}, version {cls._state_version}",
                received=f"{values.get('class')}, version {values.get('version')}",
                remedy="Load it with the class and the firststory version that saved it.",
            )
        reader = cls(**parameters)
        reader.tables = tables_from(values.get("tables", {}), reader.capacity, cls.__name__)
        return reader


def _refused(parameter: str, allowed: str, received: object) -> ParameterError:
    return ParameterError(
        owner="PhraseReader", parameter=parameter, allowed=allowed, received=received, remedy="Leave it out."
    )


def _joined(document: Document) -> tuple[str, int]:
    """Title and text as one, the title being the first line, and by how much the text begins later there."""
    text = document.text[:MAX_CHARACTERS]
    title = (document.title or "").strip()[: k.TITLE_CHARACTERS].replace("\n", " ")
    if not title or text.startswith(title):
        return text, 0
    return f"{title}\n{text}"[:MAX_CHARACTERS], len(title) + 1


def _source(name: str | None) -> str:
    return (name or "")[:200].replace("\n", " ")


def _chunks(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where to cut a batch, so that memory does not depend on how long it is."""
    begin, size, cuts = 0, 0, [0]
    for i, text in enumerate(texts):
        size += len(text) + 1
        if size > CHUNK and i > begin:
            cuts.append(i)
            begin, size = i, len(text) + 1
    yield from pairwise([*cuts, len(texts)]) if texts else ()


def _room(n: int) -> tuple[k.Tokens, k.Lines, k.Found, k.Spans]:
    """Room for the tokens, lines, phrases and spans of n characters."""
    return np.empty(n, k.TOKEN), np.empty(n, k.LINE), np.empty(n, k.FOUND), np.empty(n, k.SPAN)

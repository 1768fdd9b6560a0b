"""Reads the texts of a stream: tokens, the language of each document, terms and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Ints
from firststory.text.analyse import Analyser, Rules, normal
from firststory.text.chunks import Chunk, chunks
from firststory.text.forms import FormTable, Tokens
from firststory.text.language import stop_words
from firststory.text.records import Token
from firststory.text.shown import NEWS_ELSEWHERE, hidden_words
from firststory.text.stop_word_index import codes, number_of
from firststory.text.stream_languages import Numbers, StreamLanguages
from firststory.text.surfaces import Cut, SurfaceForms
from firststory.text.vocabulary import Vocabulary

SHORT_WORD = 3
"""Letters of a word that is dropped from short texts too, where it is a stop word."""


class ReadingRules(NamedTuple):
    """The parameters of `StreamVectorizer` that say what a term is."""

    language: str | None
    """The one language of the stream; None where each document has its own."""
    segmenter: str
    surface_weight: float
    short: int
    stop_words: str | Iterable[str] | None
    stem: bool
    token_rule: str
    min_length: int
    max_length: int
    urls: str
    mentions: str


class TextReader:
    """Texts in, numbered forms out. What it keeps is a cache, but for the vocabulary and the languages it is given."""

    def __init__(self, rules: ReadingRules, vocabulary: Vocabulary, languages: StreamLanguages) -> None:
        self.rules = rules
        self._vocabulary = vocabulary
        self._languages = languages
        self.table = FormTable(
            self._analyser,
            plain=rules.token_rule == "plain",
            segmenter=rules.segmenter,
            max_length=rules.max_length,
            surface_weight=rules.surface_weight,
        )

    # -- reading -------------------------------------------------------------------------------------------

    def read(self, documents: Sequence[str], *, learn: bool) -> Iterator[Cut]:
        """The documents cut into tokens, chunk by chunk, each document in its language.

        Where `learn`, new terms get a column, and the documents count among the languages of the stream.
        """
        goes_on = False
        for chunk in chunks(documents):
            tokens = self.table.tokens(chunk)
            if not goes_on:  # the beginning of a long document tells its language
                languages = self._guess(chunk, tokens, learn=learn)
            goes_on = chunk.is_open
            yield self._cut(chunk, tokens, languages, learn=learn)

    def renewed(self, cuts: Iterable[Cut]) -> Iterator[Cut]:
        """The cuts with the numbers that their forms have now: forms are renumbered when the table was full."""
        for cut in cuts:
            is_valid = cut.generation is self.table.generation
            yield cut if is_valid else self._cut(cut.chunk, self.table.tokens(cut.chunk), cut.languages, learn=False)

    def _cut(self, chunk: Chunk, tokens: Tokens, languages: Numbers, *, learn: bool) -> Cut:
        table, vocabulary = self.table, self._vocabulary
        per_document = np.diff(np.searchsorted(tokens.starts, chunk.ends), prepend=0)
        forms = table.lookup(
            tokens,
            np.repeat(languages, per_document),
            vocabulary.add if learn else vocabulary.find,
            retry=learn and not vocabulary.is_full,
        )
        return Cut(chunk, languages, tokens.starts.copy(), tokens.ends.copy(), forms, table.generation)

    def tokens(self, text: str, *, first_only: bool, language: str | None) -> list[Token]:
        """The terms of a text where they stand in it; see `StreamVectorizer.tokens`."""
        number = None if language is None else number_of(language)
        hidden = self.hidden_words()
        found = []
        offset = 0
        for chunk in chunks([text]):
            tokens = self.table.tokens(chunk)
            if number is None:
                number = int(self._guess(chunk, tokens, learn=False)[0])
            _, starts, ends, kinds = tokens
            surfaces = [chunk.text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
            if first_only:
                # Read from the end, so that of equal words the first is what the dictionary keeps.
                first = sorted(dict(zip(reversed(surfaces), range(len(surfaces) - 1, -1, -1), strict=True)).values())
                surfaces, starts, kinds = [surfaces[i] for i in first], starts[first], kinds[first]
            found += [
                Token(surface, offset + start, offset + start + len(surface), term, self._vocabulary[term])
                for surface, start, words in zip(
                    surfaces, starts.tolist(), self.table.terms_of(surfaces, kinds.tolist(), number), strict=True
                )
                if len(surface) <= self.rules.max_length and not (hidden and surface.lower() in hidden)
                for term in words
            ]
            offset += len(chunk.text)
        return found

    def surface_forms(
        self, cuts: Iterable[Cut], mark: NDArray[np.float64], lead: int | Ints | None = None
    ) -> SurfaceForms:
        """How the terms of the cuts read. `mark` has a zero for every column, before and after."""
        hidden = self.hidden_columns() if len(self._hidden_languages()) > 1 else frozenset()
        return SurfaceForms(cuts, self.table, mark, lead, hidden)

    # -- languages -----------------------------------------------------------------------------------------

    def _guess(self, chunk: Chunk, tokens: Tokens, *, learn: bool) -> Numbers:
        """The number of the language of each document of a chunk."""
        if self.rules.language is not None:
            return np.full(chunk.ends.size, number_of(self.rules.language), dtype=np.uint8)
        return self._languages.guess(chunk, *tokens, learn=learn)

    def _hidden_languages(self) -> tuple[str, ...]:
        """The languages whose stop words are not shown, besides those of the document itself."""
        if self.rules.language is not None or self.rules.stop_words != "language":
            return ()
        return tuple(self._languages.recent())

    def hidden_words(self) -> frozenset[str]:
        """The words that are not shown to people."""
        return hidden_words(self._hidden_languages())

    def hidden_columns(self) -> frozenset[int]:
        """The columns of words that are not shown to people."""
        languages = self._hidden_languages()
        if len(languages) > 1:
            terms = hidden_words(languages)
            for code in languages:
                terms |= self.table.analyser(number_of(code)).stems_of(stop_words(code) - NEWS_ELSEWHERE)
        else:  # shorter stop words never have a column
            only = self.rules.language or self._languages.majority
            terms = self.table.analyser(number_of(only)).common_stems
        return frozenset(self._vocabulary.find(terms)) - {-1}

    def _analyser(self, number: int) -> Analyser:
        """The analyser of a language by its number."""
        rules, language = self.rules, codes()[number]
        dropped = self._stop_words(language)
        common = frozenset(word for word in dropped if len(word) > SHORT_WORD) if rules.short else frozenset()
        return Analyser(
            Rules(
                plain=rules.token_rule == "plain",
                language=language,
                stop_words=dropped - common,
                common=common,
                stem=rules.stem,
                min_length=rules.min_length,
                urls=rules.urls,
                mentions=rules.mentions,
            )
        )

    def _stop_words(self, language: str) -> frozenset[str]:
        given = self.rules.stop_words
        if given is None:
            return frozenset()
        if given == "language":
            return stop_words(language)
        if given == "sklearn":
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            return frozenset(ENGLISH_STOP_WORDS)
        if self.rules.token_rule == "plain":
            return frozenset(map(str.lower, given))
        return frozenset(normal(word, language) for word in given)

"""The phrases of a document that say what is new, with the columns of their words."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from firststory.pipeline.in_progress import InProgress
from firststory.records import TermKind
from firststory.text.language import stop_words
from firststory.text.phrases.alphabet import fold, fold_phrase
from firststory.text.phrases.evidence import choose_weighed
from firststory.text.phrases.found import ReadDocuments
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Phrase
from firststory.text.phrases.variants import document_phrases

WITHOUT_SPACES = frozenset({"ja", "km", "lo", "my", "th", "zh"})
"""Languages that part no words: what stands between two signs is no phrase."""


class EvidencePhrase(NamedTuple):
    """A phrase as it is shown."""

    text: str
    start: int
    """Where it first stands in the text of the document; -1 where that is the title alone."""
    end: int
    weight: float
    """Its part of what all phrases that were chosen weigh."""
    columns: tuple[int, ...]
    """Those of its words."""
    kind: TermKind


def evidence_phrases(
    reader: PhraseReader, read: ReadDocuments, one: InProgress, language: str
) -> tuple[EvidencePhrase, ...]:
    """The three to six phrases that say what is new in a document of this batch, in the order of the text."""
    if language in WITHOUT_SPACES:
        return ()
    stop = _folded_stop_words(language)
    found = document_phrases(reader, read, one.place)
    trimmed = (_trimmed(phrase, stop) if _may_lean(phrase) else phrase for phrase in found)
    chosen = choose_weighed(reader, [phrase for phrase in trimmed if phrase.key])
    column_of = {fold_phrase(token.surface): token.column for token in reversed(one.tokens) if token.column >= 0}
    total = sum(worth for _, worth in chosen) or 1.0
    return tuple(
        EvidencePhrase(
            phrase.text,
            *_place(one.document.text, phrase),
            worth / total,
            tuple([column_of[word] for word in phrase.key.split() if word in column_of]),
            phrase.kind,
        )
        for phrase, worth in chosen
    )


def _place(text: str, phrase: Phrase) -> tuple[int, int]:
    """Where it stands in the text, also where the title has it first; (-1, -1) where the title alone has it."""
    if phrase.start >= 0:
        return phrase.start, phrase.end
    start = text.find(phrase.text)
    return (start, start + len(phrase.text)) if start >= 0 else (-1, -1)


@cache
def _folded_stop_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, stop_words(language)))


def _may_lean(phrase: Phrase) -> bool:
    """A name has an article of its own (La Paz), but not the one that a text begins with."""
    return phrase.form == "words" or (phrase.form == "name" and phrase.start <= 0)


def _trimmed(phrase: Phrase, stop: frozenset[str]) -> Phrase:
    """A phrase without the stop words of the document's language at both ends; the reader knows one language."""
    words, texts = phrase.key.split(), phrase.text.split()
    if len(words) != len(texts) or not {words[0], words[-1]} & stop:
        return phrase
    kept = [n for n, word in enumerate(words) if word not in stop]
    if not kept:
        return phrase._replace(key="")
    inside = slice(kept[0], kept[-1] + 1)
    # It no longer stands where it stood: where it does is looked up.
    return phrase._replace(text=" ".join(texts[inside]), key=" ".join(words[inside]), start=-1, end=-1)

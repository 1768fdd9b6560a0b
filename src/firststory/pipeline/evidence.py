"""The phrases of a document that say what is new, with the columns of their words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from firststory.pipeline.fingerprints import title_before
from firststory.pipeline.in_progress import InProgress
from firststory.pipeline.judged_batch import ReadBatch
from firststory.pipeline.parts import Parts
from firststory.records import TermKind
from firststory.text.language import stop_words
from firststory.text.phrases.alphabet import fold, fold_phrase
from firststory.text.phrases.evidence import choose_weighed
from firststory.text.phrases.found import ReadDocuments
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Phrase
from firststory.text.phrases.variants import document_phrases
from firststory.text.records import Token

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


def gather_tokens(parts: Parts, novel: Sequence[InProgress]) -> None:
    """Fill in the words of the novel documents of the batch that was learnt last."""
    if not novel:
        return
    tokens = parts.vectorizer.last_tokens()
    for one in novel:
        title = title_before(one.document)
        one.tokens = tokens.of(one.place, len(title) + 1 if title else 0)


def gather_phrases(parts: Parts, batch: ReadBatch, read: ReadDocuments) -> None:
    """Fill in the phrases of the novel documents of a batch."""
    languages = batch.languages
    spaced = [one for one in batch.documents if one.is_novel and languages[one.place] not in WITHOUT_SPACES]
    if not spaced:
        return
    chosen = _chosen(parts.phrases, read, [(one.place, languages[one.place]) for one in spaced])
    for one, phrases in zip(spaced, chosen, strict=True):
        one.phrases = phrases


def _chosen(
    reader: PhraseReader, read: ReadDocuments, places: Sequence[tuple[int, str]]
) -> list[list[tuple[Phrase, float]]]:
    """The three to six phrases that say what is new in each document, by its place and language."""
    found = document_phrases(reader, read, [place for place, _ in places])
    shown = []
    for phrases, (_, language) in zip(found, places, strict=True):
        stop = _folded_stop_words(language)
        trimmed = (_trimmed(phrase, stop) if _may_lean(phrase) else phrase for phrase in phrases)
        shown.append([phrase for phrase in trimmed if phrase.key])
    return choose_weighed(reader, shown)


def with_columns(
    text: str, tokens: Sequence[Token], chosen: Sequence[tuple[Phrase, float]]
) -> tuple[EvidencePhrase, ...]:
    """The phrases that were chosen of a document, in the order of the text, with the columns of their words."""
    wanted = {word for phrase, _ in chosen for word in phrase.key.split()}
    column_of: dict[str, int] = {}
    for token in tokens:
        word = fold_phrase(token.surface)
        if word in wanted:
            column_of.setdefault(word, token.column)
    total = sum(worth for _, worth in chosen) or 1.0
    return tuple(
        EvidencePhrase(
            phrase.text,
            *_place(text, phrase),
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
    words = phrase.key.split()
    if words[0] not in stop and words[-1] not in stop:
        return phrase
    texts = phrase.text.split()
    if len(words) != len(texts):
        return phrase
    kept = [n for n, word in enumerate(words) if word not in stop]
    if not kept:
        return phrase._replace(key="")
    inside = slice(kept[0], kept[-1] + 1)
    # It no longer stands where it stood: where it does is looked up.
    return phrase._replace(text=" ".join(texts[inside]), key=" ".join(words[inside]), start=-1, end=-1)

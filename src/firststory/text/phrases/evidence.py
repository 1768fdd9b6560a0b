"""Choose the three to six phrases of a document that say what is new."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress, pairwise

import numpy as np

from firststory.kernels.phrases import choosing
from firststory.kernels.phrases import layout as k
from firststory.records import Document
from firststory.text.phrases.alphabet import numbers_of
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import FORMS, ZONES, Phrase

MOST = choosing.MOST
_FORM = {name: number for number, name in enumerate(FORMS)}
_ZONE = {name: number for number, name in enumerate(ZONES)}


def choose_evidence(reader: PhraseReader, document: Document, most: int = MOST) -> list[Phrase]:
    """The phrases that say what is new in a document, in the order of the text.

    A phrase weighs by where it stands, how often, how rare it is, and its form. The heaviest is taken first, then one
    after the other what adds most: more if it was never together with one of those chosen, less if it is of the same
    form; none that shares its words with them.

    Parameters
    ----------
    reader : PhraseReader
        Whatever it has learnt says what is rare. It does not matter whether it has learnt this document.
    document : Document
    most : int
        How many phrases at most.

    Examples
    --------
    >>> reader = PhraseReader()
    >>> found = choose_evidence(reader, Document(id="1", text="A storm kills 12 people in Porto Alegre"))
    >>> [phrase.text for phrase in found]
    ['storm kills', '12 people', 'Porto Alegre']
    """
    return [phrase for phrase, _ in choose_weighed(reader, [reader.phrases(document)], most)[0]]


def choose_weighed(
    reader: PhraseReader, documents: Sequence[Sequence[Phrase]], most: int = MOST
) -> list[list[tuple[Phrase, float]]]:
    """Of each document the phrases that say what is new in it, in the order of the text, and what they weigh."""
    phrases = list(chain.from_iterable(documents))
    if not phrases:
        return [[] for _ in documents]
    _, keys, _, _, phrase_forms, _, phrase_zones, times = zip(*phrases, strict=True)
    split = [key.split() for key in keys]
    every = list(chain.from_iterable(split))
    place = {word: n for n, word in enumerate(dict.fromkeys(every))}
    words = np.array([place[word] for word in every], dtype=np.int64)
    first, word_first = _bounds(documents), _bounds(split)
    numbers = np.array(numbers_of([*place, *keys]), dtype=np.uint64)
    word_numbers, numbers = numbers[: len(place)], numbers[len(place) :]
    forms = np.array([_FORM[form] for form in phrase_forms], dtype=np.int64)
    tables = reader.tables
    unit, told = float(tables.clock[k.UNIT_NOW]), tables.counts[:2]
    weights = choosing.weigh_phrases(
        forms,
        np.array([_ZONE[zone] for zone in phrase_zones], dtype=np.int64),
        np.array(times, dtype=np.int64),
        numbers,
        word_first,
        words,
        word_numbers,
        reader.n_documents_,
        unit,
        *tables.names[:2],
        *told,
        *tables.words[:2],
    )
    kept = choosing.choose_phrases(first, weights, forms, numbers, word_first, words, most, unit, *told).tolist()
    pairs = list(zip(phrases, weights.tolist(), strict=True))
    return [_kept(pairs[a:b], kept[a:b]) for a, b in pairwise(first.tolist())]


def _kept(pairs: Sequence[tuple[Phrase, float]], is_kept: Sequence[bool]) -> list[tuple[Phrase, float]]:
    """Those that are kept, and their equals: of two that lost their article, both have no place of their own."""
    found = list(compress(pairs, is_kept))
    if all(phrase.start >= 0 for phrase, _ in found):
        return found
    chosen = {phrase for phrase, _ in found}
    return [
        pair for pair, kept in zip(pairs, is_kept, strict=True) if kept or (pair[0].start < 0 and pair[0] in chosen)
    ]


def _bounds(parts: Sequence[Sequence[object]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where each of the parts begins when they are joined, and where the last ends."""
    bounds = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=bounds[1:])
    return bounds

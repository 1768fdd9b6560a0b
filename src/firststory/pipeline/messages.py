"""A judged batch, and what placing found out about it, on their way between two processes.

Few large values, not many small ones: tuples of plain values, and arrays of all documents one behind the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from firststory.alerts.gate import Judgement
from firststory.alerts.keeper import Decision
from firststory.alerts.memory import Remembered
from firststory.arrays import Array
from firststory.pipeline.fingerprints import TextFingerprints
from firststory.pipeline.in_progress import InProgress
from firststory.pipeline.judged_batch import JudgedBatch, ReadBatch
from firststory.pipeline.placed_batch import PlacedBatch
from firststory.pipeline.surfaces_of_batch import SurfacesOfBatch
from firststory.records import Batch, Document, Story, Storyline
from firststory.stories.tracker import Assignment
from firststory.text.phrases.records import Phrase
from firststory.text.records import Token

Message = tuple[Any, ...]
RAGGED = ("weights", "counts", "title_columns", "neighbours")
"""Arrays that documents with words have, besides their columns."""
_NO_FINGERPRINTS = TextFingerprints(0, 0, is_known_without_title=False)
_NOT_TOLD = Decision(is_novel=False, needed_p_value=0.0, why=("",))


def _values_of(record: type) -> Callable[[Any], Message]:
    """The values of a record, as it is made of them."""
    return attrgetter(*(one.name for one in fields(record)))


_of_document, _of_story, _of_storyline = map(_values_of, (Document, Story, Storyline))


def packed_judged(judged: JudgedBatch) -> Message:
    """What placing needs to know of a batch: not what its novelty was made of, nor who came closest."""
    documents = [(_of_document(one.document), one.seconds, one.duplicate_of) for one in judged.documents]
    read = None if judged.read is None else _packed_read(judged, judged.read)
    return judged.batch.index, documents, judged.now, judged.forgets_vectors, read


def unpacked_judged(message: Message) -> JudgedBatch:
    """Undo `packed_judged`."""
    index, sent, now, forgets_vectors, found = message
    documents = [
        InProgress(Document(*document), seconds, _NO_FINGERPRINTS, duplicate_of)
        for document, seconds, duplicate_of in sent
    ]
    read, look_up = (None, _nothing) if found is None else _unpacked_read(found, documents)
    return JudgedBatch(
        batch=Batch(index, ()),
        fresh=(),
        documents=documents,
        read=read,
        unit=None,
        surfaces=SurfacesOfBatch(look_up),
        counts={},
        recent_scores=(),
        now=now,
        forgets_vectors=forgets_vectors,
        wants_room=False,
    )


def _packed_read(judged: JudgedBatch, read: ReadBatch) -> Message:
    places = {id(one): n for n, one in enumerate(judged.documents)}
    originals = [places[id(one)] for one in read.originals]
    remembered = [one.remembered or _NOT_REMEMBERED for one in read.documents]
    values = [
        (places[id(one)], one.place, one.ordinal, one.is_novel, kept.title, one.vector is not None)
        for one, kept in zip(read.documents, remembered, strict=True)
    ]
    tokens = [[(token.surface, token.column) for token in one.tokens] for one in read.documents if one.is_novel]
    ragged = [_joined([one.columns for one in remembered])]
    ragged += [_joined([getattr(one, name) for one in read.documents]) for name in RAGGED]
    vectors = [one.vector for one in read.documents if one.vector is not None]
    surfaces = judged.surfaces.looked_up()
    return originals, list(read.languages), values, tokens, ragged, np.stack(vectors) if vectors else None, surfaces


def _unpacked_read(message: Message, documents: Sequence[InProgress]) -> tuple[ReadBatch, Callable[[], Any]]:
    originals, languages, values, of_novel, ragged, stacked, surfaces = message
    vectors, tokens = iter(() if stacked is None else stacked), iter(of_novel)
    with_words = []
    for (n, place, ordinal, is_novel, title, has_vector), columns, *arrays in zip(
        values, *map(_parted, ragged), strict=True
    ):
        one = documents[n]
        one.place, one.ordinal = place, ordinal
        one.judgement = Judgement(is_novel, 0.0, None, _NOT_TOLD)
        one.remembered = Remembered(one.document.id, title, one.document.time, columns)
        one.weights, one.counts, one.title_columns, one.neighbours = arrays
        if is_novel:
            one.tokens = [Token(surface, -1, -1, "", column) for surface, column in next(tokens)]
        if has_vector:
            one.vector = next(vectors)
        with_words.append(one)
    return ReadBatch(with_words, [documents[n] for n in originals], languages), lambda: surfaces


def packed_placed(judged: JudgedBatch, placed: PlacedBatch) -> Message:
    """What placing found out."""
    stories = [one.assignment and tuple(one.assignment) for one in judged.documents]
    phrases = [[(tuple(phrase), weight) for phrase, weight in one.phrases] for one in _novel(judged)]
    changed = [_of_story(one) for one in placed.stories], [_of_storyline(one) for one in placed.storylines]
    return stories, phrases, changed, tuple(placed._replace(stories=(), storylines=()))


def unpacked_placed(message: Message, judged: JudgedBatch) -> PlacedBatch:
    """Undo `packed_placed`, and fill it in of the documents that were sent to be placed."""
    assignments, phrases, (stories, storylines), others = message
    for one, assigned in zip(judged.documents, assignments, strict=True):
        one.assignment = None if assigned is None else Assignment(*assigned)
    for one, chosen in zip(_novel(judged), phrases, strict=True):
        one.phrases = [(Phrase(*phrase), weight) for phrase, weight in chosen]
    return PlacedBatch(*others)._replace(
        stories=tuple([Story(*one) for one in stories]), storylines=tuple([Storyline(*one) for one in storylines])
    )


def _novel(judged: JudgedBatch) -> Iterable[InProgress]:
    return [one for one in judged.documents if one.is_novel]


_NOT_REMEMBERED = Remembered("", "", None, np.empty(0, dtype=np.int32))


def _nothing() -> Any:
    raise LookupError("no document of this batch has words")


def _joined(arrays: Sequence[Array]) -> tuple[Array, Array]:
    """Arrays one behind the other, and where each ends."""
    if not arrays:
        return np.empty(0), np.empty(0, np.int64)
    return np.concatenate(arrays), np.cumsum([len(one) for one in arrays])


def _parted(joined: tuple[Array, Array]) -> Iterator[Array]:
    """Undo `_joined`."""
    values, ends = joined
    return (values[begin:end] for begin, end in pairwise([0, *ends.tolist()]))

"""Judging the documents of a step by the past: novelty, decision, neighbours.

Scoring and learning share their work, so the vectorizer learns in `read_batch`, detector and gate in `judge`;
what later steps need to name these documents is kept in `remember`. Nothing else learns here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats, Ints
from firststory.pipeline.duplicates import NEAR_COSINE
from firststory.pipeline.fingerprints import full_text
from firststory.pipeline.in_progress import InProgress
from firststory.pipeline.judged_batch import ReadBatch, Rows
from firststory.pipeline.parts import Parts
from firststory.pipeline.protocols import Detector
from firststory.pipeline.rows import unit_rows
from firststory.pipeline.titles import title_columns
from firststory.pipeline.vectors import vectors_for
from firststory.pipeline.verdicts import N_SHOWN

LastParts = Callable[[], tuple[Floats, ...]]
"""`ScoresInParts.last_parts`. Detectors are asked by name: `isinstance` of a protocol takes long."""


def read_batch(parts: Parts, documents: Sequence[InProgress]) -> tuple[ReadBatch, Rows]:
    """The documents that have words, and their rows; the vectorizer learns all of them."""
    weights, counts = parts.vectorizer.partial_fit_with_counts([full_text(one.document) for one in documents])
    places = np.flatnonzero(np.diff(weights.indptr) > 0)
    if len(places) < len(documents):
        weights, counts = weights[places], counts[places]
    with_words = [documents[place] for place in places.tolist()]
    for one, place in zip(with_words, places.tolist(), strict=True):
        one.place = place
    unit = unit_rows(counts, parts.vectorizer)
    return ReadBatch(with_words, documents, parts.vectorizer.last_languages), Rows(weights, unit, counts)


def judge(parts: Parts, documents: Sequence[InProgress], read: Rows) -> None:
    """Fill in novelty, decision and neighbours of each document, and what its score is made of."""
    rows, unit = read.weights, read.unit
    times = _times(documents)
    unexplained = _unexplained(parts.detector, rows)
    scores, score_parts = _scores(parts, rows, times, documents)
    ordinals, cosines = _neighbours(parts, unit, times)
    moments = [None] * len(documents) if times is None else times.tolist()
    judgements = parts.gate.judge(scores, moments, [one.document.id for one in documents])
    found = zip(documents, judgements, scores.tolist(), ordinals, cosines.tolist(), strict=True)
    for i, (one, judgement, novelty, neighbours, similarities) in enumerate(found):
        one.novelty, one.judgement = novelty, judgement
        one.neighbours, one.similarities = neighbours, similarities
        if judgement.is_novel:
            one.score_parts = tuple(float(part[i]) for part in score_parts)
            one.unexplained = _unexplained_parts(rows, unexplained, i)


def remember(parts: Parts, batch: ReadBatch, rows: Rows) -> None:
    """Keep what later documents need to name these, and name the nearest earlier ones of each.

    One after the other: earlier documents of the same batch may be among the nearest.
    """
    bounds = rows.unit.indptr.tolist()
    documents, places = [one.document for one in batch.documents], [one.place for one in batch.documents]
    titles = title_columns(parts.vectorizer, documents, places, len(batch.originals))
    n_documents = parts.vectorizer.n_documents_
    for one, begin, end, title in zip(batch.documents, bounds, bounds[1:], titles, strict=False):
        one.title_columns = title
        one.ordinal = parts.memory.seen
        one.remembered = parts.memory.add(one.document, rows.unit.indices[begin:end])
        _fill_row(parts, one, rows.unit.data[begin:end], rows.counts.data[begin:end], n_documents)
        ordinals, cosines = one.neighbours.tolist(), one.similarities
        # People see three; where more are all but copies, one of them may be the original.
        shown = len(ordinals) if cosines[N_SHOWN - 1 : N_SHOWN] >= [NEAR_COSINE] else N_SHOWN
        one.nearest = parts.memory.recall(zip(ordinals[:shown], cosines[:shown], strict=True))
        if one.is_novel:
            parts.feedback.remember_alert(one.document.id, one.novelty, one.score_parts)


def _fill_row(parts: Parts, one: InProgress, weights: Floats, counts: Floats, n_documents: int) -> None:
    """Its weights and counts, without what its source writes under everything."""
    assert one.remembered is not None
    source, columns = one.document.source, one.remembered.columns
    one.weights, one.counts = parts.boilerplate.strip(source, columns, weights), counts
    if one.weights is not weights:
        one.counts = np.where(one.weights > 0.0, counts, 0.0)
    parts.boilerplate.learn(source, columns, parts.vectorizer.frequency_of, n_documents)


def _times(documents: Sequence[InProgress]) -> Floats | None:
    seconds = [one.seconds for one in documents if one.seconds is not None]
    return np.array(seconds) if seconds else None


def _scores(
    parts: Parts, rows: sp.csr_matrix, times: Floats | None, documents: Sequence[InProgress]
) -> tuple[Floats, tuple[Floats, ...]]:
    """The novelty of each row, weighed as people's feedback has it, and the similarities that it was made of."""
    compared = vectors_for(parts, documents)
    scores = parts.detector.score_then_learn(rows, times=times, **compared)
    if "vectors" in compared:
        for one, vector, is_there in zip(documents, compared["vectors"], compared["vectors"].any(axis=1), strict=True):
            one.vector = vector if is_there else None
    last_parts: LastParts | None = getattr(parts.detector, "last_parts", None)
    score_parts = () if last_parts is None else last_parts()
    return parts.feedback.weigh(scores, score_parts), score_parts


def _neighbours(parts: Parts, unit: sp.csr_matrix, times: Floats | None) -> tuple[Ints, Floats]:
    """For each row the ordinals of the nearest earlier ones, nearest first, -1 for none; and their cosines."""
    index: Any = parts.detector
    if parts.neighbour_index is not None:
        index = parts.neighbour_index
        index.score_then_learn(unit, times=times)
    ordinals, cosines = index.last_neighbours()
    return np.where(cosines > 0.0, ordinals, -1), cosines


def _unexplained(detector: Detector, rows: sp.csr_matrix) -> sp.csr_matrix | None:
    """What the dictionary of the past leaves unexplained of each row, where the detector is a dictionary."""
    explain: Callable[[sp.csr_matrix], sp.csr_matrix] | None = getattr(detector, "explain", None)
    return None if explain is None or not hasattr(detector, "n_features_in_") else explain(rows)


def _unexplained_parts(rows: sp.csr_matrix, unexplained: sp.csr_matrix | None, i: int) -> Mapping[int, float] | None:
    """Of row i, the part of each term that is left unexplained."""
    if unexplained is None:
        return None
    left = unexplained[i]
    whole = dict(zip(rows[i].indices.tolist(), rows[i].data.tolist(), strict=True))
    pairs = zip(left.indices.tolist(), left.data.tolist(), strict=True)
    return {column: value / whole[column] for column, value in pairs if whole.get(column, 0.0) > 0.0}

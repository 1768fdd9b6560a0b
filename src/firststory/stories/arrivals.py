"""The rows of documents that look for their story, as the kernels want them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from firststory.arrays import Array, Columns, Floats, Ints, Singles
from firststory.kernels.alerts.rows import in_titles
from firststory.kernels.stories.sparse_sums import in_order
from firststory.stories.candidate import StoryCandidate

MAX_TERMS = 600
"""The heaviest terms of a text that are kept: bounds the memory that a text of any length takes."""


class Rows(NamedTuple):
    """Sparse rows one behind the other, columns in order: the weights in the text and in the title, and the counts."""

    indptr: Ints
    columns: Columns
    weights: Singles
    title_weights: Singles
    counts: Floats


def rows_of(candidates: Sequence[StoryCandidate]) -> Rows:
    """The rows of documents. A title weighs its terms by their rarity alone, and has unit length."""
    sizes, columns, weights, counts = _joined([_whole(candidate) for candidate in candidates])
    if not weights.all():
        kept = weights != 0.0
        sizes = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[kept], minlength=len(sizes))
        columns, weights, counts = columns[kept], weights[kept], counts[kept]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    if sizes.max(initial=0) > MAX_TERMS or not _ascend(columns, indptr):
        spans = [slice(a, b) for a, b in pairwise(indptr.tolist())]
        sizes, columns, weights, counts = _joined([_in_order(columns[a], weights[a], counts[a]) for a in spans])
        indptr = np.concatenate([[0], np.cumsum(sizes)])
    titles = [candidate.title_columns for candidate in candidates]
    title_weights = np.zeros(len(columns))
    if any(len(title) for title in titles):
        row = np.repeat(np.arange(len(candidates)), sizes)
        title_indptr = np.concatenate([[0], np.cumsum([len(title) for title in titles])])
        title_columns = np.concatenate(titles).astype(np.int64)
        in_title = in_titles(indptr, columns.astype(np.int64), title_indptr, title_columns)
        rarity = weights[in_title] / (1.0 + np.log(np.maximum(counts[in_title], 1.0)))
        lengths = np.sqrt(np.bincount(row[in_title], rarity * rarity, minlength=len(candidates)))
        title_weights[in_title] = rarity / np.maximum(lengths, 1e-12)[row[in_title]]
    return Rows(indptr, columns, weights.astype(np.float32), title_weights.astype(np.float32), counts)


def vectors_of(candidates: Sequence[StoryCandidate]) -> Singles:
    """The vectors of documents, one per row; zeros for those that have none."""
    found = [(i, one.vector) for i, one in enumerate(candidates) if one.vector is not None]
    vectors = np.zeros((len(candidates), len(found[0][1]) if found else 0), dtype=np.float32)
    for i, vector in found:
        vectors[i] = vector
    return vectors


def _whole(candidate: StoryCandidate) -> tuple[Array, Array, Floats]:
    """Columns, weights and counts as they come."""
    counts = candidate.counts if len(candidate.counts) else np.ones(len(candidate.columns))
    return candidate.columns, candidate.weights, counts


def _joined(rows: Sequence[tuple[Array, Array, Floats]]) -> tuple[Ints, Columns, Floats, Floats]:
    """The sizes of rows, and the columns, weights and counts of all of them."""
    columns, weights, counts = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    sizes = np.array([len(row[0]) for row in rows], dtype=np.int64)
    return sizes, columns.astype(np.int32, copy=False), weights.astype(np.float64, copy=False), counts


def _ascend(columns: Columns, indptr: Ints) -> bool:
    """Whether the columns of every row ascend."""
    ascends = columns[1:] > columns[:-1]
    ascends[indptr[(indptr > 0) & (indptr < len(columns))] - 1] = True  # from one row to the next
    return bool(ascends.all())


def _in_order(columns: Columns, weights: Floats, counts: Floats) -> tuple[Columns, Floats, Floats]:
    """Columns in order with weights and counts; of very long texts the heaviest terms."""
    kept: Array
    if len(columns) > MAX_TERMS:
        kept = np.argsort(-weights, kind="stable")[:MAX_TERMS]
        kept = kept[np.argsort(columns[kept], kind="stable")]
    elif not in_order(columns):
        kept = np.argsort(columns, kind="stable")
    else:
        return columns, weights, counts
    return columns[kept], weights[kept], counts[kept]

"""The rows of documents that look for their story, as the kernels want them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from firststory.arrays import Array, Columns, Floats, Ints, Singles
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
    prepared = [_in_order(candidate) for candidate in candidates]
    sizes = np.array([len(columns) for columns, _, _ in prepared], dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.concatenate([columns for columns, _, _ in prepared])
    weights = np.concatenate([weights for _, weights, _ in prepared])
    counts = np.concatenate([counts for _, _, counts in prepared])
    titles = [candidate.title_columns for candidate in candidates]
    title_weights = np.zeros(len(columns))
    if any(len(title) for title in titles):
        row = np.repeat(np.arange(len(candidates)), sizes)
        places = np.repeat(np.arange(len(candidates)), [len(title) for title in titles])
        named = (places << 32) | np.concatenate(titles).astype(np.int64)
        in_title = np.isin((row << 32) | columns, named)
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


def _in_order(candidate: StoryCandidate) -> tuple[Columns, Floats, Floats]:
    """Columns in order with weights and counts, without those of weight 0; of very long texts the heaviest terms."""
    columns = np.ascontiguousarray(candidate.columns, dtype=np.int32)
    weights = np.ascontiguousarray(candidate.weights, dtype=np.float64)
    counts = candidate.counts if len(candidate.counts) else np.ones(len(columns))
    kept: Array
    if not weights.all():
        kept = np.flatnonzero(weights)
        columns, weights, counts = columns[kept], weights[kept], counts[kept]
    if len(columns) > MAX_TERMS:
        kept = np.argsort(-weights, kind="stable")[:MAX_TERMS]
        kept = kept[np.argsort(columns[kept], kind="stable")]
    elif not in_order(columns):
        kept = np.argsort(columns, kind="stable")
    else:
        return columns, weights, counts
    return columns[kept], weights[kept], counts[kept]

"""Rows one after the other: judged alone, or judged and learnt with their clusters."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats, Ints
from firststory.kernels.fused.cluster_sums import add_row, take_row
from firststory.kernels.fused.layout import Clusters, Lists, Log, Rows, Scratch
from firststory.kernels.fused.nearest import look
from firststory.kernels.fused.norms import due, share_of
from firststory.kernels.fused.tally import FREE, IN_USE, OPENED
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.postings import room_needed
from firststory.kernels.neighbours.walk import ask_for_ends
from firststory.kernels.neighbours.window import NEXT, OLDEST, evict, has_room, remember


@kernel
def judge_fused(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    days: Floats,
    ticks: Floats,
    budget: int,
    fresh: float,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    lists: Lists,
    log: Log,
    rows: Rows,
    idf2: Floats,
    common: NDArray[np.bool_],
    held: Lists,
    clusters: Clusters,
    scratch: Scratch,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
    neighbour: Floats,
    centroid: Floats,
) -> None:
    """NN and CEN of each row by itself; nothing is learnt."""
    for i in range(len(indptr) - 1):
        row = slice(indptr[i], indptr[i + 1])
        neighbour[i], centroid[i], _, _, _ = look(
            indices[row], data[row], days[i], ticks[i], budget, fresh, knobs, meta, tally, lists, log, rows, idf2,
            common, held, clusters, scratch, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip


@kernel
def join(c: int, cosine: float, clusters: Clusters) -> None:
    """One member more, of this cosine to the cluster as it was."""
    clusters.square[c] += 1.0 + 2.0 * cosine * math.sqrt(clusters.square[c])
    clusters.scale[c] = 1.0 / math.sqrt(clusters.square[c])
    clusters.size[c] += 1


@kernel
def leave(c: int, tally: Ints, clusters: Clusters) -> None:
    """One member less: |S|^2 = m + m(m-1) c for a mean cosine c between members, which the leaver does not change."""
    m = clusters.size[c]
    if m == 1:
        clusters.free[tally[FREE]] = c
        tally[FREE] += 1
    else:
        mean = max(0.0, clusters.square[c] - m) / (m * (m - 1.0))
        clusters.square[c] = m - 1.0 + (m - 1.0) * (m - 2.0) * mean
        clusters.scale[c] = 1.0 / math.sqrt(clusters.square[c])
    clusters.size[c] = m - 1


@kernel
def open_cluster(tally: Ints, clusters: Clusters) -> int:
    """A cluster of one row in a free slot; labels are never used twice."""
    tally[FREE] -= 1
    c = clusters.free[tally[FREE]]
    clusters.square[c], clusters.scale[c], clusters.size[c], clusters.label[c] = 1.0, 1.0, 1, tally[OPENED]
    tally[OPENED] += 1
    tally[IN_USE] = max(tally[IN_USE], c + 1)
    return int(c)


@kernel
def forget_oldest(meta: Ints, tally: Ints, lists: Lists, log: Log, rows: Rows, held: Lists, clusters: Clusters) -> None:
    """Take the oldest row out of its cluster and of the lists."""
    slot = meta[OLDEST] % len(rows.born)
    own = slice(log.start[slot], log.start[slot] + log.length[slot])
    take_row(log.terms[own], log.weights[own], rows.inverse[slot], rows.cluster[slot], held)
    leave(rows.cluster[slot], tally, clusters)
    evict(meta, lists, log)


@kernel
def follow_fused(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    days: Floats,
    ticks: Floats,
    first: int,
    window: int,
    max_age: float,
    budget: int,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    lists: Lists,
    log: Log,
    rows: Rows,
    idf2: Floats,
    common: NDArray[np.bool_],
    held: Lists,
    held_used: Ints,
    clusters: Clusters,
    scratch: Scratch,
    scores: Floats,
    cosines: Floats,
    ordinals: Ints,
    neighbour: Floats,
    centroid: Floats,
    labels: Ints,
    joined: Floats,
    joined_size: Ints,
) -> int:
    """Judge rows `first ..` and learn each before the next is judged.

    Returns the first row not done: the number of rows, or where room ran out, or after which a refresh is due.
    """
    capacity = len(rows.born)
    for i in range(first, len(indptr) - 1):
        row = slice(indptr[i], indptr[i + 1])
        terms, values = indices[row], data[row]
        if not has_room(terms, window, meta, lists, log):
            return i
        if held_used[0] + room_needed(terms, held) > len(held.members):
            return i
        neighbour[i], centroid[i], norm, c, cosine = look(
            terms, values, days[i], ticks[i], budget, 0.0, knobs, meta, tally, lists, log, rows, idf2, common, held,
            clusters, scratch, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip
        opened = c < 0
        if not opened:
            # Before anyone leaves: the cosine was taken with all of the members.
            joined[i], joined_size[i] = cosine, clusters.size[c]
            join(c, cosine, clusters)
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= window or days[i] - rows.born[meta[OLDEST] % capacity] > max_age
        ):
            forget_oldest(meta, tally, lists, log, rows, held, clusters)
        if opened:
            c = open_cluster(tally, clusters)
        ask_for_ends(terms, lists.start, lists.length, lists.members, lists.weights)
        ask_for_ends(terms, held.start, held.length, held.members, held.weights)
        slot = remember(terms, values, meta, lists, log)
        inverse = 1.0 / norm
        rows.born[slot], rows.inverse[slot], rows.cluster[slot], rows.scale[slot] = days[i], inverse, c, inverse
        rows.share[slot] = share_of(slot, inverse, log, idf2, common)
        add_row(terms, values, inverse, c, held, held_used)
        clusters.day[c], clusters.tick[c], labels[i] = days[i], ticks[i], clusters.label[c]
        if due(meta, tally, knobs):
            return i + 1
    return len(indptr) - 1

"""Rows one after the other: judged alone, or judged and learnt with their clusters."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.fused_lanes import BORN, CLUSTER, DOT, INVERSE, SQUARE
from firststory.kernels.fused_look import look
from firststory.kernels.fused_norms import BLOCK, STALE
from firststory.kernels.fused_tally import FREE, FRESH_AT, OPENED
from firststory.kernels.jit import kernel
from firststory.kernels.window import NEXT, OLDEST, evict, has_room, remember

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Slots = NDArray[np.int32]


@kernel
def judge_fused(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    days: Floats,
    ticks: Floats,
    k: int,
    budget: int,
    fresh: float,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    members: Slots,
    weights: Floats,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    idf2: Floats,
    lanes: Floats,
    common: Slots,
    common_begin: Ints,
    holders: Slots,
    held: Floats,
    summed: Slots,
    portion: Floats,
    c_lanes: Floats,
    c_day: Floats,
    c_tick: Floats,
    c_label: Ints,
    gathered: Floats,
    touched: Ints,
    clusters: Ints,
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
            indices[row], data[row], days[i], ticks[i], k, budget, fresh, knobs, meta, tally, start, length,
            members, weights, log_start, log_length, log_terms, log_weights, idf2, lanes,
            common, common_begin, holders, held, summed, portion, c_lanes, c_day, c_tick, c_label,
            gathered, touched, clusters, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip


@kernel
def leave_cluster(
    slot: int,
    tally: Ints,
    cluster: Slots,
    c_square: Floats,
    c_size: Ints,
    c_lanes: Floats,
    free: Slots,
    summed: Slots,
    place: Slots,
) -> None:
    """One member less: |S|^2 = m + m(m-1) c for a mean cosine c between members, which the leaver does not change."""
    k = cluster[slot]
    m = c_size[k]
    if m == 1:
        free[tally[FREE]] = k
        tally[FREE] += 1
        if place[k] >= 0:  # what was gathered of it is nobody's now: the slot may become another cluster
            summed[place[k]] = -1
            place[k] = -1
    else:
        mean = max(0.0, c_square[k] - m) / (m * (m - 1.0))
        c_square[k] = m - 1.0 + (m - 1.0) * (m - 2.0) * mean
        c_lanes[k, SQUARE] = c_square[k]
    c_size[k] = m - 1


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
    k: int,
    budget: int,
    knobs: Floats,
    meta: Ints,
    tally: Ints,
    start: Ints,
    length: Ints,
    room: Ints,
    members: Slots,
    weights: Floats,
    log_start: Ints,
    log_length: Ints,
    log_terms: Slots,
    log_weights: Floats,
    idf2: Floats,
    inverse: Floats,
    born: Floats,
    cluster: Slots,
    lanes: Floats,
    common: Slots,
    common_begin: Ints,
    holders: Slots,
    held: Floats,
    summed: Slots,
    portion: Floats,
    place: Slots,
    c_lanes: Floats,
    c_square: Floats,
    c_size: Ints,
    c_day: Floats,
    c_tick: Floats,
    c_label: Ints,
    free: Slots,
    gathered: Floats,
    touched: Ints,
    clusters: Ints,
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
    capacity = len(born)
    for i in range(first, len(indptr) - 1):
        row = slice(indptr[i], indptr[i + 1])
        terms, values = indices[row], data[row]
        if not has_room(terms, window, meta, length, room, members, log_start, log_terms):
            return i
        neighbour[i], centroid[i], norm, c, cosine = look(
            terms, values, days[i], ticks[i], k, budget, 0.0, knobs, meta, tally, start, length, members, weights,
            log_start, log_length, log_terms, log_weights, idf2, lanes,
            common, common_begin, holders, held, summed, portion, c_lanes, c_day, c_tick, c_label,
            gathered, touched, clusters, scores[i], cosines[i], ordinals[i],
        )  # fmt: skip
        joined[i], joined_size[i] = cosine if c >= 0 else 0.0, c_size[c] if c >= 0 else 0
        if c >= 0:
            # Before anyone leaves: the cosine was taken with all of the members.
            c_square[c] += 1.0 + 2.0 * cosine * math.sqrt(c_square[c])
            c_size[c] += 1
            c_lanes[c, SQUARE] = c_square[c]
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= window or days[i] - born[meta[OLDEST] % capacity] > max_age
        ):
            leave_cluster(meta[OLDEST] % capacity, tally, cluster, c_square, c_size, c_lanes, free, summed, place)
            evict(meta, start, length, room, log_start, log_length, log_terms)
        if c < 0:
            tally[FREE] -= 1
            c = free[tally[FREE]]
            c_square[c], c_size[c], c_label[c] = 1.0, 1, tally[OPENED]
            c_lanes[c, SQUARE] = 1.0
            tally[OPENED] += 1
        slot = remember(
            terms, values, meta, start, length, room, members, weights,
            log_start, log_length, log_terms, log_weights,
        )  # fmt: skip
        born[slot], inverse[slot], cluster[slot] = days[i], 1.0 / norm, c
        lanes[slot, DOT], lanes[slot, INVERSE], lanes[slot, BORN], lanes[slot, CLUSTER] = 0.0, 1.0 / norm, days[i], c
        c_day[c], c_tick[c], labels[i] = days[i], ticks[i], c_label[c]
        if meta[NEXT] - tally[FRESH_AT] >= max(BLOCK, (meta[NEXT] - meta[OLDEST]) // STALE):
            return i + 1
    return len(indptr) - 1

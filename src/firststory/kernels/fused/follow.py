"""Rows one after the other: judged alone, or judged and learnt with their clusters."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Floats, Ints, Slots
from firststory.kernels.fused.clock import (
    UNCAPPED_ROWS,
    advanced,
    largeness,
    learn_match,
    learnt_size,
    row_by_chance,
)
from firststory.kernels.fused.cluster_sums import add_row, remove_row
from firststory.kernels.fused.clusters import join_cluster, leave_cluster, open_cluster
from firststory.kernels.fused.layout import Batch, Clusters, Findings, Nearest, Past, Scratch, Tally
from firststory.kernels.fused.nearest import compare_row
from firststory.kernels.fused.norms import common_share, refresh_due
from firststory.kernels.fused.rows import NOT_WANTED
from firststory.kernels.fused.rule import Rule
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.layout import Lists, Log
from firststory.kernels.neighbours.postings import room_needed
from firststory.kernels.neighbours.walk import prefetch_ends
from firststory.kernels.neighbours.window import NEXT, OLDEST, evict, has_room, remember


@kernel
def judge_rows(
    batch: Batch, days: Floats, timed: bool, max_postings: int, rule: Rule, past: Past, scratch: Scratch,
    found: Findings,
) -> None:  # fmt: skip
    """What is found of each row by itself; nothing is learnt."""
    plain_cosine, plain_ordinal = np.full(1, NOT_WANTED), np.full(1, -1)
    count, pace = past.window.meta[NEXT], past.pace
    z, weight = largeness(pace.log_size[0], count, rule, 0.5 ** (1.0 / rule.half_life))
    for i in range(len(batch.indptr) - 1):
        row = slice(batch.indptr[i], batch.indptr[i + 1])
        found.days[i], tick = advanced(days[i], timed, count, rule.gap_cap, pace.day[0], pace.tick[0], pace.day_rows[0])
        nearest = Nearest(
            found.aged[i], found.cosines[i], found.ordinals[i], found.ages[i], found.strongest[i], plain_cosine,
            plain_ordinal,
        )  # fmt: skip
        _, found.centroid[i], _, _, _ = compare_row(
            batch.terms[row], batch.values[row], found.days[i], tick, max_postings, rule, pace.strength[0],
            pace.unit_days[0], past.idf2, past.unseen_idf2, past.window, past.cluster_lists, past.clusters,
            past.tally.in_use[0], scratch, nearest,
        )  # fmt: skip
        found.largeness[i], found.cluster_weights[i], found.strength[i] = z, weight, pace.strength[0]


@part_of_kernel
def forget_oldest(
    meta: Ints, tally: Tally, lists: Lists, log: Log, inverse: Floats, cluster: Slots, cluster_lists: Lists,
    clusters: Clusters,
) -> None:  # fmt: skip
    """Take the oldest row out of its cluster and of the lists."""
    slot = meta[OLDEST] % len(inverse)
    own = slice(log.start[slot], log.start[slot] + log.length[slot])
    remove_row(log.terms[own], log.weights[own], inverse[slot], cluster[slot], cluster_lists)
    leave_cluster(cluster[slot], tally, clusters)
    evict(meta, lists, log)


@kernel
def follow_rows(
    batch: Batch, days: Floats, timed: bool, first: int, window: int, max_age: float, max_postings: int, rule: Rule,
    past: Past, cluster_used: Ints, scratch: Scratch, found: Findings,
) -> tuple[int, bool]:  # fmt: skip
    """Judge rows `first ..` and learn each before the next is judged.

    Returns the first row not done (the number of rows, or where room ran out, or after which a refresh is due), and
    whether a refresh is due.
    """
    # Taken apart once: a call counts the references of all arrays that it is handed.
    window_rows, tally, pace, idf2, unseen_idf2, cluster_lists, clusters = past
    meta, lists, log, rows, common = window_rows
    born, inverse, cluster, scale, share = rows
    capacity = len(born)
    keep = 0.5 ** (1.0 / rule.half_life)
    plain_cosine, plain_ordinal = np.empty(1), np.empty(1, np.int64)
    for i in range(first, len(batch.indptr) - 1):
        row = slice(batch.indptr[i], batch.indptr[i + 1])
        terms, values = batch.terms[row], batch.values[row]
        if not has_room(terms, window, meta, lists, log):
            return i, False
        if cluster_used[0] + room_needed(terms, cluster_lists) > len(cluster_lists.members):
            return i, False
        day, tick = advanced(days[i], timed, meta[NEXT], rule.gap_cap, pace.day[0], pace.tick[0], pace.day_rows[0])
        pace.day[0], pace.tick[0] = day, tick
        found.days[i], found.strength[i] = day, pace.strength[0]
        found.largeness[i], found.cluster_weights[i] = largeness(pace.log_size[0], meta[NEXT], rule, keep)
        plain_cosine[0], plain_ordinal[0] = (0.0 if meta[NEXT] >= UNCAPPED_ROWS else NOT_WANTED), -1
        nearest = Nearest(
            found.aged[i], found.cosines[i], found.ordinals[i], found.ages[i], found.strongest[i], plain_cosine,
            plain_ordinal,
        )  # fmt: skip
        norm, found.centroid[i], size, c, cosine = compare_row(
            terms, values, day, tick, max_postings, rule, pace.strength[0], pace.unit_days[0], idf2, unseen_idf2,
            window_rows, cluster_lists, clusters, tally.in_use[0], scratch, nearest,
        )  # fmt: skip
        pace.log_size[0] = learnt_size(pace.log_size[0], size, keep)
        if plain_ordinal[0] >= 0:
            alive = meta[NEXT] - meta[OLDEST]
            any_row = meta[OLDEST] + row_by_chance(meta[NEXT], alive)
            learn_match(
                meta[NEXT] - plain_ordinal[0], alive, day - born[plain_ordinal[0] % capacity],
                day - born[any_row % capacity], timed, plain_cosine[0], rule, keep, pace,
            )  # fmt: skip
        opens = c < 0
        if not opens:
            # Before any row leaves: the cosine was taken with all of the members.
            found.joined_cosines[i], found.joined_sizes[i] = cosine, clusters.size[c]
            join_cluster(c, cosine, clusters)
        while meta[NEXT] > meta[OLDEST] and (
            meta[NEXT] - meta[OLDEST] >= window or day - born[meta[OLDEST] % capacity] > max_age
        ):
            forget_oldest(meta, tally, lists, log, inverse, cluster, cluster_lists, clusters)
        if opens:
            c = open_cluster(tally, clusters)
        prefetch_ends(terms, lists)
        prefetch_ends(terms, cluster_lists)
        slot = remember(terms, values, meta, lists, log)
        born[slot], inverse[slot], cluster[slot], scale[slot] = day, 1.0 / norm, c, 1.0 / norm
        share[slot] = common_share(terms, values, 1.0 / norm, idf2, common)
        add_row(terms, values, 1.0 / norm, c, cluster_lists, cluster_used)
        clusters.day[c], clusters.tick[c], found.labels[i] = day, tick, clusters.label[c]
        if refresh_due(meta, tally, rule):
            return i + 1, True
    return len(batch.indptr) - 1, False

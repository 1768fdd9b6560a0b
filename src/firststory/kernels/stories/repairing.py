"""At the end of a step: stories that turn out to be one are merged; a document that stood alone looks again."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Ints
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.stories.evidence import (
    Newcomer,
    days_between,
    dots_with_member,
    fill_with,
    longness,
    new_pairs,
    threshold_for,
    weigh,
    weights_of_long,
)
from firststory.kernels.stories.layout import Free, JoinRule, Learnt, Members, Stories
from firststory.kernels.stories.membership import add_up, release_member
from firststory.kernels.stories.row_table import RowTable, new_table

PRIOR_PAIRS = 4.0
"""Pairs that the stream's usual cosine within stories counts for, beside a story's own."""
MAX_COMPARED = 8
"""Latest members of the smaller story that are compared with those of the larger one."""
ALIKE, SECOND_LOOK = 0.0, 1.0
"""Why two stories were merged."""


@part_of_kernel
def likeness(table: RowTable, members: Members, stories: Stories, one: int, other: int, usual: float) -> float:
    """How alike members of two stories are on average, as a part of how alike they are within each."""
    few, many = (one, other) if stories.n_members[one] < stories.n_members[other] else (other, one)
    n = min(MAX_COMPARED, stories.n_members[few])
    total = 0.0
    for k in range(stories.n_members[few] - n, stories.n_members[few]):
        fill_with(table, members, stories.members[few, k])
        for j in range(stories.n_members[many]):
            total += dots_with_member(table, members, stories.members[many, j])[0]
    within = 1.0
    for slot in (one, other):
        within *= (stories.pair_sum[slot] + PRIOR_PAIRS * usual) / (stories.n_pairs[slot] + PRIOR_PAIRS)
    return float(total / (n * stories.n_members[many]) / math.sqrt(max(within, 1e-12)))


@kernel
def median_log_terms(stories: Stories, members: Members, slot: int) -> float:
    """The logarithm of the usual number of terms of a story's members."""
    n = stories.n_members[slot]
    values = np.empty(n)
    for k in range(n):
        values[k] = members.log_terms[stories.members[slot, k]]
    return float(np.median(values))


@part_of_kernel
def days_apart(stories: Stories, one: int, other: int, documents_per_day: float) -> float:
    """Days from the end of the earlier story to the beginning of the later; negative where they overlap."""
    there = days_between(
        stories.first[one], stories.first_ordinal[one], stories.last[other], stories.last_ordinal[other],
        documents_per_day,
    )  # fmt: skip
    back = days_between(
        stories.first[other], stories.first_ordinal[other], stories.last[one], stories.last_ordinal[one],
        documents_per_day,
    )  # fmt: skip
    return max(there, back)


@kernel
def merge_stories(stories: Stories, members: Members, large: int, small: int, table: RowTable, free: Free) -> None:
    """Give the members of one story to another, in the order of arrival; the oldest go where there are too many."""
    most = stories.members.shape[1]
    n, n_small = stories.n_members[large], stories.n_members[small]
    every = np.concatenate((stories.members[large, :n], stories.members[small, :n_small]))
    every = every[np.argsort(members.ordinal[every], kind="mergesort")]
    n_gone = max(0, len(every) - most)
    for k in range(n_gone):
        release_member(members, every[k], free)
    stories.n_members[large] = len(every) - n_gone
    stories.members[large, : len(every) - n_gone] = every[n_gone:]
    stories.n_members[small] = 0
    stories.size[large] += stories.size[small]
    stories.n_pairs[large] += stories.n_pairs[small]
    stories.pair_sum[large] += stories.pair_sum[small]
    stories.first[large] = np.fmin(stories.first[large], stories.first[small])
    stories.last[large] = np.fmax(stories.last[large], stories.last[small])
    stories.first_ordinal[large] = min(stories.first_ordinal[large], stories.first_ordinal[small])
    stories.last_ordinal[large] = max(stories.last_ordinal[large], stories.last_ordinal[small])
    add_up(stories, members, large, table)


@kernel
def repair(linked: Ints, stories: Stories, members: Members, free: Free, learnt: Learnt, rule: JoinRule) -> tuple:  # type: ignore[type-arg]
    """Look again at pairs of linked stories, given by their slots, one pair per row.

    Returns which slot was merged into which, one pair per row, and why: the reason and the number behind it.
    """
    n = len(linked)
    merged, why = np.empty((n, 2), np.int64), np.empty((n, 2))
    into = np.full(len(stories.key), -1)
    longest = 0
    for m in range(len(members.length)):
        longest = max(longest, members.length[m])
    table, pairs = new_table(longest), new_pairs(stories.members.shape[1])
    long = weights_of_long(learnt, rule)
    usual = learnt.usual_cosine[0] / learnt.usual_cosine[1]
    n_merged = 0
    for k in range(n):
        one, other = linked[k, 0], linked[k, 1]
        while into[one] >= 0:
            one = into[one]
        while into[other] >= 0:
            other = into[other]
        if one == other or days_apart(stories, one, other, rule.documents_per_day) > rule.merge_days:
            continue
        if stories.key[one] > stories.key[other]:
            one, other = other, one
        # The larger one stays, of equals the older.
        large, small = (one, other) if stories.size[one] >= stories.size[other] else (other, one)
        reason, value = ALIKE, 0.0
        if stories.size[small] > 1:
            log_terms = min(median_log_terms(stories, members, one), median_log_terms(stories, members, other))
            value = likeness(table, members, stories, one, other, usual)
            least = rule.short_merge + (rule.merge - rule.short_merge) * longness(log_terms, rule)
            if value < least:
                continue
        elif stories.size[large] > 1:
            m = stories.members[small, 0]
            reason = SECOND_LOOK
            fill_with(table, members, m)
            newcomer = Newcomer(members.log_terms[m], members.time[m], members.ordinal[m], members.vector[m])
            odds, _ = weigh(table, newcomer, members, stories, large, long, rule, pairs)
            value = odds - threshold_for(newcomer.log_terms, learnt, rule)
            if value < 0.0:
                continue
        else:
            continue
        merge_stories(stories, members, large, small, table, free)
        into[small] = large
        merged[n_merged, 0], merged[n_merged, 1] = small, large
        why[n_merged, 0], why[n_merged, 1] = reason, value
        n_merged += 1
    return merged[:n_merged], why[:n_merged]

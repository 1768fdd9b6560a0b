"""Stories take members up and let the oldest go; what is known of their sum follows."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Columns, Floats, Ints, Singles
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.stories.evidence import dots_with_member, fill_with, row_of
from firststory.kernels.stories.layout import Free, Members, Stories
from firststory.kernels.stories.row_table import RowTable, fill, new_table, place_of, size_for
from firststory.kernels.stories.sparse_sums import heaviest


@part_of_kernel
def take_up(stories: Stories, members: Members, slot: int, m: int, cosine_sum: float, square: float) -> None:
    """A member joins a story that has room for it; `cosine_sum` is that with all members before."""
    stories.members[slot, stories.n_members[slot]] = m
    stories.n_members[slot] += 1
    stories.squared_norm[slot] += square + 2.0 * cosine_sum
    for d in range(members.vector.shape[1]):
        stories.vector_sum[slot, d] += members.vector[m, d]


@part_of_kernel
def let_go(stories: Stories, members: Members, slot: int, table: RowTable, free: Free) -> None:
    """The oldest member of a story goes; the table is overwritten."""
    gone = stories.members[slot, 0]
    n = stories.n_members[slot]
    fill_with(table, members, gone)
    total = 0.0
    for k in range(n):
        cosine, _ = dots_with_member(table, members, stories.members[slot, k])
        total += cosine if k == 0 else 2.0 * cosine
    stories.squared_norm[slot] -= total
    for d in range(members.vector.shape[1]):
        stories.vector_sum[slot, d] -= members.vector[gone, d]
    for k in range(n - 1):
        stories.members[slot, k] = stories.members[slot, k + 1]
    stories.n_members[slot] = n - 1
    release_member(members, gone, free)


@part_of_kernel
def release_member(members: Members, m: int, free: Free) -> None:
    """The number of a member can be used again; its row is dropped when the rows are next moved."""
    members.length[m] = 0
    free.members[free.counts[1]] = m
    free.counts[1] += 1


@kernel
def release_stories(members: Members, stories: Stories, free: Free, slots: Ints) -> None:
    """Forget stories, with their members."""
    for slot in slots:
        for k in range(stories.n_members[slot]):
            release_member(members, stories.members[slot, k], free)
        stories.n_members[slot] = 0
        free.slots[free.counts[0]] = slot
        free.counts[0] += 1


@part_of_kernel
def add_up(stories: Stories, members: Members, slot: int, table: RowTable) -> None:
    """The square of the sum of a story's rows and the sum of its vectors, computed again."""
    stories.squared_norm[slot] = 0.0
    stories.vector_sum[slot, :] = 0.0
    for k in range(stories.n_members[slot]):
        m = stories.members[slot, k]
        fill_with(table, members, m)
        total = 0.0
        for other in range(k + 1):
            cosine, _ = dots_with_member(table, members, stories.members[slot, other])
            total += cosine if other == k else 2.0 * cosine
        stories.squared_norm[slot] += total
        for d in range(members.vector.shape[1]):
            stories.vector_sum[slot, d] += members.vector[m, d]


@kernel
def move_rows(members: Members, columns: Columns, weights: Singles, title_weights: Singles) -> int:
    """Copy the rows of all members to the front of other buffers. Returns where the tail begins."""
    tail = 0
    for m in range(len(members.start)):
        at = members.start[m]
        for k in range(members.length[m]):
            columns[tail + k], weights[tail + k] = members.columns[at + k], members.weights[at + k]
            title_weights[tail + k] = members.title_weights[at + k]
        members.start[m] = tail
        tail += members.length[m]
    return tail


@kernel
def sum_of_rows(members: Members, stories: Stories, slot: int) -> tuple[Columns, Floats]:
    """The sum of the rows of a story's members: columns in the order in which they come, and their weights."""
    if stories.n_members[slot] == 1:
        columns, weights, _ = row_of(members, stories.members[slot, 0])
        return columns, weights.astype(np.float64)
    total = 0
    for k in range(stories.n_members[slot]):
        total += members.length[stories.members[slot, k]]
    columns, sums, n = np.empty(total, np.int32), np.empty(total), 0
    known, number = np.full(size_for(total), -1, np.int32), np.empty(size_for(total), np.int32)
    for k in range(stories.n_members[slot]):
        row, its, _ = row_of(members, stories.members[slot, k])
        for a in range(len(row)):
            place = place_of(int(row[a]), known)
            if known[place] < 0:
                known[place], number[place] = row[a], n
                columns[n], sums[n] = row[a], 0.0
                n += 1
            sums[number[place]] += its[a]
    return columns[:n], sums[:n]


@kernel
def heaviest_of(members: Members, stories: Stories, slots: Ints, n: int) -> Columns:
    """`heaviest` of the sums of some stories, one per row; -1 where a sum has fewer columns."""
    found = np.full((len(slots), n), -1, np.int32)
    for k, slot in enumerate(slots):
        columns, weights = sum_of_rows(members, stories, slot)
        top = heaviest(columns, weights, n)
        found[k, : len(top)] = top
    return found


@kernel
def centrality(members: Members, stories: Stories, slots: Ints) -> Floats:
    """How well the title of each member fits the others of its story: the mean cosine with their texts and titles.

    One row per story. The whole text takes the place of a title that there is not.
    """
    longest = 0
    for slot in slots:
        for k in range(stories.n_members[slot]):
            longest = max(longest, members.length[stories.members[slot, k]])
    table, fits = new_table(longest), np.zeros((len(slots), stories.members.shape[1]))
    for i, slot in enumerate(slots):
        n = stories.n_members[slot]
        for k in range(n):
            columns, weights, title_weights = row_of(members, stories.members[slot, k])
            fill(table, columns, title_weights if title_weights.max() > 0.0 else weights, title_weights)
            for other in range(n):
                if other != k:
                    text, title = dots_with_member(table, members, stories.members[slot, other])
                    fits[i, k] += (text + title) / (n - 1)
    return fits

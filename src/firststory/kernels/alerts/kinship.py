"""Links of a core to its story's earlier documents, and to the documents of other stories."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Flags, Floats, Ints, Slots
from firststory.kernels.alerts.evidence import MAX_MEMBERS, core_of, members_of
from firststory.kernels.alerts.layout import Facts, Links
from firststory.kernels.jit import kernel
from firststory.kernels.neighbours.layout import Log
from firststory.kernels.neighbours.window import OLDEST


@kernel
def mean_links(members: Ints, core: Ints, facts: Facts, links: Links, mark: Slots) -> Floats:
    """Each member's mean similarity to the core, 0 where there is no link; the core is part of the members."""
    capacity, oldest = len(facts.born), members[-1]
    total, inside = np.zeros(len(members)), np.zeros(len(members), np.bool_)
    for a in range(len(members)):
        mark[members[a] % capacity] = a + 1
    for j in core:
        inside[mark[j % capacity] - 1] = True
    for a in range(len(members)):
        slot = members[a] % capacity
        for p in range(facts.link_start[slot], facts.link_start[slot] + facts.link_count[slot]):
            b = mark[links.ordinals[p] % capacity] - 1
            if links.ordinals[p] >= oldest and b >= 0:
                if inside[b]:
                    total[a] += links.similarities[p]
                if inside[a]:
                    total[b] += links.similarities[p]
    for a in range(len(members)):
        mark[members[a] % capacity] = 0
        total[a] /= max(1, len(core) - (1 if inside[a] else 0))
    return total


@kernel
def kin_links(
    core: Ints,
    since: float,
    watch_seconds: float,
    strength: float,
    oldest: int,
    facts: Facts,
    links: Links,
    mark: Slots,
) -> tuple[Ints, Ints, Flags]:
    """Links of the core to documents outside of it that came since some moment.

    For each link the place in the core, the ordinal that it leads to, and whether that is from before the watch.

    Within the watch only links that are `strength` times as strong as the mean link within the core.
    """
    capacity = len(facts.born)
    total, n_inside, n_links = 0.0, 0, 0
    for j in core:
        mark[j % capacity] = 1
    for j in core:
        slot = j % capacity
        n_links += facts.link_count[slot]
        for p in range(facts.link_start[slot], facts.link_start[slot] + facts.link_count[slot]):
            if links.ordinals[p] >= oldest and mark[links.ordinals[p] % capacity]:
                total += links.similarities[p]
                n_inside += 1
    strong = strength * total / max(1, n_inside)
    places, targets, n = np.empty(n_links, np.int64), np.empty(n_links, np.int64), 0
    is_before = np.empty(n_links, np.bool_)
    for a in range(len(core)):
        slot = core[a] % capacity
        for p in range(facts.link_start[slot], facts.link_start[slot] + facts.link_count[slot]):
            target = links.ordinals[p]
            if target < oldest or mark[target % capacity] or facts.born[target % capacity] < since:
                continue
            is_old = facts.born[target % capacity] < facts.born[slot] - watch_seconds
            if is_old or links.similarities[p] >= strong:
                places[n], targets[n], is_before[n] = a, target, is_old
                n += 1
    for j in core:
        mark[j % capacity] = 0
    return places[:n], targets[:n], is_before[:n]


@kernel
def proof_of(
    ordinal: int,
    watch_seconds: float,
    told_seconds: float,
    most_told: int,
    kin_seconds: float,
    strength: float,
    meta: Ints,
    facts: Facts,
    links: Links,
    log: Log,
    mark: Slots,
) -> tuple[Ints, Ints, Ints, Flags, Ints, Floats]:
    """What an alert on a document rests on, at one call: handing over the arrays takes longer than looking at them.

    It is the core of the document's story, `kin_links` of the core, the story's members within `told_seconds`, and
    their `mean_links` to the core.
    """
    now = facts.born[ordinal % len(facts.born)]
    core = core_of(members_of(ordinal, now - watch_seconds, MAX_MEMBERS, meta, facts), facts, links, log, mark)
    places, targets, is_before = kin_links(
        core, now - kin_seconds, watch_seconds, strength, meta[OLDEST], facts, links, mark
    )
    members = members_of(ordinal, now - told_seconds, most_told, meta, facts)
    return core, places, targets, is_before, members, mean_links(members, core, facts, links, mark)

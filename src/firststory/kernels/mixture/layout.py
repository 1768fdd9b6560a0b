"""What the mixture's kernels take: rules, base measure, postings and clusters, each a tuple with named fields."""

from __future__ import annotations

from typing import NamedTuple

from firststory.arrays import Flags, Floats, Ints, Slots

CERTAIN_LOG_ODDS = 1e6
"""The log-odds of a document that no cluster was there to explain: finite, and above all others."""


class Rules(NamedTuple):
    """How documents are shared out and what is forgotten; 0 switches a limit off."""

    soft: bool = False
    full_mass: bool = False
    least_share: float = 1e-6
    temper: float = 1.0
    length_cap: float = 0.0
    decay: float = 0.0
    window: int = 0
    max_age: float = 0.0
    max_clusters: int = 0
    min_count: float = 0.0
    max_postings: int = 0
    """The most postings that a word may have."""


class Base(NamedTuple):
    """G0 and γ: λ, λπ_v per column, λπ of a column not seen yet, and γ_i as form, a, b, c (A11)."""

    precision: float
    prior: Floats
    unseen: float
    form: int = 1
    a: float = 0.0
    b: float = 1.0
    c: float = 0.0


class Postings(NamedTuple):
    """S, word by word. Word v has one contiguous block `start[v] .. start[v] + length[v]`, sorted by slot, which may
    grow to `room[v]` places; `largest[v]` bounds its counts. Each posting has the slot of its cluster, the count S_jv,
    and the cached gain log(1 + S_jv / λπ_v)."""

    start: Ints
    length: Ints
    room: Ints
    largest: Floats
    slot: Slots
    counts: Floats
    gain: Floats


class ClusterStats(NamedTuple):
    """What is known of each slot: n_j, N_j, time and ordinal of the latest member; log Γ(λ + N_j) and log n_j; whether
    it is alive, how many postings it owns; identity, the row that represents it and how central that row was."""

    mass: Floats
    tokens: Floats
    last: Floats
    recent: Ints
    log_gamma: Floats
    log_mass: Floats
    alive: Flags
    owned: Ints
    identity: Ints
    representative: Ints
    centrality: Floats


class Sight(NamedTuple):
    """The clusters as a document sees them when it comes: slots in use, common factor of decayed counts, and the time
    and ordinal before which a cluster without a member is out of sight."""

    n_slots: int
    scale: float
    oldest: float
    earliest: int


class Judged(NamedTuple):
    """For each row: log-odds of a new cluster; identity of the cluster joined or opened, -1 for an empty row; and
    log Σ_c P(c) p(x|c) relative to the base measure, the predictive likelihood that validation compares."""

    odds: Floats
    label: Ints
    evidence: Floats

"""The clusters of a Dirichlet-process mixture: flat arrays, the room they need, and their state.

All mathematics is in the kernels; this keeps the arrays big enough, packs them when retired clusters leave holes, and
writes a state that does not depend on how much room there happened to be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats, Ints
from firststory.kernels.mixture.learning import (
    DEAD,
    LIVE,
    NEED_PACK,
    NEED_PLACES,
    NEED_REBASE,
    NEED_SLOTS,
    NEXT,
    NOW,
    POSTINGS,
    REFERENCE,
    ROWS,
    SEEN,
    SHORT,
    SLOTS,
    USED,
    learn_documents,
)
from firststory.kernels.mixture.pool import (
    base_evidence,
    cluster_counts,
    pack_postings,
    refresh_clusters,
    refresh_gains,
)
from firststory.kernels.mixture.scoring import mixture_novelty

CERTAIN = 1e6
"""The log-odds of a document that no cluster was there to explain: finite, and above all others."""


@dataclass(frozen=True)
class Rules:
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


@dataclass(frozen=True)
class Base:
    """G0 and γ: λ, λπ_v per column, λπ of a column not seen yet, and γ_i as form, a, b, c (A11)."""

    precision: float
    prior: Floats
    unseen: float
    form: int = 1
    a: float = 0.0
    b: float = 1.0
    c: float = 0.0


class MixtureClusters:
    """S_j, N_j, n_j of all clusters, word-major."""

    def __init__(self, base: Base, rules: Rules) -> None:
        self.width = width = base.prior.shape[0]
        self.rules = rules
        self.start, self.length, self.room = (np.zeros(width, np.int64) for _ in range(3))
        self.largest, self.totals = np.zeros(width), np.zeros(width)
        self.slot, self.count, self.gain = np.zeros(1024, np.int32), np.zeros(1024), np.zeros(1024)
        self.mass, self.tokens, self.last, self.cached, self.log_mass, self.centrality = np.zeros((6, 16))
        self.owned, self.identity, self.representative, self.recent = np.zeros((4, 16), np.int64)
        self.alive = np.zeros(16, np.bool_)
        self.counter, self.clock = np.zeros(9, np.int64), np.zeros(2)
        self.base = base

    # -- the two verbs -------------------------------------------------------------------------------------

    def novelty(self, rows: sp.csr_matrix, times: Floats | None) -> tuple[Floats, Ints]:
        """Log-odds of a new cluster and identity of the best cluster (−1: a new one), each row by itself."""
        n = rows.shape[0]
        odds, best = np.empty(n), np.empty(n, np.int64)
        now = np.full(n, self.counter[SEEN] + 1.0) if times is None else np.maximum(times, self.clock[NOW])
        mixture_novelty(
            rows.indptr, rows.indices, rows.data, now, self.start, self.length, self.largest, self.base.prior,
            self.slot, self.count, self.gain, self.mass, self.tokens, self.last, self.recent, self.cached,
            self.log_mass, int(self.counter[SLOTS]), float(self.clock[REFERENCE]), self.rules.decay,
            self.rules.max_age, self.seen + 1 - self.rules.window if self.rules.window else 0,
            self.base.precision, self.rules.temper, self.rules.length_cap, self.concentration, CERTAIN, odds, best,
        )  # fmt: skip
        return odds, np.where(best >= 0, self.identity[best], -1)

    def learn(
        self,
        rows: sp.csr_matrix,
        times: Floats | None,
        begin: int,
        epoch: int,
        odds: Floats,
        label: Ints,
        evidence: Floats,
    ) -> int:
        """Score then learn rows from `begin` on, to the end or until `epoch` documents were seen; the next row."""
        self._widen(rows.shape[1])
        rules, base = self.rules, self._base
        clock = np.zeros(rows.shape[0]) if times is None else times
        row = begin
        while True:
            row, why = learn_documents(
                rows.indptr, rows.indices, rows.data, clock, times is not None, row, epoch,
                rules.soft, rules.full_mass, rules.least_share, self.start, self.length, self.room, self.largest,
                base.prior, self.totals, self.slot, self.count, self.gain, self.mass, self.tokens, self.last,
                self.recent, self.cached, self.log_mass, self.alive, self.owned, self.identity, self.representative,
                self.centrality, self.counter, self.clock, rules.decay, rules.window, rules.max_age,
                rules.max_clusters,
                rules.min_count, rules.max_postings, base.precision, rules.temper, rules.length_cap,
                base.form, base.a, base.b, base.c, CERTAIN, odds, label, evidence,
            )  # fmt: skip
            if why == NEED_PLACES:
                self._make_room(int(self.counter[SHORT]))
            elif why == NEED_SLOTS:
                self._make_slots()
            elif why == NEED_REBASE:
                self._rebase()
            elif why == NEED_PACK:
                self.pack()
            else:
                return int(row)

    # -- what is known -------------------------------------------------------------------------------------

    @property
    def base(self) -> Base:
        return self._base

    @base.setter
    def base(self, base: Base) -> None:
        """A new base measure: every cached logarithm is taken afresh."""
        self._base = base
        self._pad_prior()
        self._refresh()

    @property
    def concentration(self) -> float:
        """γ at the next document."""
        base, i = self.base, float(self.counter[SEEN] + 1)
        return base.a / (base.b + i) + base.c if base.form == 2 else base.a / i + base.b + base.c * i

    @property
    def n_clusters(self) -> int:
        return int(self.counter[LIVE])

    @property
    def seen(self) -> int:
        return int(self.counter[SEEN])

    @property
    def scale(self) -> float:
        """What stored counts are multiplied by at the latest time."""
        decay = self.rules.decay
        return float(np.exp(-(self.clock[NOW] - self.clock[REFERENCE]) / decay)) if decay else 1.0

    def slots(self) -> Ints:
        """The living slots, oldest cluster first."""
        return np.flatnonzero(self.alive[: self.counter[SLOTS]])

    def counts(self, j: int) -> Floats:
        """S_j of one slot, dense."""
        out = np.zeros(self.start.shape[0])
        cluster_counts(j, self.start, self.length, self.slot, self.count, out)
        return out[: self.width] * self.scale

    def base_evidence(self, rows: sp.csr_matrix) -> Floats:
        """Σ_v R(λπ_v, x_v) of each row."""
        out = np.empty(rows.shape[0])
        base_evidence(rows.indptr, rows.indices, rows.data, self.base.prior, out)
        return out

    # -- room ----------------------------------------------------------------------------------------------

    def _widen(self, width: int) -> None:
        if width <= self.width:
            return
        self.width, room = width, self.start.shape[0]
        if width > room:
            # Half as much again: a stream with new terms in every document must not copy all of them each time.
            more = max(width, room + room // 2) - room
            for name in ("start", "length", "room", "largest", "totals"):
                setattr(self, name, np.pad(getattr(self, name), (0, more)))
            self._pad_prior()

    def _pad_prior(self) -> None:
        """A term never met keeps the mass that was reserved for it; π is not renormalised."""
        more = self.start.shape[0] - self._base.prior.shape[0]
        if more > 0:
            prior = np.pad(self._base.prior, (0, more), constant_values=self._base.unseen)
            self._base = replace(self._base, prior=prior)

    def _make_room(self, need: int) -> None:
        if 2 * (int(self.counter[POSTINGS]) + need) <= self.slot.shape[0]:
            self._repack(np.arange(self.mass.shape[0]), 0.0)
        if self.counter[USED] + need > self.slot.shape[0]:
            more = max(need, self.slot.shape[0])
            for name in ("slot", "count", "gain"):
                setattr(self, name, np.pad(getattr(self, name), (0, more)))

    def _make_slots(self) -> None:
        for name in _CLUSTER_ARRAYS:
            array = getattr(self, name)
            setattr(self, name, np.pad(array, (0, array.shape[0])))

    def pack(self) -> None:
        """Drop retired clusters and postings under `min_count`; living clusters keep order and identity."""
        slots, moved = self.slots(), np.full(self.mass.shape[0], -1, np.int64)
        moved[slots] = np.arange(slots.shape[0])
        for name in _CLUSTER_ARRAYS:
            array = getattr(self, name)
            array[: slots.shape[0]] = array[slots]
            array[slots.shape[0] :] = 0
        self.counter[SLOTS], self.counter[DEAD] = slots.shape[0], 0
        self._repack(moved, self.rules.min_count / self.scale)

    def _repack(self, moved: Ints, least: float) -> None:
        slot, count = np.zeros_like(self.slot), np.zeros_like(self.count)
        used = pack_postings(
            self.start, self.length, self.largest, self.slot, self.count, moved, least, slot, count, self.owned
        )
        self.counter[USED] = self.counter[POSTINGS] = used
        self.slot, self.count, self.room = slot, count, self.length.copy()
        self._refresh()

    def _rebase(self) -> None:
        """Write decayed counts down, so that the common factor is one again."""
        scale = self.scale
        for array in (self.count, self.mass, self.tokens, self.largest):
            array *= scale
        self.clock[REFERENCE] = self.clock[NOW]
        self.pack()

    def _refresh(self) -> None:
        refresh_gains(self.start, self.length, self.count, self.gain, self._base.prior)
        refresh_clusters(
            int(self.counter[SLOTS]), self.mass, self.tokens, self._base.precision, self.cached, self.log_mass
        )

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Clusters, postings and base measure, without the room around them."""
        n, length, width = int(self.counter[SLOTS]), self.length, self.width
        inside = np.repeat(self.start - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
        state: dict[str, Any] = {"slot": self.slot[inside], "count": self.count[inside], "length": length[:width]}
        for name in _KEPT:
            state[name] = getattr(self, name)[:n]
        base = self._base
        state.update(totals=self.totals[:width], clock=self.clock, prior=base.prior[:width])
        state["seen"] = [int(self.counter[place]) for place in (NEXT, SEEN, ROWS)]
        state["base"] = [base.precision, base.unseen, base.form, base.a, base.b, base.c]
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`; the owner sets `rules`."""
        precision, unseen, form, a, b, c = state["base"]
        self = cls(Base(precision, state["prior"], unseen, int(form), a, b, c), Rules())
        n, used = state["mass"].shape[0], state["slot"].shape[0]
        self.length, self.room, self.totals = state["length"].copy(), state["length"].copy(), state["totals"].copy()
        self.start = np.cumsum(self.length) - self.length
        self.slot, self.count, self.gain = state["slot"].astype(np.int32), state["count"].copy(), np.zeros(used)
        for name in _CLUSTER_ARRAYS:
            array = np.zeros(max(n, 16), getattr(self, name).dtype)
            array[:n] = state.get(name, 0)
            setattr(self, name, array)
        self.counter[[NEXT, SEEN, ROWS]] = state["seen"]
        self.counter[[USED, SLOTS, LIVE, POSTINGS]] = used, n, int(self.alive.sum()), used
        self.counter[DEAD] = int((~self.alive[self.slot]).sum())
        self.clock = state["clock"].copy()
        self._repack(np.arange(self.mass.shape[0]), 0.0)
        return self


_KEPT = ("mass", "tokens", "last", "recent", "identity", "representative", "centrality", "alive")
_CLUSTER_ARRAYS = (*_KEPT, "cached", "log_mass", "owned")

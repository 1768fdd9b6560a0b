"""The clusters of a Dirichlet-process mixture: flat arrays, the room they need, and their state.

All mathematics is in the kernels; this keeps the arrays big enough, packs them when retired clusters leave holes, and
writes a state that does not depend on how much room there happened to be.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from firststory.arrays import Floats, Ints
from firststory.kernels.csr import csr_of
from firststory.kernels.mixture.layout import Base, ClusterStats, Judged, Postings, Rules
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
from firststory.kernels.mixture.scoring import concentration_at, mixture_novelty

_KEPT = ("mass", "tokens", "last", "recent", "identity", "representative", "centrality", "alive")
"""What the state holds of each cluster; the rest follows from it."""


class MixtureClusters:
    """S_j, N_j, n_j of all clusters, word-major."""

    def __init__(self, base: Base, rules: Rules) -> None:
        self.width = width = base.prior.shape[0]
        self.rules = rules
        self.postings = Postings(
            start=np.zeros(width, np.int64),
            length=np.zeros(width, np.int64),
            room=np.zeros(width, np.int64),
            largest=np.zeros(width),
            slot=np.zeros(1024, np.int32),
            counts=np.zeros(1024),
            gain=np.zeros(1024),
        )
        self.totals = np.zeros(width)
        self.stats = _empty_stats(16)
        self.counter, self.clock = np.zeros(9, np.int64), np.zeros(2)
        self.base = base

    # -- the two verbs -------------------------------------------------------------------------------------

    def novelty(self, rows: sp.csr_matrix, times: Floats | None) -> tuple[Floats, Ints]:
        """Log-odds of a new cluster and identity of the best cluster (−1: a new one), each row by itself."""
        n = rows.shape[0]
        odds, best = np.empty(n), np.empty(n, np.int64)
        now = np.full(n, self.seen + 1.0) if times is None else np.maximum(times, self.clock[NOW])
        mixture_novelty(
            csr_of(rows), now, self.seen, int(self.counter[SLOTS]), float(self.clock[REFERENCE]),
            self.rules, self.base, self.postings, self.stats, odds, best,
        )  # fmt: skip
        return odds, np.where(best >= 0, self.stats.identity[best], -1)

    def learn(self, rows: sp.csr_matrix, times: Floats | None, begin: int, epoch: int, judged: Judged) -> int:
        """Score then learn rows from `begin` on, to the end or until `epoch` documents were seen; the next row."""
        self._widen(rows.shape[1])
        clock = np.zeros(rows.shape[0]) if times is None else times
        csr, row = csr_of(rows), begin
        while True:
            row, why = learn_documents(
                csr, clock, times is not None, row, epoch, self.rules, self._base, self.postings, self.stats,
                self.totals, self.counter, self.clock, judged,
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
        return float(concentration_at(self.base, self.seen + 1.0))

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
        return np.flatnonzero(self.stats.alive[: self.counter[SLOTS]])

    def counts(self, j: int) -> Floats:
        """S_j of one slot, dense."""
        out = np.zeros(self.totals.shape[0])
        cluster_counts(j, self.postings, out)
        return out[: self.width] * self.scale

    def base_evidence(self, rows: sp.csr_matrix) -> Floats:
        """Σ_v R(λπ_v, x_v) of each row."""
        out = np.empty(rows.shape[0])
        base_evidence(csr_of(rows), self.base, out)
        return out

    # -- room ----------------------------------------------------------------------------------------------

    def _widen(self, width: int) -> None:
        if width <= self.width:
            return
        self.width, room = width, self.totals.shape[0]
        if width > room:
            # Half as much again: a stream with new terms in every document must not copy all of them each time.
            more = max(width, room + room // 2) - room
            words = {name: np.pad(getattr(self.postings, name), (0, more)) for name in _PER_WORD}
            self.postings = self.postings._replace(**words)
            self.totals = np.pad(self.totals, (0, more))
            self._pad_prior()

    def _pad_prior(self) -> None:
        """A term never met keeps the mass that was reserved for it; π is not renormalised."""
        more = self.totals.shape[0] - self._base.prior.shape[0]
        if more > 0:
            self._base = self._base._replace(
                prior=np.pad(self._base.prior, (0, more), constant_values=self._base.unseen)
            )

    def _make_room(self, need: int) -> None:
        places = self.postings.slot.shape[0]
        if 2 * (int(self.counter[POSTINGS]) + need) <= places:
            self._repack(np.arange(self.stats.mass.shape[0]), 0.0)
        if self.counter[USED] + need > places:
            wider = {name: np.pad(getattr(self.postings, name), (0, max(need, places))) for name in _PER_POSTING}
            self.postings = self.postings._replace(**wider)

    def _make_slots(self) -> None:
        wider: list[Any] = [np.pad(array, (0, array.shape[0])) for array in self.stats]
        self.stats = ClusterStats(*wider)

    def pack(self) -> None:
        """Drop retired clusters and postings under `min_count`; living clusters keep order and identity."""
        slots, moved = self.slots(), np.full(self.stats.mass.shape[0], -1, np.int64)
        moved[slots] = np.arange(slots.shape[0])
        for array in self.stats:
            array[: slots.shape[0]] = array[slots]
            array[slots.shape[0] :] = 0
        self.counter[SLOTS], self.counter[DEAD] = slots.shape[0], 0
        self._repack(moved, self.rules.min_count / self.scale)

    def _repack(self, moved: Ints, least: float) -> None:
        slot, count = np.zeros_like(self.postings.slot), np.zeros_like(self.postings.counts)
        used = pack_postings(self.postings, moved, least, slot, count, self.stats.owned)
        self.counter[USED] = self.counter[POSTINGS] = used
        self.postings = self.postings._replace(slot=slot, counts=count, room=self.postings.length.copy())
        self._refresh()

    def _rebase(self) -> None:
        """Write decayed counts down, so that the common factor is one again."""
        scale = self.scale
        for array in (self.postings.counts, self.stats.mass, self.stats.tokens, self.postings.largest):
            array *= scale
        self.clock[REFERENCE] = self.clock[NOW]
        self.pack()

    def _refresh(self) -> None:
        refresh_gains(self.postings, self._base.prior)
        refresh_clusters(int(self.counter[SLOTS]), self.stats, self._base.precision)

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Clusters, postings and base measure, without the room around them."""
        n, width, base = int(self.counter[SLOTS]), self.width, self._base
        start, length = self.postings.start, self.postings.length
        inside = np.repeat(start - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
        return {
            "slot": self.postings.slot[inside],
            "count": self.postings.counts[inside],
            "length": length[:width],
            **{name: getattr(self.stats, name)[:n] for name in _KEPT},
            "totals": self.totals[:width],
            "clock": self.clock,
            "seen": {"next": int(self.counter[NEXT]), "documents": self.seen, "rows": int(self.counter[ROWS])},
            "base": base._replace(prior=base.prior[:width])._asdict(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`; the owner sets `rules`."""
        base = Base(**state["base"])
        self = cls(base._replace(prior=base.prior.copy(), form=int(base.form)), Rules())
        n, used, length = state["mass"].shape[0], state["slot"].shape[0], state["length"]
        self.postings = self.postings._replace(
            start=np.cumsum(length) - length,
            length=length.copy(),
            room=length.copy(),
            slot=state["slot"].astype(np.int32),
            counts=state["count"].copy(),
            gain=np.zeros(used),
        )
        self.totals = state["totals"].copy()
        self.stats = _empty_stats(max(n, 16))
        for name in _KEPT:
            getattr(self.stats, name)[:n] = state[name]
        self.counter[[NEXT, SEEN, ROWS]] = [state["seen"][key] for key in ("next", "documents", "rows")]
        self.counter[[USED, SLOTS, LIVE, POSTINGS]] = used, n, int(self.stats.alive.sum()), used
        self.counter[DEAD] = int((~self.stats.alive[self.postings.slot]).sum())
        self.clock = state["clock"].copy()
        self._repack(np.arange(self.stats.mass.shape[0]), 0.0)
        return self


_PER_WORD = ("start", "length", "room", "largest")
_PER_POSTING = ("slot", "counts", "gain")


def _empty_stats(n_slots: int) -> ClusterStats:
    whole = ("recent", "owned", "identity", "representative")
    kinds: dict[str, Any] = {name: np.int64 if name in whole else np.float64 for name in ClusterStats._fields}
    kinds["alive"] = np.bool_
    arrays: dict[str, Any] = {name: np.zeros(n_slots, kind) for name, kind in kinds.items()}
    return ClusterStats(**arrays)

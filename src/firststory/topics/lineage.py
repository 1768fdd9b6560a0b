"""Which topic of this step is which of the last: stable names, drift, and what happened to each.

Rows of a topic model are slots, not identities: a slot can be taken over by another topic, and some models shuffle
them. `Lineage` compares each step's topics with those of the step before, for any model whose topics are rows of
non-negative term weights, and keeps only the last step and a short history.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from firststory.arrays import Floats
from firststory.records import TopicEvent, TopicEventKind
from firststory.solvers.orthogonal_nmf import relate_products, unit_columns

SAME_TOPIC_COSINE = 0.5
"""Cosine above which a topic keeps its name."""
PART_SHARE = 0.3
"""Entry of the row-normalised relation matrix above which one topic counts as part of another."""
FADED_SHARE = 0.2
"""Part of its former peak share under which a topic counts as faded; it may come back."""
HISTORY_STEPS = 30
"""Steps of share and similarity that are kept per topic."""
KEPT_EVENTS = 60
"""Events that are kept; the store keeps the rest."""


class Lineage:
    """The names and lives of the topics.

    Attributes
    ----------
    ids : list of str
        The name of the topic in each row; "" for a row that holds none.
    similarity : ndarray
        Cosine of each topic with itself one step earlier; NaN for a topic that was just born.
    changed : ndarray of bool
        Where the similarity is far below its running median: the topic now talks about something else.
    own_part : ndarray
        The part of what flowed into each topic that is its own.
    relation : ndarray (n_old, n_new)
        P of the last two steps: `h_i(old) ~ sum_j P_ij h_j(new)` for topics of unit length.
    events : list of TopicEvent
        The latest events, oldest first.

    Examples
    --------
    >>> import numpy as np
    >>> lineage = Lineage()
    >>> lineage.update(np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]])).ids
    ['t1', 't2']
    >>> lineage.update(np.array([[0, 0, 1.0, 0.9], [1.0, 1, 0.1, 0]])).ids  # the same, rows exchanged
    ['t2', 't1']
    """

    def __init__(self) -> None:
        self.step = -1
        self.ids: list[str] = []
        self.born: list[int] = []
        self.topics: Floats = np.zeros((0, 0))
        """Of the last step, term-major, columns of unit length."""
        self.relation: Floats = np.zeros((0, 0))
        self.shares: Floats = np.zeros((0, HISTORY_STEPS))
        """Each topic's share over the last steps, newest last; NaN before its birth."""
        self.similarities: Floats = np.zeros((0, HISTORY_STEPS))
        self.changed: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self.parents: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        """The old row whose name each row carries on, -1 for a topic that was just born."""
        self.asleep: list[str] = []
        """Topics that were called faded and have not come back."""
        self.events: list[TopicEvent] = []
        self._named = 0

    # -- reading -------------------------------------------------------------------------------------------

    @property
    def similarity(self) -> Floats:
        """Cosine of each topic with itself one step earlier."""
        return self.similarities[:, -1]

    @property
    def drift(self) -> Floats:
        """How fast each topic moves: 1 - similarity."""
        return 1.0 - self.similarity

    @property
    def own_part(self) -> Floats:
        """Of all that flowed into each topic from the old ones, the part that is its own: `P_jj / sum_i P_ij`.

        1 for a topic that stayed by itself, NaN for one that was just born.
        """
        part = np.full(self.parents.size, np.nan)
        for j, i in enumerate(self.parents):
            total = float(self.relation[:, j].sum()) if i >= 0 else 0.0
            if total > 0.0:
                part[j] = self.relation[i, j] / total
        return part

    def trend(self, row: int) -> tuple[float, ...]:
        """The share of the topic in a row over the last steps, oldest first."""
        known = self.shares[row][~np.isnan(self.shares[row])]
        return tuple(float(share) for share in known)

    def events_at(self, step: int) -> tuple[TopicEvent, ...]:
        """The events of one recent step."""
        return tuple(event for event in self.events if event.step == step)

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Column v becomes `new[v]`, in the same order; columns with -1 are forgotten."""
        self.topics = self.topics[np.flatnonzero(new[: self.topics.shape[0]] >= 0)]

    # -- one step ------------------------------------------------------------------------------------------

    def update(self, components: Floats, shares: Floats | None = None) -> Self:
        """Take in the topics after a step (rows) and each one's part of it."""
        self.step += 1
        topics = np.array(np.asarray(components, dtype=np.float64).T, order="C")
        lengths = unit_columns(topics)
        k = topics.shape[1]
        parts = np.full(k, 1.0) if shares is None else np.where(lengths > 0.0, shares, 0.0)
        parts = parts / (parts.sum() or 1.0)
        # Terms that are new to the old topics have no weight in them.
        cosine = self.topics.T @ topics[: self.topics.shape[0]]
        parent = self.parents = self._match(cosine, lengths > 0.0)
        self.relation = relate_products(cosine, topics.T @ topics)

        old_ids, old_shares, old_sims, old_born = self.ids, self.shares, self.similarities, self.born
        self.ids, self.born = [""] * k, [self.step] * k
        self.shares = np.full((k, HISTORY_STEPS), np.nan)
        self.similarities = np.full((k, HISTORY_STEPS), np.nan)
        for j in range(k):
            i = int(parent[j])
            if i >= 0:
                self.ids[j], self.born[j] = old_ids[i], old_born[i]
                self.shares[j, :-1] = old_shares[i, 1:]
                self.similarities[j, :-1] = old_sims[i, 1:]
                self.similarities[j, -1] = cosine[i, j]
            elif lengths[j] > 0.0:
                self._named += 1
                self.ids[j] = f"t{self._named}"
            if self.ids[j]:
                self.shares[j, -1] = parts[j]
        self.topics = topics
        self.changed = _stand_out(self.similarities)
        self._record_events(parent, cosine, old_ids, old_shares)
        return self

    def _match(self, cosine: Floats, alive: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The old row whose name each new row carries on, or -1: the best assignment, where it is close enough."""
        from scipy.optimize import linear_sum_assignment  # to load it takes long, and most streams need it never

        parent = np.full(alive.size, -1, dtype=np.int64)
        for i, j in zip(*linear_sum_assignment(-cosine), strict=True):
            if cosine[i, j] > SAME_TOPIC_COSINE and self.ids[i] and alive[j]:
                parent[j] = i
        return parent

    # -- events --------------------------------------------------------------------------------------------

    def _record_events(self, parent: NDArray[np.int64], cosine: Floats, old_ids: list[str], old_shares: Floats) -> None:
        begins = not any(old_ids)
        became = _row_normalised(self.relation)
        for j, name in enumerate(self.ids):
            if name and parent[j] < 0:
                self._record_birth(j, name, cosine, became, old_ids, begins)
            elif name and self.changed[j]:
                usual = float(np.nanmedian(self.similarities[j, :-1]))
                self._add(
                    "changed", name, (), self.similarity[j], f"cosine {self.similarity[j]:.2f}, usually {usual:.2f}"
                )
        kept = {int(i) for i in parent if i >= 0}
        for i, name in enumerate(old_ids):
            if name and i not in kept:
                self._record_end(i, name, cosine, became, float(np.nan_to_num(old_shares[i, -1])))
        self._record_fading()

    def _record_birth(
        self, j: int, name: str, cosine: Floats, became: Floats, old_ids: list[str], begins: bool
    ) -> None:
        if begins:
            self._add("born", name, (), self.shares[j, -1], "there from the start")
            return
        # Split: an old topic is now a mixture of this one and of at least one other.
        for i in np.argsort(-became[:, j], kind="stable"):
            strong = np.flatnonzero(became[i] > PART_SHARE)
            if old_ids[i] and became[i, j] > PART_SHARE and strong.size > 1:
                mixture = ", ".join(f"{became[i, other]:.2f} {self.ids[other]}" for other in strong)
                self._add("split", name, (old_ids[i],), became[i, j], f"{old_ids[i]} = {mixture}")
                return
        best = int(np.argmax(cosine[:, j]))
        near = f"nearest earlier topic {old_ids[best] or 'none'}, cosine {cosine[best, j]:.2f}"
        self._add("born", name, (), 1.0 - cosine[best, j], near)

    def _record_end(self, i: int, name: str, cosine: Floats, became: Floats, share: float) -> None:
        if name in self.asleep:
            self.asleep.remove(name)
        # Merged: this topic and another old one are now, for a good part, one and the same.
        for j in np.argsort(-became[i], kind="stable"):
            strong = np.flatnonzero(became[:, j] > PART_SHARE)
            if self.ids[j] and became[i, j] > PART_SHARE and strong.size > 1:
                into = self.ids[j]
                why = f"{became[i, j]:.2f} of it is {into}, which also holds {strong.size - 1} other"
                self._add("merged", name, (into,), became[i, j], why)
                return
        best = float(cosine[i].max()) if cosine.shape[1] else 0.0
        self._add("faded", name, (), share, f"no successor (best cosine {best:.2f}); last share {share:.1%}")

    def _record_fading(self) -> None:
        """A topic that keeps its words but lost its share: under a fifth of its peak, as a mean of three steps."""
        for j, name in enumerate(self.ids):
            known = self.shares[j][~np.isnan(self.shares[j])]
            if not name or known.size < 6:
                continue
            smooth = np.convolve(known, np.full(3, 1 / 3), mode="valid")
            peak = float(smooth.max())
            if name not in self.asleep and smooth[-1] < FADED_SHARE * peak:
                self.asleep.append(name)
                self._add("faded", name, (), smooth[-1], f"share {smooth[-1]:.1%}, once {peak:.1%}")
            elif name in self.asleep and smooth[-1] > 0.5 * peak:
                self.asleep.remove(name)

    def _add(self, kind: TopicEventKind, topic: str, others: tuple[str, ...], weight: float, evidence: str) -> None:
        self.events.append(TopicEvent(self.step, kind, topic, others, round(float(weight), 6), evidence))
        del self.events[:-KEPT_EVENTS]

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Everything, as arrays and JSON values."""
        return {
            "step": self.step,
            "named": self._named,
            "ids": list(self.ids),
            "born": list(self.born),
            "asleep": list(self.asleep),
            "topics": self.topics,
            "relation": self.relation,
            "parents": self.parents,
            "shares": self.shares,
            "similarities": self.similarities,
            "changed": self.changed,
            "events": [astuple(event)[:6] for event in self.events],  # without a time: a model has none,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        made = cls()
        made.step, made._named = int(state["step"]), int(state["named"])
        made.ids, made.born, made.asleep = list(state["ids"]), list(state["born"]), list(state["asleep"])
        made.topics, made.relation = state["topics"], state["relation"]
        made.parents = state["parents"]
        made.shares, made.similarities, made.changed = state["shares"], state["similarities"], state["changed"]
        made.events = [
            TopicEvent(step, kind, topic, tuple(others), weight, evidence)
            for step, kind, topic, others, weight, evidence in state["events"]
        ]
        return made


def match_topics(found: ArrayLike, true: ArrayLike) -> tuple[NDArray[np.int64], Floats]:
    """For each true (or earlier) topic the row of the found one that matches it, and their cosine.

    The assignment with the largest total cosine (Hungarian method). Terms on the right that only one of the two has
    count as zeros in the other.

    Examples
    --------
    >>> rows, cosines = match_topics([[0, 2.0], [1, 0]], [[1, 0.0], [0, 1]])
    >>> rows.tolist(), cosines.tolist()
    ([1, 0], [1.0, 1.0])
    """
    from scipy.optimize import linear_sum_assignment

    ours, theirs = unit_topics(found), unit_topics(true)
    common = min(ours.shape[1], theirs.shape[1])
    cosine = theirs[:, :common] @ ours[:, :common].T
    order, chosen = linear_sum_assignment(-cosine)
    return chosen.astype(np.int64), cosine[order, chosen]


def unit_topics(rows: ArrayLike) -> Floats:
    """Each row divided by its length; rows of zeros stay."""
    array = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    return np.asarray(array / np.where(lengths > 0.0, lengths, 1.0))


def _row_normalised(relation: Floats) -> Floats:
    total = relation.sum(axis=1, keepdims=True)
    return np.asarray(relation / np.where(total > 0.0, total, 1.0))


def _stand_out(similarities: Floats) -> NDArray[np.bool_]:
    """Where the last similarity drops below its running median by more than the usual spread allows."""
    flags = np.zeros(similarities.shape[0], dtype=bool)
    for row in np.flatnonzero((~np.isnan(similarities)).sum(axis=1) > 3):
        before = similarities[row, :-1]
        before = np.sort(before[~np.isnan(before)])
        median = before[before.size // 2]
        spread = 1.4826 * np.sort(np.abs(before - median))[before.size // 2]
        flags[row] = median - similarities[row, -1] > max(0.15, 3.0 * spread)
    return flags

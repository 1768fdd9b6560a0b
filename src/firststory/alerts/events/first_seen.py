"""First seen: reports that nothing earlier is like, ranked by the learnt chance that others follow. A quiet list."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, Self

import numpy as np

from firststory.alerts.events.echo import EchoChance
from firststory.alerts.events.ladder import Ceiling, Ladder
from firststory.alerts.events.links import LinkIndex
from firststory.units import DAY_SECONDS

WARM_UP_DAYS, WARM_UP_DOCUMENTS, WARM_UP_LABELS, WARM_UP_ECHOES = 2.0, 300, 500, 30
LEAST_CHANCE, LEAST_LIFT = 0.2, 2.0
"""The chance that others follow must reach 0.2 and twice the base rate: when nothing is new, nothing is listed."""
NOVELTY_WEIGHT, RANK_OFFSET = 6.0, 2.0
LADDER_STEP = 0.05


class FirstSeen:
    """The learnt chance, the labels that it waits for, and a ladder of its own."""

    def __init__(self) -> None:
        self.chance = EchoChance()
        self.ceiling = Ceiling()
        self._ladder = Ladder(LADDER_STEP, least=0.0)
        self._waiting: deque[tuple[float, int, list[int]]] = deque()

    def is_warm(self, days: float, documents: int) -> bool:
        """Whether enough was learnt to list anything."""
        return (
            days >= WARM_UP_DAYS
            and documents >= WARM_UP_DOCUMENTS
            and self.chance.labels >= WARM_UP_LABELS
            and self.chance.echoed >= WARM_UP_ECHOES
        )

    def missing(self, days: float, documents: int) -> str | None:
        """What the warm-up still needs, in words; None where it is over."""
        wanted = [
            (WARM_UP_DAYS, days, "days"),
            (WARM_UP_DOCUMENTS, documents, "documents"),
            (WARM_UP_LABELS, self.chance.labels, "first reports whose day is over"),
            (WARM_UP_ECHOES, self.chance.echoed, "first reports that others followed"),
        ]
        short = [f"{has:.3g} of {needed:g} {what}" for needed, has, what in wanted if has < needed]
        return " and ".join(short) or None

    def learn(self, now: float, index: LinkIndex) -> None:
        """The labels of first reports whose day is over; those that the index has forgotten will never have one."""
        waiting, oldest = self._waiting, index.oldest
        ordinals, rows = list[int](), list[list[int]]()
        while waiting and (now - waiting[0][0] > DAY_SECONDS or waiting[0][1] < oldest):
            _, ordinal, own = waiting.popleft()
            if ordinal >= oldest:
                ordinals.append(ordinal)
                rows.append(own)
        if rows:
            self.chance.learn(rows, index.is_echoed[np.array(ordinals) % len(index.born)].tolist())

    def wait(self, now: float, ordinal: int, own: list[int]) -> None:
        """A first report, by its features: in a day it is known whether others followed."""
        self._waiting.append((now, ordinal, own))

    def consider(self, now: float, chance: float, novelty: float, per_day: float | None) -> float | None:
        """The rank of a first report that is listed; None where it is not."""
        bounded = min(max(chance, 1e-6), 1.0 - 1e-6)
        rank = max(0.0, math.log(bounded / (1.0 - bounded)) + NOVELTY_WEIGHT * novelty + RANK_OFFSET)
        self._ladder.note(now, 0.0, rank)
        is_likely = chance >= max(LEAST_CHANCE, LEAST_LIFT * self.chance.base_rate)
        if not (is_likely and rank >= self._ladder.price(now, per_day) and self.ceiling.has_room(now, per_day)):
            return None
        self.ceiling.spend(now)
        return rank

    def get_state(self) -> dict[str, Any]:
        return {
            "chance": self.chance.get_state(),
            "fired": list(self.ceiling.fired),
            "ladder": self._ladder.get_state(),
            "waiting_times": np.array([time for time, _, _ in self._waiting]),
            "waiting_ordinals": np.array([ordinal for _, ordinal, _ in self._waiting], dtype=np.int64),
            "waiting_lengths": np.array([len(own) for _, _, own in self._waiting], dtype=np.int64),
            "waiting_features": np.array([i for _, _, own in self._waiting for i in own], dtype=np.int64),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        first_seen = cls()
        first_seen.chance = EchoChance.from_state(state["chance"])
        first_seen.ceiling.fired.extend(state["fired"])
        first_seen._ladder = Ladder.from_state(state["ladder"])
        ends = np.cumsum(state["waiting_lengths"])
        parts = np.split(state["waiting_features"], ends[:-1]) if len(ends) else []
        times, ordinals = state["waiting_times"].tolist(), state["waiting_ordinals"].tolist()
        first_seen._waiting.extend(
            (time, ordinal, own.tolist()) for time, ordinal, own in zip(times, ordinals, parts, strict=True)
        )
        return first_seen

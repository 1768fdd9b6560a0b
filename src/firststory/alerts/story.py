"""One story while it is being told: its centroid, its members of note, and the record that people see."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firststory.alerts.memory import title_of
from firststory.records import Document, Story, StoryStatus

DAY = 86400.0
MAX_TERMS = 600
"""Terms of a centroid; the lightest are dropped when a story has twice as many."""
MAX_MEMBERS = 12
"""Documents that may become the title: the first, and those that came closest to the centroid."""
MAX_SOURCES = 50
GROWTH_DAYS = 7.0
N_KEY_TERMS = 8


class StoryRecord:
    """A growing story. `key` is its number in the order of opening."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.name = f"s{key}"
        self.centroid: dict[int, float] = {}
        self.norm2 = 0.0
        self.first: float | None = None
        self.last: float | None = None
        self.touched = 0
        """The number of its latest document in the stream: the quietest story has the smallest."""
        self.size = 0
        self.duplicates = 0
        self.sources: dict[str, int] = {}
        self.status: StoryStatus = "open"
        self.parent: str | None = None
        self.surfaces: dict[int, str] = {}
        self.arrivals: list[float] = []
        self.members: list[tuple[float, str, str]] = []
        """(closeness to the centroid on arrival, id, title)."""

    # -- growing -------------------------------------------------------------------------------------------

    def cosine(self, columns: NDArray[Any], weights: NDArray[Any]) -> float:
        """Cosine of a unit row and the centroid."""
        return self._dot(columns, weights) / float(np.sqrt(self.norm2)) if self.norm2 > 0 else 0.0

    def add(
        self,
        document: Document,
        time: float | None,
        columns: NDArray[Any],
        weights: NDArray[Any],
        surfaces: Mapping[int, str],
    ) -> None:
        """A new document joins."""
        dot = self._dot(columns, weights)
        closeness = dot / float(np.sqrt(self.norm2)) if self.norm2 > 0 else 1.0
        for column, weight in zip(columns.tolist(), weights.tolist(), strict=True):
            self.centroid[column] = self.centroid.get(column, 0.0) + weight
        self.norm2 += float(weights @ weights) + 2.0 * dot
        if len(self.centroid) > 2 * MAX_TERMS:
            heaviest = sorted(self.centroid.items(), key=lambda item: (-item[1], item[0]))[:MAX_TERMS]
            self.centroid = dict(heaviest)
        for column, surface in surfaces.items():
            self.surfaces.setdefault(column, surface)
        if len(self.surfaces) > 4 * MAX_TERMS:
            self.surfaces = {column: self.surfaces[column] for column in self.surfaces if column in self.centroid}
        self.size += 1
        self.members.append((closeness, document.id, title_of(document)))
        if len(self.members) > MAX_MEMBERS:
            # The first document always stays; of the others, those that were closest.
            self.members = [
                self.members[0],
                *sorted(self.members[1:], key=lambda member: -member[0])[: MAX_MEMBERS - 1],
            ]
        self._seen(document, time)

    def repost(self, document: Document, time: float | None) -> None:
        """The text of a member again: counted, nothing learnt."""
        self.duplicates += 1
        self._seen(document, time)

    def _seen(self, document: Document, time: float | None) -> None:
        if document.source is not None and (document.source in self.sources or len(self.sources) < MAX_SOURCES):
            self.sources[document.source] = self.sources.get(document.source, 0) + 1
        if time is not None:
            self.first = time if self.first is None else min(self.first, time)
            self.last = time if self.last is None else max(self.last, time)
            self.arrivals = [*[t for t in self.arrivals if t > time - GROWTH_DAYS * DAY][-499:], time]

    def _dot(self, columns: NDArray[Any], weights: NDArray[Any]) -> float:
        get = self.centroid.get
        pairs = zip(columns.tolist(), weights.tolist(), strict=True)
        return float(sum(get(column, 0.0) * weight for column, weight in pairs))

    # -- two stories ---------------------------------------------------------------------------------------

    def alike(self, other: StoryRecord) -> float:
        """How alike documents of the two stories are on average, as a part of how alike they are within each.

        Cosines of centroids would not do: long stories share the stream's everyday words, and all look alike.
        """
        within = self._within() * other._within()
        return self._product(other) / (self.size * other.size) / math.sqrt(within) if within > 0 else 0.0

    def _within(self) -> float:
        """Mean cosine of two documents of this story."""
        return (self.norm2 - self.size) / (self.size * (self.size - 1)) if self.size > 1 else 0.0

    def _product(self, other: StoryRecord) -> float:
        small, large = sorted((self.centroid, other.centroid), key=len)
        return sum(weight * large.get(column, 0.0) for column, weight in small.items())

    def absorb(self, other: StoryRecord) -> None:
        """Take over everything that the other story was told."""
        dot = self._product(other)
        for column, weight in other.centroid.items():
            self.centroid[column] = self.centroid.get(column, 0.0) + weight
        self.norm2 += other.norm2 + 2.0 * dot
        self.size += other.size
        self.duplicates += other.duplicates
        for source, count in other.sources.items():
            if source in self.sources or len(self.sources) < MAX_SOURCES:
                self.sources[source] = self.sources.get(source, 0) + count
        self.surfaces = {**other.surfaces, **self.surfaces}
        self.arrivals = sorted(self.arrivals + other.arrivals)[-500:]
        self.members = [self.members[0], *sorted(self.members[1:] + other.members, key=lambda m: -m[0])][:MAX_MEMBERS]
        self.first = min((t for t in (self.first, other.first) if t is not None), default=None)
        self.last = max((t for t in (self.last, other.last) if t is not None), default=None)

    # -- what people see -----------------------------------------------------------------------------------

    def record(self, now: float | None) -> Story:
        """The story as a value."""
        central = max(self.members[1:], key=lambda member: member[0]) if self.size > 2 else self.members[0]
        recent = [t for t in self.arrivals if now is not None and t > now - GROWTH_DAYS * DAY]
        heaviest = sorted(self.centroid.items(), key=lambda item: (-item[1], item[0]))
        key_terms = [self.surfaces[column] for column, _ in heaviest[: 4 * N_KEY_TERMS] if column in self.surfaces]
        return Story(
            id=self.name,
            title=central[2],
            first_seen=_moment(self.first),
            last_seen=_moment(self.last),
            size=self.size,
            representative=central[1],
            sources=tuple(sorted(self.sources)),
            duplicates=self.duplicates,
            growth=round(len(recent) / GROWTH_DAYS, 4),
            key_terms=tuple(key_terms[:N_KEY_TERMS]),
            status=self.status,
            parent=self.parent,
        )

    # -- state ---------------------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON values (keys of objects are text there, hence the pairs)."""
        plain = {key: value for key, value in vars(self).items() if key not in ("centroid", "surfaces", "members")}
        return plain | {
            "centroid": [list(self.centroid), list(self.centroid.values())],
            "surfaces": [list(self.surfaces), list(self.surfaces.values())],
            "members": [list(member) for member in self.members],
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Self:
        """Undo `as_json`."""
        story = cls(plain["key"])
        for key, value in plain.items():
            setattr(story, key, value)
        story.centroid = dict(zip(*plain["centroid"], strict=True))
        story.surfaces = dict(zip(*plain["surfaces"], strict=True))
        story.members = [tuple(member) for member in plain["members"]]
        story.sources = dict(plain["sources"])
        story.arrivals = list(plain["arrivals"])
        return story


def _moment(time: float | None) -> datetime | None:
    return None if time is None else datetime.fromtimestamp(time, tz=UTC)

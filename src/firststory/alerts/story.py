"""One story while it is being told: its centroid, its members of note, and the record that people see."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firststory.alerts.centroid import Centroid, sorted_row
from firststory.alerts.harmless import harmless
from firststory.alerts.memory import title_of
from firststory.kernels.two_groups import products, two_groups
from firststory.records import Document, Story, StoryStatus

DAY = 86400.0
MAX_MEMBERS = 12
"""Documents that may become the title: the first, and those that came closest to the centroid."""
MAX_RECENT = 16
"""Latest members whose rows are kept, to see whether the story falls apart."""
MAX_SURFACES = 256
MAX_SOURCES = 50
GROWTH_DAYS = 7.0
N_KEY_TERMS = 8


class StoryRecord:
    """A growing story. `key` is its number in the order of opening."""

    def __init__(self, key: int) -> None:
        self.key = key
        self.name = f"s{key}"
        self.centroid = Centroid()
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
        self.is_ordered = True
        """Whether the times of arrival ascend: then nobody needs to look at all of them."""
        self.recent: list[tuple[NDArray[np.int32], NDArray[np.float32]]] = []
        self.recent_names: list[tuple[str, str]] = []
        """(id, title) of those members."""
        self.unchecked = 0
        """Documents that joined since somebody looked whether the story falls apart."""
        self.members: list[tuple[float, str, str]] = []
        """(closeness to the centroid on arrival, id, title)."""
        self.joined = 0
        self.closeness = 0.0
        """How many documents joined, and the sum of how close each was to the centroid before it did."""

    # -- growing -------------------------------------------------------------------------------------------

    def usual_closeness(self) -> float:
        """How close to the centroid its documents were when they joined, on average; 0 before two have."""
        return self.closeness / self.joined if self.joined >= 2 else 0.0

    def add(
        self,
        document: Document,
        time: float | None,
        columns: NDArray[np.int32],
        weights: NDArray[np.float64],
        surfaces: Mapping[int, str] | Callable[[], Mapping[int, str]],
        *,
        dot: float | None = None,
        title: str | None = None,
    ) -> None:
        """A new document joins, its columns in order; `dot` is its product with the centroid, where it is known.

        How its terms read is asked of the first few members only.
        """
        centroid = self.centroid
        if dot is None:
            dot = centroid.dot(columns, weights)
        closeness = dot / math.sqrt(centroid.norm2) if centroid.norm2 > 0 else 1.0
        if self.size:
            self.joined += 1
            self.closeness += closeness
        centroid.add(columns, weights, dot)
        if self.size < 3:
            for column, surface in (surfaces() if callable(surfaces) else surfaces).items():
                if column not in self.surfaces:
                    self.surfaces[column] = _shown(surface)
        if len(self.surfaces) > 2 * MAX_SURFACES:
            self._forget_surfaces()
        self.recent = [*self.recent[-(MAX_RECENT - 1) :], (columns.copy(), weights.astype(np.float32))]
        title = title_of(document) if title is None else title
        self.recent_names = [*self.recent_names[-(MAX_RECENT - 1) :], (document.id, title)]
        self.unchecked += 1
        self.size += 1
        self.members.append((closeness, document.id, title))
        if len(self.members) > MAX_MEMBERS:
            # The first document always stays; of the others, those that were closest.
            others = sorted(self.members[1:], key=itemgetter(0), reverse=True)
            self.members = [self.members[0], *others[: MAX_MEMBERS - 1]]
        self._seen(document, time)

    def _forget_surfaces(self) -> None:
        weight = dict(zip(self.centroid.columns.tolist(), self.centroid.weights.tolist(), strict=True))
        heaviest = sorted(self.surfaces, key=lambda column: (-weight.get(column, 0.0), column))
        self.surfaces = {column: self.surfaces[column] for column in sorted(heaviest[:MAX_SURFACES])}

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
            self.arrivals = [*self._arrivals_since(time)[-499:], time]
            self.is_ordered = self.is_ordered and (len(self.arrivals) < 2 or self.arrivals[-2] <= time)

    def _arrivals_since(self, now: float) -> list[float]:
        """The arrivals of the days before `now` that growth is told of."""
        since = now - GROWTH_DAYS * DAY
        if self.is_ordered:
            return self.arrivals[bisect_right(self.arrivals, since) :]
        return [t for t in self.arrivals if t > since]

    # -- two stories ---------------------------------------------------------------------------------------

    def alike(self, other: StoryRecord) -> float:
        """How alike documents of the two stories are on average, as a part of how alike they are within each.

        Cosines of centroids would not do: long stories share the stream's everyday words, and all look alike.
        """
        within = self._within() * other._within()
        return self._product(other) / (self.size * other.size) / math.sqrt(within) if within > 0 else 0.0

    def _within(self) -> float:
        """Mean cosine of two documents of this story."""
        return (self.centroid.norm2 - self.size) / (self.size * (self.size - 1)) if self.size > 1 else 0.0

    def _product(self, other: StoryRecord) -> float:
        return self.centroid.dot(other.centroid.columns, other.centroid.weights)

    def absorb(self, other: StoryRecord) -> None:
        """Take over everything that the other story was told."""
        self.centroid.absorb(other.centroid)
        self.size += other.size
        self.joined += other.joined
        self.closeness += other.closeness
        self.duplicates += other.duplicates
        for source, count in other.sources.items():
            if source in self.sources or len(self.sources) < MAX_SOURCES:
                self.sources[source] = self.sources.get(source, 0) + count
        self.surfaces = {**other.surfaces, **self.surfaces}
        self.arrivals = sorted(self.arrivals + other.arrivals)[-500:]
        self.is_ordered = True
        self.recent = (other.recent + self.recent)[-MAX_RECENT:]
        self.recent_names = (other.recent_names + self.recent_names)[-MAX_RECENT:]
        self.members = [self.members[0], *sorted(self.members[1:] + other.members, key=lambda m: -m[0])][:MAX_MEMBERS]
        self.first = min((t for t in (self.first, other.first) if t is not None), default=None)
        self.last = max((t for t in (self.last, other.last) if t is not None), default=None)

    def fall_apart(self, share: float) -> list[int] | None:
        """Places in `recent` of the members that tell another story, where there are two; None where there is one.

        Two groups by spherical 2-means from the least alike pair; they are two stories when documents are less than
        `share` as alike between the groups as within them, and each has three members.
        """
        self.unchecked = 0
        sizes = [len(columns) for columns, _ in self.recent]
        side = two_groups(
            products(
                np.concatenate([[0], np.cumsum(sizes)]),
                np.concatenate([columns for columns, _ in self.recent]),
                np.concatenate([weights for _, weights in self.recent]),
            ),
            share,
        )
        n = len(sizes)
        if not side.size:
            return None
        # The larger group, or the one that holds the older of the members, goes on under the old name.
        stays = side if side.sum() > n / 2 or (2 * side.sum() == n and side[0]) else ~side
        return np.flatnonzero(~stays).tolist()

    def branch_off(self, branch: StoryRecord, leaving: list[int]) -> None:
        """Give the members in these places of `recent` to a story of their own."""
        for place in leaving:
            columns, weights = self.recent[place]
            self.centroid.move(columns, weights.astype(np.float64), branch.centroid)
            name, title = self.recent_names[place]
            branch.members.append((1.0 / (1 + len(branch.members)), name, title))
        gone = {self.recent_names[place][0] for place in leaving}
        branch.members = branch.members[:MAX_MEMBERS]
        branch.recent = [self.recent[place] for place in leaving]
        branch.recent_names = [self.recent_names[place] for place in leaving]
        stays = [place for place in range(len(self.recent)) if place not in leaving]
        self.recent = [self.recent[place] for place in stays]
        self.recent_names = [self.recent_names[place] for place in stays]
        self.members = [m for m in self.members if m[1] not in gone] or [(1.0, *self.recent_names[0])]
        branch.size, self.size = len(leaving), self.size - len(leaving)
        branched = set(branch.centroid.columns.tolist())
        branch.surfaces = {c: surface for c, surface in self.surfaces.items() if c in branched}
        branch.arrivals, branch.is_ordered = self.arrivals[-len(leaving) :], self.is_ordered
        branch.first, branch.last = (branch.arrivals[0], branch.arrivals[-1]) if branch.arrivals else (None, None)
        self.centroid.measure()
        branch.centroid.measure()

    # -- what people see -----------------------------------------------------------------------------------

    def record(self, now: float | None) -> Story:
        """The story as a value."""
        central = max(self.members[1:], key=lambda member: member[0]) if self.size > 2 else self.members[0]
        recent = [] if now is None else self._arrivals_since(now)
        heaviest = self.centroid.heaviest(4 * N_KEY_TERMS)
        key_terms = [self.surfaces[column] for column in heaviest if column in self.surfaces]
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
        """All but the rows, as JSON values (keys of objects are text there, hence the pairs)."""
        plain = {key: value for key, value in vars(self).items() if key not in ("centroid", "recent", "is_ordered")}
        return plain | {
            "norm2": self.centroid.norm2,
            "surfaces": [list(self.surfaces), list(self.surfaces.values())],
            "members": [list(member) for member in self.members],
            "recent_names": [list(pair) for pair in self.recent_names],
        }

    def rows(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """The centroid and the recent members as sparse rows."""
        return [(self.centroid.columns, self.centroid.weights), *self.recent]

    @classmethod
    def from_json(cls, plain: dict[str, Any], rows: list[tuple[NDArray[Any], NDArray[Any]]]) -> Self:
        """Undo `as_json` and `rows`."""
        story = cls(plain["key"])
        for key, value in plain.items():
            if key != "norm2":
                setattr(story, key, value)
        (columns, weights), *recent = (sorted_row(*row) for row in rows)
        story.centroid = Centroid(columns.copy(), weights.copy(), plain["norm2"])
        story.recent = [(columns.copy(), weights.astype(np.float32)) for columns, weights in recent]
        story.surfaces = dict(zip(*plain["surfaces"], strict=True))
        story.members = [(closeness, name, title) for closeness, name, title in plain["members"]]
        story.recent_names = [(name, title) for name, title in plain["recent_names"]]
        story.sources = dict(plain["sources"])
        story.arrivals = list(plain["arrivals"])
        story.is_ordered = story.arrivals == sorted(story.arrivals)
        return story


@lru_cache(maxsize=1 << 16)
def _shown(surface: str) -> str:
    """A term as people see it. Twice: what the first pass takes out can leave a joiner with nothing to join."""
    return harmless(harmless(surface, 60), 60)


def _moment(time: float | None) -> datetime | None:
    return None if time is None else datetime.fromtimestamp(time, tz=UTC)

"""One story while it is being told: its centroid, its members of note, and the record that people see."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from operator import mul
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firststory.alerts.harmless import harmless
from firststory.alerts.memory import title_of
from firststory.records import Document, Story, StoryStatus

DAY = 86400.0
MAX_TERMS = 600
"""Terms of a centroid; the lightest are dropped when a story has twice as many."""
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

    def cosine(self, columns: NDArray[Any], weights: NDArray[Any]) -> float:
        """Cosine of a unit row and the centroid."""
        return self._dot(columns, weights) / float(np.sqrt(self.norm2)) if self.norm2 > 0 else 0.0

    def usual_closeness(self) -> float:
        """How close to the centroid its documents were when they joined, on average; 0 before two have."""
        return self.closeness / self.joined if self.joined >= 2 else 0.0

    def add(
        self,
        document: Document,
        time: float | None,
        columns: NDArray[Any],
        weights: NDArray[Any],
        surfaces: Mapping[int, str] | Callable[[], Mapping[int, str]],
    ) -> None:
        """A new document joins. How its terms read is asked of the first few members only."""
        dot = self._dot(columns, weights)
        closeness = dot / float(np.sqrt(self.norm2)) if self.norm2 > 0 else 1.0
        if self.size:
            self.joined += 1
            self.closeness += closeness
        for column, weight in zip(columns.tolist(), weights.tolist(), strict=True):
            self.centroid[column] = self.centroid.get(column, 0.0) + weight
        self.norm2 += float(weights @ weights) + 2.0 * dot
        if len(self.centroid) > 2 * MAX_TERMS:
            self.centroid = dict(sorted(self.centroid.items(), key=lambda item: (-item[1], item[0]))[:MAX_TERMS])
        if self.size < 3:
            for column, surface in (surfaces() if callable(surfaces) else surfaces).items():
                if column not in self.surfaces:
                    self.surfaces[column] = harmless(surface, 60)
        if len(self.surfaces) > 2 * MAX_SURFACES:
            heaviest = sorted(self.surfaces, key=lambda column: (-self.centroid.get(column, 0.0), column))
            self.surfaces = {column: self.surfaces[column] for column in sorted(heaviest[:MAX_SURFACES])}
        self.recent = [
            *self.recent[-(MAX_RECENT - 1) :],
            (columns.astype(np.int32), weights.astype(np.float32)),
        ]
        title = title_of(document)
        self.recent_names = [*self.recent_names[-(MAX_RECENT - 1) :], (document.id, title)]
        self.unchecked += 1
        self.size += 1
        self.members.append((closeness, document.id, title))
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
        return float(sum(map(mul, [get(column, 0.0) for column in columns.tolist()], weights.tolist())))

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
        return sum(weight * large[column] for column, weight in small.items() if column in large)

    def absorb(self, other: StoryRecord) -> None:
        """Take over everything that the other story was told."""
        dot = self._product(other)
        for column, weight in other.centroid.items():
            self.centroid[column] = self.centroid.get(column, 0.0) + weight
        self.norm2 += other.norm2 + 2.0 * dot
        self.size += other.size
        self.joined += other.joined
        self.closeness += other.closeness
        self.duplicates += other.duplicates
        for source, count in other.sources.items():
            if source in self.sources or len(self.sources) < MAX_SOURCES:
                self.sources[source] = self.sources.get(source, 0) + count
        self.surfaces = {**other.surfaces, **self.surfaces}
        self.arrivals = sorted(self.arrivals + other.arrivals)[-500:]
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
        cosine = _cosines(self.recent)
        n = len(cosine)
        seeds = np.unravel_index(int(np.argmin(cosine + 2.0 * np.eye(n))), cosine.shape)
        side = cosine[:, seeds[1]] > cosine[:, seeds[0]]
        for _ in range(8):
            if not 3 <= side.sum() <= n - 3:
                return None
            to = [cosine[:, group].sum(axis=1) / np.sqrt(cosine[np.ix_(group, group)].sum()) for group in (~side, side)]
            moved = to[1] > to[0]
            if (moved == side).all():
                break
            side = moved
        if not 3 <= side.sum() <= n - 3:
            return None
        within = [_mean_pair(cosine[np.ix_(group, group)]) for group in (~side, side)]
        between = float(cosine[np.ix_(~side, side)].mean())
        if min(within) <= 0 or between >= share * math.sqrt(within[0] * within[1]):
            return None
        # The larger group, or the one that holds the older of the members, goes on under the old name.
        stays = side if side.sum() > n / 2 or (2 * side.sum() == n and side[0]) else ~side
        return np.flatnonzero(~stays).tolist()

    def branch_off(self, branch: StoryRecord, leaving: list[int]) -> None:
        """Give the members in these places of `recent` to a story of their own."""
        for place in leaving:
            columns, weights = self.recent[place]
            row = columns.tolist(), weights.astype(np.float64).tolist()
            for column, weight in zip(*row, strict=True):
                left = self.centroid.get(column, 0.0) - weight
                if left > 1e-9:
                    self.centroid[column] = left
                else:
                    self.centroid.pop(column, None)
                branch.centroid[column] = branch.centroid.get(column, 0.0) + weight
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
        branch.surfaces = {c: surface for c, surface in self.surfaces.items() if c in branch.centroid}
        branch.arrivals = self.arrivals[-len(leaving) :]
        branch.first, branch.last = (branch.arrivals[0], branch.arrivals[-1]) if branch.arrivals else (None, None)
        for story in (self, branch):
            story.norm2 = sum(weight * weight for weight in story.centroid.values())

    # -- what people see -----------------------------------------------------------------------------------

    def record(self, now: float | None) -> Story:
        """The story as a value."""
        central = max(self.members[1:], key=lambda member: member[0]) if self.size > 2 else self.members[0]
        recent = [t for t in self.arrivals if now is not None and t > now - GROWTH_DAYS * DAY]
        key_terms = [
            harmless(self.surfaces[column], 60) for column in self._heaviest(4 * N_KEY_TERMS) if column in self.surfaces
        ]
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

    def _heaviest(self, n: int) -> list[int]:
        """The columns that weigh most, heaviest first; among equals the older column."""
        columns = np.fromiter(self.centroid, dtype=np.int64, count=len(self.centroid))
        weights = np.fromiter(self.centroid.values(), dtype=np.float64, count=len(self.centroid))
        if columns.size > 4 * n:
            near = np.flatnonzero(weights >= np.partition(weights, -n)[-n])
            columns, weights = columns[near], weights[near]
        found: list[int] = columns[np.lexsort((columns, -weights))[:n]].tolist()
        return found

    # -- state ---------------------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """All but the rows, as JSON values (keys of objects are text there, hence the pairs)."""
        plain = {key: value for key, value in vars(self).items() if key not in ("centroid", "recent")}
        return plain | {
            "surfaces": [list(self.surfaces), list(self.surfaces.values())],
            "members": [list(member) for member in self.members],
            "recent_names": [list(pair) for pair in self.recent_names],
        }

    def rows(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """The centroid and the recent members as sparse rows."""
        n = len(self.centroid)
        centroid = np.fromiter(self.centroid, np.int32, n), np.fromiter(self.centroid.values(), np.float64, n)
        return [centroid, *self.recent]

    @classmethod
    def from_json(cls, plain: dict[str, Any], rows: list[tuple[NDArray[Any], NDArray[Any]]]) -> Self:
        """Undo `as_json` and `rows`."""
        story = cls(plain["key"])
        for key, value in plain.items():
            setattr(story, key, value)
        story.centroid = dict(zip(rows[0][0].tolist(), rows[0][1].tolist(), strict=True))
        story.recent = [(columns.astype(np.int32), weights.astype(np.float32)) for columns, weights in rows[1:]]
        story.surfaces = dict(zip(*plain["surfaces"], strict=True))
        story.members = [(closeness, name, title) for closeness, name, title in plain["members"]]
        story.recent_names = [(name, title) for name, title in plain["recent_names"]]
        story.sources = dict(plain["sources"])
        story.arrivals = list(plain["arrivals"])
        return story


def _cosines(rows: list[tuple[NDArray[np.int32], NDArray[np.float32]]]) -> NDArray[np.float64]:
    columns, where = np.unique(np.concatenate([row[0] for row in rows]), return_inverse=True)
    dense = np.zeros((len(rows), columns.size))
    dense[np.repeat(np.arange(len(rows)), [row[0].size for row in rows]), where] = np.concatenate([r[1] for r in rows])
    return np.asarray(dense @ dense.T)


def _mean_pair(cosine: NDArray[np.float64]) -> float:
    n = len(cosine)
    return float((cosine.sum() - np.trace(cosine)) / (n * (n - 1)))


def _moment(time: float | None) -> datetime | None:
    return None if time is None else datetime.fromtimestamp(time, tz=UTC)

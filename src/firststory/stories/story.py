"""One story while it is being told: its centroid, its latest members, and the record that people see."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firststory.growth import a_day, first_hour
from firststory.harmless import display_title, harmless
from firststory.kernels.stories.sparse_sums import product
from firststory.kernels.stories.two_groups import products, two_groups
from firststory.records import Document, Story, StoryStatus
from firststory.stories.arrival import Arrival
from firststory.stories.centroids import Centroids, sorted_row
from firststory.units import HOUR_SECONDS

MAX_RECENT = 16
"""Latest members whose rows are kept, to see whether the story falls apart, and which of them gives it its title."""
MAX_SURFACES = 256
MAX_SOURCES = 50
MAX_SOURCE = 100
"""Characters of the name of a source."""
MAX_ARRIVALS = 32
"""Latest times of arrival: those of a branch are taken from them."""
FORGOTTEN = 8 * 24
"""Hours that the oldest one lies back when those of more than a week ago are forgotten."""
UNCOUNTED = -(1 << 62)
"""No hour: the documents of the week must be counted anew."""
N_KEY_TERMS = 8
PLAIN = ("key", "name", "first", "touched", "size", "duplicates", "status", "parent", "unchecked")
"""What the state keeps as it is."""

Recent = tuple[str, str, int, NDArray[np.int32], NDArray[np.float32]]
"""The id, title, ordinal and row of a recent member."""


class StoryRecord:
    """A growing story. `key` is its number in the order of opening; its centroid lies in a slot among all others'."""

    __slots__ = (
        *PLAIN, "_counted", "_first_hour", "_told", "arrivals", "central", "centroids", "hours", "key_terms",
        "merged_into", "recent", "slot", "sources", "surfaces", "titled",
    )  # fmt: skip

    def __init__(self, key: int, centroids: Centroids, slot: int | None = None) -> None:
        self.key = key
        self.name = f"s{key}"
        self.centroids = centroids
        self.slot = centroids.begin(key) if slot is None else slot
        self.first: float | None = None
        self.touched = 0
        """The number of its latest document in the stream: the quietest story has the smallest."""
        self.size = 0
        self.duplicates = 0
        self.sources: dict[str, int] = {}
        self.status: StoryStatus = "open"
        self.parent: str | None = None
        self.merged_into: str | None = None
        """No open story has gone into another: it need not be kept."""
        self.surfaces: dict[int, str] = {}
        self.arrivals: list[float] = []
        self.hours: dict[int, int] = {}
        """Documents in each hour since 1970 that growth is told of."""
        self._counted, self._first_hour = 0, UNCOUNTED
        """How many documents that is, and the first hour that was counted."""
        self.recent: list[Recent] = []
        self.unchecked = 0
        """Documents that joined since somebody looked whether the story falls apart."""
        self.central = ("", "")
        """The id and title of the document that stands for the story."""
        self.titled = 0
        """The size that the story had when that document was chosen."""
        self.key_terms: tuple[str, ...] = ()
        self._told = 0
        """The size that the story had when its key terms were looked up."""

    @property
    def last(self) -> float | None:
        """The time of its latest document."""
        time = float(self.centroids.last[self.slot])
        return None if time != time else time

    # -- growing -------------------------------------------------------------------------------------------

    def add(self, arrival: Arrival, time: float | None, row: tuple[NDArray[np.int32], NDArray[np.float64]]) -> None:
        """A document has joined; its row, columns in order, is in the centroid already.

        How its terms read is asked of the first few members only.
        """
        document = arrival.document
        if self.size < 3:
            reads = arrival.surfaces() if callable(arrival.surfaces) else arrival.surfaces
            self.surfaces = {**reads, **self.surfaces}
            if len(self.surfaces) > 2 * MAX_SURFACES:
                self._forget_surfaces()
        title = display_title(document) if arrival.title is None else arrival.title
        self.recent.append((document.id, title, arrival.ordinal, row[0].copy(), row[1].astype(np.float32)))
        if len(self.recent) > MAX_RECENT:
            del self.recent[0]
        self.unchecked += 1
        self.size += 1
        if self.size == 1:
            self.central, self.titled = (document.id, title), 1
        self._seen(document, time)

    def _forget_surfaces(self) -> None:
        columns, weights = self.centroids.row(self.slot)
        weight = dict(zip(columns.tolist(), weights.tolist(), strict=True))
        heaviest = sorted(self.surfaces, key=lambda column: (-weight.get(column, 0.0), column))
        self.surfaces = {column: self.surfaces[column] for column in sorted(heaviest[:MAX_SURFACES])}

    def repost(self, document: Document, time: float | None) -> None:
        """The text of a member again: counted, nothing learnt."""
        self.duplicates += 1
        self._seen(document, time)
        if time is not None:
            self.centroids.last[self.slot] = np.fmax(self.centroids.last[self.slot], time)

    def _seen(self, document: Document, time: float | None) -> None:
        source = _source(document.source[: 10 * MAX_SOURCE]) if document.source else ""
        if source and (source in self.sources or len(self.sources) < MAX_SOURCES):
            self.sources[source] = self.sources.get(source, 0) + 1
        if time is not None:
            self.first = time if self.first is None else min(self.first, time)
            self.arrivals.append(time)
            if len(self.arrivals) > 2 * MAX_ARRIVALS:
                del self.arrivals[:-MAX_ARRIVALS]
            hours, hour = self.hours, int(time // HOUR_SECONDS)
            if hour in hours:
                hours[hour] += 1
            else:
                hours[hour] = 1
                # What lies more than a week back is forgotten, but not every hour anew.
                if hour - next(iter(hours)) > FORGOTTEN:
                    first = first_hour(time)
                    self.hours = {one: n for one, n in hours.items() if one >= first}
            self._counted += hour >= self._first_hour

    def _growth(self, now: float) -> float:
        """Documents a day over the week before now."""
        first = first_hour(now)
        if first != self._first_hour:
            self._counted, self._first_hour = sum(n for hour, n in self.hours.items() if hour >= first), first
        return a_day(self._counted)

    # -- two stories ---------------------------------------------------------------------------------------

    def alike(self, other: StoryRecord) -> float:
        """How alike documents of the two stories are on average, as a part of how alike they are within each.

        Cosines of centroids would not do: long stories share the stream's everyday words, and all look alike. A story
        of one document is measured by the other.
        """
        mine, its = self._within(), other._within()
        within = (mine or its) * (its or mine)
        product = self.centroids.dot(self.slot, other.slot)
        return product / (self.size * other.size) / math.sqrt(within) if within > 0 else 0.0

    def _within(self) -> float:
        """Mean cosine of two documents of this story."""
        norm2 = float(self.centroids.norm2[self.slot])
        return (norm2 - self.size) / (self.size * (self.size - 1)) if self.size > 1 else 0.0

    def absorb(self, other: StoryRecord) -> None:
        """Take over everything that the other story was told."""
        self.centroids.absorb(self.slot, other.slot)
        self._told = 0
        self.size += other.size
        self.duplicates += other.duplicates
        for source, count in other.sources.items():
            if source in self.sources or len(self.sources) < MAX_SOURCES:
                self.sources[source] = self.sources.get(source, 0) + count
        self.surfaces = {**other.surfaces, **self.surfaces}
        self.arrivals = sorted(self.arrivals + other.arrivals)[-MAX_ARRIVALS:]
        for hour, n in other.hours.items():
            self.hours[hour] = self.hours.get(hour, 0) + n
        self._first_hour = UNCOUNTED
        self.recent = (other.recent + self.recent)[-MAX_RECENT:]
        self.titled = 0
        self.first = min((t for t in (self.first, other.first) if t is not None), default=None)

    def fall_apart(self, share: float) -> list[int] | None:
        """Places in `recent` of the members that tell another story, where there are two; None where there is one.

        Two groups by spherical 2-means from the least alike pair; they are two stories when documents are less than
        `share` as alike between the groups as within them, and each has three members.
        """
        self.unchecked = 0
        *_, columns, weights = zip(*self.recent, strict=True)
        sizes = [len(row) for row in columns]
        side = two_groups(
            products(np.concatenate([[0], np.cumsum(sizes)]), np.concatenate(columns), np.concatenate(weights)), share
        )
        n = len(sizes)
        if not side.size:
            return None
        # The larger group, or the one that holds the older of the members, goes on under the old name.
        stays = side if side.sum() > n / 2 or (2 * side.sum() == n and side[0]) else ~side
        return np.flatnonzero(~stays).tolist()

    def branch_off(self, branch: StoryRecord, leaving: list[int]) -> None:
        """Give the members in these places of `recent` to a story of their own."""
        branch.recent = [self.recent[place] for place in leaving]
        self.recent = [one for place, one in enumerate(self.recent) if place not in leaving]
        for *_, columns, weights in branch.recent:
            self.centroids.move(columns, weights.astype(np.float64), self.slot, branch.slot)
        branch.central, branch.titled, self.titled = branch.recent[0][:2], 0, 0
        if self.central[0] in {name for name, *_ in branch.recent}:
            self.central = self.recent[0][:2]
        branch.size, self.size = len(leaving), self.size - len(leaving)
        self._told = 0
        branched = set(self.centroids.row(branch.slot)[0].tolist())
        branch.surfaces = {c: surface for c, surface in self.surfaces.items() if c in branched}
        branch.arrivals = self.arrivals[-len(leaving) :]
        if branch.arrivals:
            branch.hours = _by_hour(branch.arrivals)
            left = {hour: n - branch.hours.get(hour, 0) for hour, n in self.hours.items()}
            self.hours, self._first_hour = {hour: n for hour, n in left.items() if n > 0}, UNCOUNTED
            branch.first, self.centroids.last[branch.slot] = branch.arrivals[0], branch.arrivals[-1]

    def columns_in_use(self) -> list[NDArray[np.int32]]:
        """The columns of the rows that it remembers by themselves."""
        return [columns for *_, columns, _ in self.recent]

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        self.recent = [
            (name, title, ordinal, new[columns].astype(np.int32), weights)
            for name, title, ordinal, columns, weights in self.recent
        ]
        self.surfaces = {int(new[c]): surface for c, surface in self.surfaces.items() if new[c] >= 0}

    # -- what people see -----------------------------------------------------------------------------------

    @property
    def is_told(self) -> bool:
        """Whether its key terms are those of all its documents."""
        return self._told == self.size

    def tell(self, heaviest: Iterable[int]) -> None:
        """Name the key terms: of the heaviest columns those that somebody knows how to read."""
        known = [self.surfaces[column] for column in heaviest if column in self.surfaces]
        self.key_terms, self._told = tuple(map(_shown, known[:N_KEY_TERMS])), self.size
        # A title that changed with every document would be no name: it is looked at when the story has doubled.
        if self.size >= max(3, 2 * self.titled):
            self.central, self.titled = self._most_central(), self.size

    def _most_central(self) -> tuple[str, str]:
        """The id and title of the recent document that is closest to the centroid as it is now."""
        centroid = self.centroids.row(self.slot)
        closeness = [product(columns, weights, *centroid) for *_, columns, weights in self.recent]
        name, title, *_ = self.recent[closeness.index(max(closeness))]
        return name, title

    def record(self, now: float | None) -> Story:
        """The story as a value."""
        growth = 0.0 if now is None or self.status == "merged" else self._growth(now)
        first, last = self.first, self.last
        first_seen = _moment(first)
        return Story(
            id=self.name,
            title=self.central[1],
            first_seen=first_seen,
            last_seen=first_seen if first == last else _moment(last),
            size=self.size,
            representative=self.central[0],
            sources=tuple(sorted(self.sources)),
            duplicates=self.duplicates,
            growth=growth,
            key_terms=self.key_terms,
            status=self.status,
            parent=self.parent,
            merged_into=self.merged_into,
            hours=tuple(self.hours.items()),
        )

    # -- state ---------------------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """All but the rows, as JSON values (keys of objects are text there, hence the pairs)."""
        return {key: getattr(self, key) for key in PLAIN} | {
            "sources": self.sources,
            "arrivals": self.arrivals,
            "hours": [list(self.hours), list(self.hours.values())],
            "last": self.last,
            "norm2": float(self.centroids.norm2[self.slot]),
            "joined": int(self.centroids.joined[self.slot]),
            "closeness": float(self.centroids.closeness[self.slot]),
            "surfaces": [list(self.surfaces), list(self.surfaces.values())],
            "central": [*self.central, self.titled],
            "recent_names": [[name, title, ordinal] for name, title, ordinal, _, _ in self.recent],
        }

    def rows(self) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """The centroid and the recent members as sparse rows."""
        return [self.centroids.row(self.slot), *((columns, weights) for *_, columns, weights in self.recent)]

    @classmethod
    def from_json(cls, plain: dict[str, Any], rows: list[tuple[NDArray[Any], NDArray[Any]]], among: Centroids) -> Self:
        """Undo `as_json` and `rows`."""
        story = cls(plain["key"], among)
        for key in PLAIN:
            setattr(story, key, plain[key])
        centroid, *recent = (sorted_row(*row) for row in rows)
        among.put(story.slot, *centroid)
        for key in ("norm2", "joined", "closeness"):
            getattr(among, key)[story.slot] = plain[key]
        among.last[story.slot] = np.nan if plain["last"] is None else plain["last"]
        names = zip(plain["recent_names"], recent, strict=True)
        story.recent = [(*names, columns.copy(), weights.astype(np.float32)) for names, (columns, weights) in names]
        story.surfaces = dict(zip(*plain["surfaces"], strict=True))
        name, title, story.titled = plain["central"]
        story.central = name, title
        story.sources = dict(plain["sources"])
        story.arrivals = list(plain["arrivals"])
        story.hours = dict(zip(*plain["hours"], strict=True))
        return story


def _by_hour(arrivals: Iterable[float]) -> dict[int, int]:
    return dict(Counter(int(time // HOUR_SECONDS) for time in arrivals))


def _shown(surface: str) -> str:
    """A term as people see it. Twice: what the first pass takes out can leave a joiner with nothing to join."""
    return surface if surface.isascii() and surface.isalnum() and len(surface) <= 60 else _washed(surface)


@lru_cache(maxsize=1 << 10)
def _source(name: str) -> str:
    """A source as people see it: a story must not grow by a megabyte for its name, or turn a line round."""
    return harmless(name, MAX_SOURCE)


@lru_cache(maxsize=1 << 14)
def _washed(surface: str) -> str:
    return harmless(harmless(surface, 60), 60)


def _moment(time: float | None) -> datetime | None:
    return None if time is None else datetime.fromtimestamp(time, tz=UTC)

"""One story while it grows: its centroid, its latest members, and the record that people see."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Self

import numpy as np

from firststory.arrays import Columns, Ints
from firststory.harmless import display_title
from firststory.kernels.stories.sparse_sums import product
from firststory.kernels.stories.two_groups import products, two_groups
from firststory.records import Story, StoryStatus
from firststory.state import State
from firststory.stories.activity import Activity, shown_source
from firststory.stories.candidate import StoryCandidate
from firststory.stories.centroids import Centroids, Row
from firststory.stories.members import Member
from firststory.stories.presentation import Presentation, Representative

MAX_RECENT = 16
"""Latest members that are kept: they show whether the story falls apart, and one of them gives it its title."""
N_SURFACE_DOCUMENTS = 3
"""The first documents, in which it is looked up how terms read."""


class GrowingStory:
    """A story that documents still join.

    Attributes
    ----------
    key, id : int, str
        Its number in the order of opening, and the id that people see.
    slot : int
        Where its centroid is among `centroids`.
    size, duplicates : int
        Distinct texts, and texts that came again.
    unchecked : int
        Documents that joined since it was last checked whether the story falls apart.
    """

    __slots__ = (
        "activity", "centroids", "duplicates", "id", "key", "merged_into", "parent", "presentation", "recent", "size",
        "slot", "status", "unchecked",
    )  # fmt: skip

    def __init__(self, key: int, centroids: Centroids, slot: int, representative: Representative) -> None:
        self.key = key
        self.id = f"s{key}"
        self.centroids = centroids
        self.slot = slot
        self.size = 0
        self.duplicates = 0
        self.unchecked = 0
        self.status: StoryStatus = "open"
        self.parent: str | None = None
        self.merged_into: str | None = None
        self.recent: list[Member] = []
        self.activity = Activity()
        self.presentation = Presentation(representative)

    @classmethod
    def open(cls, key: int, centroids: Centroids, slot: int, candidate: StoryCandidate) -> Self:
        """The story that a document opens; the document itself is still to be added."""
        return cls(key, centroids, slot, Representative(candidate.document.id, _title(candidate)))

    @property
    def last(self) -> float | None:
        """The time of its latest document."""
        return self.centroids.last(self.slot)

    # -- growing -------------------------------------------------------------------------------------------

    def add(self, candidate: StoryCandidate, time: float | None, row: Row) -> None:
        """A document has joined; its row is in the centroid already."""
        document, shown = candidate.document, self.presentation
        if self.size < N_SURFACE_DOCUMENTS:
            shown.add_surfaces(candidate.surface_forms())
            if shown.has_too_many_surfaces():
                columns, sums = self.centroids.row(self.slot)
                shown.keep_heaviest_surfaces(dict(zip(columns.tolist(), sums.tolist(), strict=True)))
        columns, weights = row
        member = Member(
            id=document.id,
            title=shown.representative.title if self.size == 0 else _title(candidate),
            ordinal=candidate.ordinal,
            time=time,
            source=shown_source(document.source) if document.source else None,
            columns=columns.copy(),
            weights=weights.astype(np.float32),
        )
        self.recent.append(member)
        if len(self.recent) > MAX_RECENT:
            del self.recent[0]
        self.unchecked += 1
        self.size += 1
        if self.size == 1:
            shown.title_size = 1
        self.activity.add(member.source, time)

    def add_duplicate(self, candidate: StoryCandidate, time: float | None) -> None:
        """The text of a document came again: it is counted, nothing is learnt."""
        source = candidate.document.source
        self.duplicates += 1
        self.activity.add(source, time)
        for member in self.recent:
            if member.id == candidate.duplicate_of:
                member.add_duplicate(source, time)
        self.centroids.add_time(self.slot, time)

    # -- two stories ---------------------------------------------------------------------------------------

    def likeness(self, other: GrowingStory) -> float:
        """How alike documents of the two stories are on average, as a part of how alike they are within each.

        Cosines of centroids would not do: long stories share the stream's everyday words, and all look alike. A story
        of one document is measured by the other.
        """
        mine, others = self._mean_cosine(), other._mean_cosine()
        within = (mine or others) * (others or mine)
        between = self.centroids.dot(self.slot, other.slot) / (self.size * other.size)
        return between / math.sqrt(within) if within > 0 else 0.0

    def _mean_cosine(self) -> float:
        """Mean cosine of two documents of this story."""
        squared_norm = self.centroids.squared_norm(self.slot)
        return (squared_norm - self.size) / (self.size * (self.size - 1)) if self.size > 1 else 0.0

    def absorb(self, other: GrowingStory) -> None:
        """Merge another story into this one."""
        self.centroids.absorb(self.slot, other.slot)
        self.size += other.size
        self.duplicates += other.duplicates
        self.recent = (other.recent + self.recent)[-MAX_RECENT:]
        self.activity.absorb(other.activity)
        self.presentation.add_surfaces(other.presentation.surfaces)
        self.presentation.outdate()
        other.status, other.merged_into = "merged", self.id

    def members_apart(self, share: float) -> list[int] | None:
        """Places in `recent` of the members that tell another story, where there are two; None where there is one.

        Two groups by spherical 2-means from the least alike pair; they are two stories when documents are less than
        `share` as alike between the groups as within them, and each has three members.
        """
        self.unchecked = 0
        indptr = np.concatenate([[0], np.cumsum([len(member.columns) for member in self.recent])])
        columns = np.concatenate([member.columns for member in self.recent])
        weights = np.concatenate([member.weights for member in self.recent])
        in_second = two_groups(products(indptr, columns, weights), share)
        if not in_second.size:
            return None
        # The larger group, or of equals the one with the oldest of the members, keeps the id.
        n, n_second = len(self.recent), in_second.sum()
        stays = in_second if n_second > n / 2 or (2 * n_second == n and in_second[0]) else ~in_second
        return np.flatnonzero(~stays).tolist()

    def split_off(self, key: int, leaving: list[int]) -> GrowingStory:
        """Give the members in these places of `recent`, and their duplicates, to a story of their own."""
        members = [self.recent[place] for place in leaving]
        slot = self.centroids.open(key)
        branch = GrowingStory(key, self.centroids, slot, _representative(members[0]))
        branch.parent, branch.recent = self.id, members
        self.recent = [member for place, member in enumerate(self.recent) if place not in leaving]
        for member in members:
            self.centroids.move(member.columns, member.weights.astype(np.float64), self.slot, slot)
        if self.presentation.representative.id in {member.id for member in members}:
            self.presentation.representative = _representative(self.recent[0])
        branch.size, branch.duplicates = len(members), sum(member.n_duplicates for member in members)
        self.size, self.duplicates = self.size - branch.size, self.duplicates - branch.duplicates
        self.presentation.outdate()
        columns = set(self.centroids.row(slot)[0].tolist())
        surfaces = self.presentation.surfaces
        branch.presentation.surfaces = {c: surface for c, surface in surfaces.items() if c in columns}
        for member in members:
            branch.activity.absorb(member.activity())
        self.activity.remove(branch.activity)
        self.centroids.add_time(slot, branch.activity.last)
        return branch

    def columns_in_use(self) -> list[Columns]:
        """The columns of its members."""
        return [member.columns for member in self.recent]

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        for member in self.recent:
            member.columns = new[member.columns].astype(np.int32)
        self.presentation.renumber(new)

    # -- what people see -----------------------------------------------------------------------------------

    @property
    def is_presentation_current(self) -> bool:
        """Whether the key terms are those of all its documents."""
        return self.presentation.terms_size == self.size

    def update_presentation(self, heaviest: Iterable[int]) -> None:
        """Choose the key terms, given the heaviest columns of the centroid, and the title where it is due."""
        self.presentation.set_key_terms(heaviest, self.size)
        if self.presentation.is_title_due(self.size):
            self.presentation.set_title(self._most_central(), self.size)

    def _most_central(self) -> Representative:
        """The recent document that is closest to the centroid as it is now."""
        centroid = self.centroids.row(self.slot)
        closeness = [product(member.columns, member.weights, *centroid) for member in self.recent]
        return _representative(self.recent[closeness.index(max(closeness))])

    def record(self, now: float | None) -> Story:
        """The story as a value."""
        activity, shown = self.activity, self.presentation
        first, last = activity.first, self.last
        first_seen = _datetime(first)
        return Story(
            id=self.id,
            title=shown.representative.title,
            first_seen=first_seen,
            last_seen=first_seen if first == last else _datetime(last),
            size=self.size,
            representative=shown.representative.id,
            sources=tuple(sorted(activity.sources)),
            duplicates=self.duplicates,
            growth=0.0 if now is None or self.status == "merged" else activity.growth(now),
            key_terms=shown.key_terms,
            status=self.status,
            parent=self.parent,
            merged_into=self.merged_into,
            hours=tuple(activity.hours.items()),
        )

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """JSON values: all but the centroid and the members. Only open stories have a state."""
        return {
            "key": self.key,
            "size": self.size,
            "duplicates": self.duplicates,
            "unchecked": self.unchecked,
            "parent": self.parent,
            "activity": self.activity.get_state(),
            "presentation": self.presentation.get_state(),
        }

    @classmethod
    def from_state(cls, state: State, centroids: Centroids, slot: int, recent: list[Member]) -> Self:
        """Undo `get_state`."""
        presentation = Presentation.from_state(state["presentation"])
        story = cls(state["key"], centroids, slot, presentation.representative)
        story.presentation = presentation
        story.activity = Activity.from_state(state["activity"])
        story.size, story.duplicates = state["size"], state["duplicates"]
        story.unchecked, story.parent = state["unchecked"], state["parent"]
        story.recent = recent
        return story


def _title(candidate: StoryCandidate) -> str:
    return display_title(candidate.document) if candidate.title is None else candidate.title


def _representative(member: Member) -> Representative:
    return Representative(member.id, member.title)


def _datetime(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, tz=UTC)

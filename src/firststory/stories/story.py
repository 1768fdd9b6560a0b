"""One story while it grows: its latest members, its activity, and the record that people see."""

from __future__ import annotations

from datetime import UTC, datetime

from firststory.arrays import Ints
from firststory.harmless import display_title
from firststory.records import Story, StoryStatus
from firststory.stories.activity import Activity
from firststory.stories.candidate import StoryCandidate
from firststory.stories.members import MAX_MEMBERS
from firststory.stories.presentation import Presentation, Representative

N_SURFACE_DOCUMENTS = 3
"""The first documents, in which it is looked up how terms read."""

KEY_TERMS_GROWTH = 1.2
"""By how much a story grows before its key terms are chosen again."""


class GrowingStory:
    """A story that documents still join.

    Attributes
    ----------
    key, id : int, str
        Its number in the order of opening, and the id that people see.
    slot : int
        Where its members are.
    size, duplicates : int
        Distinct texts, and texts that came again.
    latest : list of (int, Representative)
        Its latest members: number in the order of arrival, id and title, as many as `StoryMembers` has of it.
    """

    __slots__ = (
        "activity", "duplicates", "id", "key", "latest", "merged_into", "presentation", "reason", "size", "slot",
        "status",
    )  # fmt: skip

    def __init__(self, key: int, slot: int, representative: Representative) -> None:
        self.key = key
        self.id = f"s{key}"
        self.slot = slot
        self.size = 0
        self.duplicates = 0
        self.status: StoryStatus = "open"
        self.merged_into: str | None = None
        self.reason = ""
        self.latest: list[tuple[int, Representative]] = []
        self.activity = Activity()
        self.presentation = Presentation(representative)

    # -- growing -------------------------------------------------------------------------------------------

    def add(self, candidate: StoryCandidate, number: int, time: float | None) -> None:
        """A document has joined, the `number`-th that the tracker saw."""
        shown = self.presentation
        if self.size < N_SURFACE_DOCUMENTS:
            shown.add_surfaces(candidate.surface_forms())
        self.latest.append((number, shown.representative if self.size == 0 else representative_of(candidate)))
        if len(self.latest) > MAX_MEMBERS:
            del self.latest[0]
        self.size += 1
        if self.size == 1:
            shown.title_size = 1
        self.activity.add(candidate.document.source, time)

    def add_duplicate(self, candidate: StoryCandidate, time: float | None) -> None:
        """The text of a document came again: it is counted, nothing is learnt."""
        self.duplicates += 1
        self.activity.add(candidate.document.source, time)

    def absorb(self, other: GrowingStory, reason: str) -> None:
        """Merge another story into this one."""
        self.size += other.size
        self.duplicates += other.duplicates
        self.latest = sorted([*self.latest, *other.latest])[-MAX_MEMBERS:]
        self.activity.absorb(other.activity)
        self.presentation.add_surfaces(other.presentation.surfaces)
        self.presentation.terms_size = 0
        other.status, other.merged_into, other.reason = "merged", self.id, reason

    # -- what people see -----------------------------------------------------------------------------------

    @property
    def is_presentation_current(self) -> bool:
        """Whether the key terms are those of nearly all its documents."""
        return self.size < KEY_TERMS_GROWTH * self.presentation.terms_size

    def record(self, week_start: int | None, storyline: str | None) -> Story:
        """The story as a value; its growth is that of the week that begins with an hour."""
        activity, shown = self.activity, self.presentation
        first, last = activity.first, activity.last
        first_seen = _datetime(first)
        last_seen = first_seen if first == last else _datetime(last)
        sources = tuple(activity.sources if len(activity.sources) == 1 else sorted(activity.sources))
        growth = 0.0 if week_start is None or self.status == "merged" else activity.growth(week_start)
        # In order, for each step makes a record of every document's story: names take as long as all the rest.
        return Story(
            self.id,
            shown.representative.title,
            first_seen,
            last_seen,
            self.size,
            shown.representative.id,
            sources,
            self.duplicates,
            growth,
            shown.key_terms,
            self.status,
            self.merged_into,
            self.reason,
            storyline,
            tuple(activity.hours.items()),
        )

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        self.presentation.renumber(new)


def representative_of(candidate: StoryCandidate) -> Representative:
    """A document as one whose title a story could bear."""
    title = display_title(candidate.document) if candidate.title is None else candidate.title
    return Representative(candidate.document.id, title)


def _datetime(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

"""Stories: the documents that tell of one happening. Novel documents open stories, later ones join.

One pass over the stream. A story is the sum S of its documents' unit rows; a document joins the story, among those
of its nearest earlier documents, whose centroid is closest,

    closeness = (x . S) / |S| * (1 + days since the story's last document) ** -0.2,

if that reaches a threshold, and opens a story otherwise. The threshold is learnt from the stream: where most documents
open stories (local incidents) a document must be closer to join than where most continue one (a few great events),

    threshold = max(LEAST_THRESHOLD, join + pull * logit(recent share of documents that opened a story)),

which follows the prior odds of a new story. For short texts (headlines, posts) `short_join` takes the place of `join`:
one word in common is a good part of their likeness. A document that is much less close than the story's own documents
were (less than `cohesion` of their average) does not join: two floods share their words, not their story. At the end
of a step, two stories that are alike and that one document could have joined are merged; a story that has come to tell
of two happenings is split; one without a new document for `fade` days fades and leaves the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple, Self

import numpy as np

from firststory.arrays import Ints
from firststory.kernels.stories.layout import JoinRule
from firststory.kernels.stories.placing import join_threshold
from firststory.records import Story
from firststory.state import State
from firststory.stories.ageing import Ageing
from firststory.stories.candidate import StoryCandidate
from firststory.stories.centroids import Centroids, sorted_rows
from firststory.stories.document_stories import DocumentStories
from firststory.stories.members import members_from_state, members_state
from firststory.stories.presentation import N_KEY_TERMS
from firststory.stories.story import GrowingStory

GAP_EXPONENT = 0.2
"""Exponent with which closeness falls with the days since a story's last document."""
LEAST_THRESHOLD = 0.08
SHORT_TERMS = 12
"""The most terms that a short text has."""
CHECK_EVERY_DOCUMENTS = 8
"""Documents that must have joined before it is checked whether a story falls apart."""
BLOCK_DOCUMENTS = 256
"""Documents that are placed at once: room for the worst case is reserved for that many, however long a step is."""
MAX_STORIES_ASKED = 2000
"""Stories that are asked how a term reads: a term of the stream's topics is in one of the youngest."""
OPENING_HALF_LIFE = 500.0
"""Half-life, in documents, of the share of documents that opened a story."""
FIRST_OPENING_SHARE = 0.2


class Assignment(NamedTuple):
    """The story that a document belongs to, whether it opened it, and how close it was to the story's centroid."""

    story: str
    opened: bool
    closeness: float


class StoryChanges(NamedTuple):
    """What a step did to the stories."""

    stories: tuple[Story, ...]
    """The stories that were opened or changed."""
    moved: dict[str, str]
    """Documents that a split gave to another story, with its id; their duplicates moved with them.

    The documents of a merged story now belong to the story that it was merged into, and are not named here.
    """


class StoryTracker:
    """Follows stories through a stream, in bounded memory.

    Use it where each document has a row of unit length and the ordinals of its nearest earlier documents, as the
    pipeline has. Do not use it to compare documents far apart in the stream: a story is found through neighbours that
    are still remembered.

    Parameters
    ----------
    join : float, default=0.16
        How close to a story's centroid a document must be to join it, where every second document opens a story.
    pull : float, default=0.03
        How much the threshold follows the share of documents that open stories.
    merge : float, default=0.4
        How alike the documents of two linked stories must be, as a part of how alike they are within each, for the
        stories to become one.
    split : float, default=0.25
        A story falls apart when its recent documents form two groups that are less than this part as alike between
        them as within.
    fade : float, default=30.0
        Days without a new document after which a story fades.
    max_stories : int, default=5000
        Stories in memory; the ones that were quiet longest fade first.
    window : int, default=20000
        Documents whose story is remembered.
    cohesion : float, default=0.35
        The part of a story's usual closeness that a document must reach to join it.
    short_join : float, default=0.36
        What `join` is for texts of at most 12 terms.

    Examples
    --------
    >>> from firststory.records import Document
    >>> tracker = StoryTracker()
    >>> row = np.array([0, 1]), np.array([0.6, 0.8])
    >>> first = StoryCandidate(Document(id="a", text="Flood in Bremen"), *row, ordinal=0)
    >>> second = StoryCandidate(Document(id="b", text="Bremen flood grows"), *row, ordinal=1, neighbours=[0])
    >>> [assigned.opened for assigned in tracker.assign([first, second])]
    [True, False]
    >>> [(story.title, story.size) for story in tracker.end_step().stories]
    [('Flood in Bremen', 2)]
    """

    def __init__(
        self,
        join: float = 0.16,
        pull: float = 0.03,
        merge: float = 0.4,
        split: float = 0.25,
        fade: float = 30.0,
        max_stories: int = 5000,
        window: int = 20_000,
        cohesion: float = 0.35,
        short_join: float = 0.36,
    ) -> None:
        self.join = join
        self.pull = pull
        self.merge = merge
        self.split = split
        self.fade = fade
        self.max_stories = int(max_stories)
        self.window = int(window)
        self.cohesion = cohesion
        self.short_join = short_join
        self._centroids = Centroids()
        self._documents = DocumentStories(self.window)
        self._ageing = Ageing()
        self._open: dict[int, GrowingStory] = {}
        self._changed: dict[int, GrowingStory] = {}
        """Stories that were opened or changed in this step, also those that are no longer open."""
        self._linked: set[tuple[int, int]] = set()
        """Pairs of stories, the older first, that one document of this step could have joined."""
        self._moved: dict[str, str] = {}
        """Documents that a split has moved in this step, with the id of their story."""
        self._next_key = 1
        self._opening_share = FIRST_OPENING_SHARE
        self._now: float | None = None
        """The latest time of a document."""

    # -- one step ------------------------------------------------------------------------------------------

    def assign(self, candidates: Sequence[StoryCandidate]) -> list[Assignment]:
        """Give every document of a step its story, one after the other."""
        assigned: list[Assignment] = []
        waiting: list[StoryCandidate] = []
        for candidate in candidates:
            original = candidate.duplicate_of
            if len(waiting) == BLOCK_DOCUMENTS or original is not None:
                assigned += self._join_or_open(waiting)
                waiting = []
            story = None if original is None else self._open.get(self._documents.key_of(original))
            if story is None:
                waiting.append(candidate)
            else:
                assigned.append(self._add_duplicate(candidate, story))
        return assigned + self._join_or_open(waiting)

    def end_step(self) -> StoryChanges:
        """Merge, split and fade; what has changed since the last call."""
        self._merge_linked()
        self._split_apart()
        self._fade_quiet()
        changed = [self._changed[key] for key in sorted(self._changed)]
        changes = StoryChanges(self._records(changed), self._moved)
        for story in changed:
            if story.status != "open":
                self._centroids.release(story.slot)
        self._changed, self._moved = {}, {}
        return changes

    # -- joining -------------------------------------------------------------------------------------------

    def _join_or_open(self, candidates: Sequence[StoryCandidate]) -> list[Assignment]:
        """Let documents one after the other join a story or open one."""
        if not candidates:
            return []
        rows = sorted_rows([(candidate.columns, candidate.weights) for candidate in candidates])
        times = [candidate.time_in_seconds() for candidate in candidates]
        self._advance(times)
        placed = self._centroids.place(
            rows,
            self._candidate_slots(candidates),
            np.array(times, dtype=np.float64),
            self._join_rule(),
            self._opening_share,
            self._next_key,
        )
        self._opening_share = placed.opening_share
        assigned = []
        for candidate, row, time, key, slot, other, closeness in zip(
            candidates, rows, times, placed.keys, placed.slots, placed.runners_up, placed.closeness, strict=True
        ):
            story = self._open.get(key)
            opened = story is None
            if story is None:
                story = self._keep_open(GrowingStory.open(key, self._centroids, slot, candidate))
            elif other >= 0:
                self._linked.add((min(key, other), max(key, other)))
            story.add(candidate, time, row)
            assigned.append(self._remember(candidate, story, opened=opened, closeness=closeness))
        return assigned

    def _add_duplicate(self, candidate: StoryCandidate, story: GrowingStory) -> Assignment:
        """The text of a document of this story came again."""
        time = candidate.time_in_seconds()
        self._advance([time])
        story.add_duplicate(candidate, time)
        return self._remember(candidate, story, opened=False, closeness=1.0)

    def _candidate_slots(self, candidates: Sequence[StoryCandidate]) -> Ints:
        """For each document the slots of its neighbours' stories; -2 - j for a neighbour that is the j-th of these."""
        most = max([len(candidate.neighbours) for candidate in candidates])
        neighbours = np.full((len(candidates), most), -1, dtype=np.int64)
        for row, candidate in zip(neighbours, candidates, strict=True):
            row[: len(candidate.neighbours)] = candidate.neighbours
        slots = self._documents.look_up(neighbours, self._slot_of)
        here = {candidate.ordinal: j for j, candidate in enumerate(candidates) if candidate.ordinal >= 0}
        if here:
            for i, place in zip(*(axis.tolist() for axis in np.nonzero(neighbours >= min(here))), strict=True):
                j = here.get(int(neighbours[i, place]), i)
                slots[i, place] = -2 - j if j < i else slots[i, place]
        return slots

    def _slot_of(self, key: int) -> int:
        story = self._open.get(key)
        return -1 if story is None else story.slot

    def _advance(self, times: Iterable[float | None]) -> None:
        self._now = max((time for time in (self._now, *times) if time is not None), default=None)

    def _keep_open(self, story: GrowingStory) -> GrowingStory:
        self._next_key = story.key + 1
        self._open[story.key] = story
        return story

    def _remember(
        self, candidate: StoryCandidate, story: GrowingStory, *, opened: bool, closeness: float
    ) -> Assignment:
        self._documents.add(candidate.document.id, candidate.ordinal, story.key)
        self._ageing.touch(story.key, story.last)
        self._changed[story.key] = story
        return Assignment(story.id, opened, round(closeness, 6))

    def join_threshold(self, *, short: bool = False) -> float:
        """How close a document must be to join, at present."""
        join = self.short_join if short else self.join
        return float(join_threshold(self._opening_share, float(join), float(self.pull), LEAST_THRESHOLD))

    def _join_rule(self) -> JoinRule:
        return JoinRule(
            join=float(self.join),
            short_join=float(self.short_join),
            short_terms=SHORT_TERMS,
            pull=float(self.pull),
            least_threshold=LEAST_THRESHOLD,
            cohesion=float(self.cohesion),
            gap_exponent=GAP_EXPONENT,
            opening_decay=0.5 ** (1.0 / OPENING_HALF_LIFE),
        )

    # -- the end of a step ---------------------------------------------------------------------------------

    def _merge_linked(self) -> None:
        for keys in sorted(self._linked):
            older, younger = (self._open.get(key) for key in keys)
            if older is not None and younger is not None and older.likeness(younger) >= self.merge:
                older.absorb(younger)
                self._documents.merge(younger.key, into=older.key)
                self._ageing.merge(younger.key, into=older.key)
                del self._open[younger.key]
                self._changed[older.key], self._changed[younger.key] = older, younger
        self._linked.clear()

    def _split_apart(self) -> None:
        for key in sorted(self._changed):
            story = self._changed[key]
            if story.status != "open" or min(story.unchecked, len(story.recent)) < CHECK_EVERY_DOCUMENTS:
                continue
            leaving = story.members_apart(self.split)
            if leaving is None:
                continue
            branch = self._keep_open(story.split_off(self._next_key, leaving))
            self._changed[branch.key] = branch
            self._ageing.branch(branch.key, parent=key, last=branch.last)
            for member in branch.recent:
                self._documents.move(member.id, member.ordinal, branch.key)
                self._moved[member.id] = branch.id

    def _fade_quiet(self) -> None:
        for key in self._ageing.pop_quiet(self._now, self.fade, self.max_stories):
            story = self._open.pop(key)
            story.status = "faded"
            self._changed[key] = story

    # -- what people see -----------------------------------------------------------------------------------

    def stories(self) -> tuple[Story, ...]:
        """All stories in memory, in the order of their opening."""
        return self._records([self._open[key] for key in sorted(self._open)])

    def story_of(self, document_id: str) -> str | None:
        """The id of a document's story, while both are remembered."""
        story = self._open.get(self._documents.key_of(document_id))
        return None if story is None else story.id

    def surface_of(self, column: int) -> str | None:
        """How a term reads in the first documents of the youngest story that has it; None where that is not known."""
        for story in islice(reversed(self._open.values()), MAX_STORIES_ASKED):
            surface = story.presentation.surfaces.get(column)
            if surface is not None:
                return surface
        return None

    def _records(self, stories: Sequence[GrowingStory]) -> tuple[Story, ...]:
        outdated = [story for story in stories if not story.is_presentation_current]
        # More than are shown: of some it is not known how they read.
        heaviest = self._centroids.heaviest([story.slot for story in outdated], 4 * N_KEY_TERMS)
        for story, columns in zip(outdated, heaviest, strict=True):
            story.update_presentation(columns)
        return tuple([story.record(self._now) for story in stories])

    # -- the vocabulary ------------------------------------------------------------------------------------

    def columns_in_use(self) -> Ints:
        """The columns that a story or one of its members has. Call it between steps, after `end_step`."""
        rows = [columns for story in self._open.values() for columns in story.columns_in_use()]
        return np.unique(np.concatenate([self._centroids.columns_in_use(), *rows])).astype(np.int64)

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        self._centroids.renumber(new)
        for story in self._open.values():
            story.renumber(new)

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """All that the future depends on. Call it between steps, after `end_step`."""
        stories = [self._open[key] for key in sorted(self._open)]
        return {
            "params": {
                "join": self.join,
                "pull": self.pull,
                "merge": self.merge,
                "split": self.split,
                "fade": self.fade,
                "max_stories": self.max_stories,
                "window": self.window,
                "cohesion": self.cohesion,
                "short_join": self.short_join,
            },
            "next_key": self._next_key,
            "opening_share": self._opening_share,
            "now": self._now,
            "centroids": self._centroids.get_state(),
            "documents": self._documents.get_state(),
            "ageing": self._ageing.get_state(),
            "stories": [story.get_state() for story in stories],
            "members": members_state({story.key: story.recent for story in stories}),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        tracker = cls(**state["params"])
        tracker._next_key = state["next_key"]
        tracker._opening_share = state["opening_share"]
        tracker._now = state["now"]
        tracker._centroids = Centroids.from_state(state["centroids"])
        tracker._documents = DocumentStories.from_state(state["documents"])
        tracker._ageing = Ageing.from_state(state["ageing"])
        members = members_from_state(state["members"])
        slots = tracker._centroids.slot_of_key()
        for plain in state["stories"]:
            key = plain["key"]
            recent = members.get(key, [])
            tracker._open[key] = GrowingStory.from_state(plain, tracker._centroids, slots[key], recent)
        return tracker

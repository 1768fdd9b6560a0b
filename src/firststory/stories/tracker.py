"""Stories: the documents that tell of one happening. Novel documents open stories, later ones join.

One pass over the stream. A story is the sum S of its documents' unit rows; a document joins the story, among those
of its nearest earlier documents, whose centroid is closest,

    closeness = (x . S) / |S| * (1 + days since the story's last document) ** -0.2,

if that exceeds a bar, and opens a story otherwise. The bar is learnt from the stream: where most documents open
stories (local incidents) a document must be closer to join than where most continue one (a few great events),

    bar = max(MIN_BAR, join + pull * logit(recent share of documents that opened a story)),

which is the prior odds of a new story in a Bayesian's hands. For short texts (headlines, posts) `short_join` takes the
place of `join`: one word in common is a good part of their likeness. A document that is much less close than the
story's own documents were (less than `cohesion` of their average) does not join: two floods share their words, not
their story. At the end of a step, stories that a document could have joined both and that are alike are merged; a
story that has come to tell of two happenings is split; one that nobody has added to for `fade` days fades and leaves
the memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from firststory.kernels.stories.placing import bar_now
from firststory.records import Story
from firststory.stories.arrival import Arrival
from firststory.stories.centroids import Centroids, sorted_rows
from firststory.stories.quiet import QuietFirst
from firststory.stories.recent_keys import RecentKeys
from firststory.stories.story import N_KEY_TERMS, StoryRecord
from firststory.units import DAY_SECONDS

LINGER = 0.2
"""Exponent with which a story's pull falls with the days since its last document."""
MIN_BAR = 0.08
SHORT_ROW = 12
"""Terms of a text that is still short."""
CHECK_EVERY = 8
"""Documents that must have joined before a story is looked at for falling apart."""
BLOCK = 256
"""Documents that are placed at once: room for the worst case is kept for so many, however long a step is."""
MOST_ASKED = 2000
"""Stories that are asked how a term reads: a term of the stream's themes is in one of the youngest."""
OPENING_MEMORY = 500.0
"""Half-life, in documents, of the share of documents that opened a story."""


class Assignment(NamedTuple):
    """The story that a document belongs to, whether it opened it, and how close it was to the story's centroid."""

    story: str
    opened: bool
    closeness: float


class StoryTracker:
    """Follows stories through a stream, in bounded memory.

    Parameters
    ----------
    join : float, default=0.16
        How close to a story's centroid a document must be to join it, where every second document opens a story.
    pull : float, default=0.03
        How much the bar follows the share of documents that open stories.
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
    >>> first = Arrival(Document(id="a", text="Flood in Bremen"), *row, ordinal=0)
    >>> second = Arrival(Document(id="b", text="Bremen flood grows"), *row, ordinal=1, neighbours=[0])
    >>> [assigned.opened for assigned in tracker.assign([first, second])]
    [True, False]
    >>> [(story.title, story.size) for story in tracker.changed()]
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
        self._open: dict[int, StoryRecord] = {}
        self._in_slot: dict[int, StoryRecord] = {}
        """The open stories by the slot of their centroid."""
        self._retired: list[StoryRecord] = []
        """Stories that left in this step; their slots are needed until their last record is made."""
        self._story_of: OrderedDict[str, int] = OrderedDict()
        self._by_ordinal = RecentKeys(self.window)
        """The story of each recent document, by its number in the stream."""
        self._linked: set[tuple[int, int]] = set()
        """Pairs of stories that a document of this step could have joined both."""
        self._next = 1
        self._documents = 0
        self._opening = 0.2
        self._clock: float | None = None
        self._changed: dict[int, StoryRecord] = {}
        self._merged: dict[int, int] = {}
        """Stories that went up in another since `_story_of` was last brought up to date."""
        self._timeless: set[int] = set()
        """Open stories that have no time yet."""
        self._by_time = QuietFirst()
        self._by_turn = QuietFirst()

    # -- one step ------------------------------------------------------------------------------------------

    def assign(self, arrivals: Sequence[Arrival]) -> list[Assignment]:
        """Give every document of a step its story, one after the other."""
        assigned: list[Assignment] = []
        waiting: list[Arrival] = []
        for arrival in arrivals:
            first = arrival.duplicate_of
            if len(waiting) == BLOCK or first is not None:
                assigned += self._place(waiting)
                waiting = []
            story = None if first is None else self._story(first)
            if story is None:
                waiting.append(arrival)
            else:
                assigned.append(self._repost(arrival, story))
        return assigned + self._place(waiting)

    def changed(self) -> tuple[Story, ...]:
        """End the step (merge, split, fade) and give the stories that were opened or changed since the last call."""
        self._merge_linked()
        self._split_apart()
        self._fade()
        changed = self._records([self._changed[key] for key in sorted(self._changed)])
        self._changed = {}
        for story in self._retired:
            self._centroids.end(story.slot)
        self._retired = []
        return changed

    def stories(self) -> tuple[Story, ...]:
        """All stories in memory, in the order of their opening."""
        return self._records([self._open[key] for key in sorted(self._open)])

    def _records(self, stories: Sequence[StoryRecord]) -> tuple[Story, ...]:
        untold = [story for story in stories if not story.is_told]
        heaviest = self._centroids.heaviest([story.slot for story in untold], 4 * N_KEY_TERMS)
        for story, columns in zip(untold, heaviest, strict=True):
            story.tell(columns)
        return tuple([story.record(self._clock) for story in stories])

    def story_of(self, document: str) -> str | None:
        """The story of a document, while both are remembered."""
        story = self._story(document)
        return None if story is None else story.name

    def _follow_merged(self) -> None:
        """Let every document point at the story that its own went up in."""
        if self._merged:
            for name, key in self._story_of.items():
                self._story_of[name] = self._now(key)
            self._by_ordinal.rename(self._now)
            self._merged = {}

    def _now(self, key: int) -> int:
        """The story that this one went up in, and so on."""
        while key in self._merged:
            key = self._merged[key]
        return key

    # -- joining -------------------------------------------------------------------------------------------

    def _place(self, arrivals: Sequence[Arrival]) -> list[Assignment]:
        """Documents one after the other, each to the story it joins or opens."""
        if not arrivals:
            return []
        rows = sorted_rows([(arrival.columns, arrival.weights) for arrival in arrivals])
        times = [arrival.when() for arrival in arrivals]
        timed = [time for time in times if time is not None]
        if timed:
            self._clock = max(timed) if self._clock is None else max(self._clock, *timed)
        slots, seconds, ranks, _, self._opening = self._centroids.place(
            rows, self._near(arrivals), np.array(times, dtype=np.float64), self._knobs(), self._opening, self._next
        )
        assigned = []
        for arrival, row, time, slot, second, rank in zip(arrivals, rows, times, slots, seconds, ranks, strict=True):
            story = self._in_slot.get(slot)
            opened = story is None
            if story is None:
                story = self._opened(StoryRecord(self._next, self._centroids, slot))
            elif second >= 0:
                other = self._in_slot[second].key
                self._linked.add((min(story.key, other), max(story.key, other)))
            story.add(arrival, time, row)
            assigned.append(self._remember(arrival, story, opened=opened, closeness=rank))
        return assigned

    def _opened(self, story: StoryRecord) -> StoryRecord:
        self._next = max(self._next, story.key + 1)
        self._open[story.key] = self._in_slot[story.slot] = story
        return story

    def _repost(self, arrival: Arrival, story: StoryRecord) -> Assignment:
        """The text of a document of this story once more."""
        time = arrival.when()
        if time is not None:
            self._clock = time if self._clock is None else max(self._clock, time)
        story.repost(arrival.document, time)
        return self._remember(arrival, story, opened=False, closeness=1.0)

    def _near(self, arrivals: Sequence[Arrival]) -> NDArray[np.int64]:
        """For each document the slots of its neighbours' stories; -2 - j for a neighbour that is the j-th of these."""
        most = max([len(arrival.neighbours) for arrival in arrivals])
        near = np.full((len(arrivals), most), -1, dtype=np.int64)
        for row, arrival in zip(near, arrivals, strict=True):
            row[: len(arrival.neighbours)] = arrival.neighbours
        keys, where = np.unique(self._by_ordinal.get(near), return_inverse=True)
        slots = [story.slot if (story := self._open.get(self._now(key))) else -1 for key in keys.tolist()]
        found = np.array(slots, dtype=np.int64)[where.reshape(near.shape)]
        here = {arrival.ordinal: j for j, arrival in enumerate(arrivals) if arrival.ordinal >= 0}
        if here:
            for i, place in zip(*(axis.tolist() for axis in np.nonzero(near >= min(here))), strict=True):
                j = here.get(int(near[i, place]), i)
                found[i, place] = -2 - j if j < i else found[i, place]
        return found

    def _story(self, document: str) -> StoryRecord | None:
        """The open story of a document."""
        return self._open.get(self._now(self._story_of.get(document, -1)))

    def bar(self, *, short: bool = False) -> float:
        """How close a document must be to join, at present."""
        return float(bar_now(self._opening, self.short_join if short else self.join, self.pull, MIN_BAR))

    def _knobs(self) -> NDArray[np.float64]:
        fade = 0.5 ** (1.0 / OPENING_MEMORY)
        return np.array([self.join, self.short_join, self.pull, MIN_BAR, self.cohesion, LINGER, fade, SHORT_ROW])

    def _remember(self, arrival: Arrival, story: StoryRecord, *, opened: bool, closeness: float) -> Assignment:
        key, name = story.key, arrival.document.id
        self._by_ordinal.set(arrival.ordinal, key)
        self._story_of[name] = key
        self._story_of.move_to_end(name)
        if len(self._story_of) > self.window:
            self._story_of.popitem(last=False)
        self._changed[key] = story
        self._documents += 1
        story.touched = self._documents
        if opened:
            self._watch(story)
        elif key in self._timeless and story.last is not None:
            self._timeless.discard(key)
            self._by_time.add(story.last, key)
        return Assignment(story.name, opened, round(closeness, 6))

    def _watch(self, story: StoryRecord) -> None:
        """From now on the story may fade."""
        self._by_turn.add(story.touched, story.key)
        if story.last is None:
            self._timeless.add(story.key)
        else:
            self._by_time.add(story.last, story.key)

    # -- the end of a step ---------------------------------------------------------------------------------

    def _merge_linked(self) -> None:
        for pair in sorted(self._linked):
            older, younger = (self._open.get(key) for key in pair)
            if older is not None and younger is not None and older.alike(younger) >= self.merge:
                older.absorb(younger)
                younger.status, younger.merged_into = "merged", older.name
                self._retire([pair[1]])
                self._merged[pair[1]] = pair[0]
                self._changed[pair[0]], self._changed[pair[1]] = older, younger
        self._linked.clear()

    def _split_apart(self) -> None:
        for key in sorted(self._changed):
            story = self._changed[key]
            if key not in self._open or story.unchecked < CHECK_EVERY or len(story.recent) < CHECK_EVERY:
                continue
            leaving = story.fall_apart(self.split)
            if leaving is None:
                continue
            branch = self._opened(StoryRecord(self._next, self._centroids))
            branch.parent = story.name
            story.branch_off(branch, leaving)
            self._changed[branch.key] = branch
            branch.touched = story.touched
            self._watch(branch)
            for name, _, ordinal, _, _ in branch.recent:
                self._by_ordinal.replace(ordinal, branch.key)
                if name in self._story_of:
                    self._story_of[name] = branch.key

    def _fade(self) -> None:
        quiet: list[int] = []
        if self._clock is not None:
            quiet = self._by_time.before(self._clock - self.fade * DAY_SECONDS, self._last)
        crowd = len(self._open) - len(quiet) - self.max_stories
        if crowd > 0:
            quiet += self._by_turn.first(crowd, self._turn, without=set(quiet))
        for key in quiet:
            self._open[key].status = "faded"
            self._changed[key] = self._open[key]
        self._retire(quiet)
        if len(self._merged) > 1000:
            self._follow_merged()

    def _last(self, key: int) -> float | None:
        return self._open[key].last if key in self._open else None

    def _turn(self, key: int) -> float | None:
        return self._open[key].touched if key in self._open else None

    def _retire(self, keys: Iterable[int]) -> None:
        for key in keys:
            story = self._open.pop(key)
            del self._in_slot[story.slot]
            self._retired.append(story)
            self._timeless.discard(key)

    def reads(self, column: int) -> str | None:
        """How a term reads in the first documents of a story, the youngest that has it; None where none is known."""
        for story in islice(reversed(self._open.values()), MOST_ASKED):
            surface = story.surfaces.get(column)
            if surface is not None:
                return surface
        return None

    def columns_in_use(self) -> NDArray[np.int64]:
        """The columns that a story or one of its remembered documents has. Call it between steps, after `changed`."""
        rows = [columns for story in self._open.values() for columns in story.columns_in_use()]
        return np.unique(np.concatenate([self._centroids.columns_in_use(), *rows])).astype(np.int64)

    def renumber(self, new: NDArray[np.int64]) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        self._centroids.renumber(new)
        for story in self._open.values():
            story.renumber(new)

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Everything, as a flat dict of arrays and JSON values. Call it between steps, after `changed`."""
        self._follow_merged()
        state: dict[str, Any] = {
            "params": [
                self.join,
                self.pull,
                self.merge,
                self.split,
                self.fade,
                self.max_stories,
                self.window,
                self.cohesion,
                self.short_join,
            ],
            "next": self._next,
            "seen": self._documents,
            "opening": self._opening,
            "clock": self._clock,
            "documents": list(self._story_of),
            "document_stories": np.array(list(self._story_of.values()), dtype=np.int64),
            **self._by_ordinal.get_state(),
            "stories": [story.as_json() for _, story in sorted(self._open.items())],
        }
        rows = [story.rows() for _, story in sorted(self._open.items())]
        flat = [row for group in rows for row in group]
        state["rows.counts"] = np.array([len(group) for group in rows], dtype=np.int64)
        state["rows.sizes"] = np.array([len(columns) for columns, _ in flat], dtype=np.int64)
        state["rows.columns"] = np.concatenate([columns for columns, _ in flat] or [np.empty(0, np.int32)])
        state["rows.weights"] = np.concatenate([weights.astype(np.float64) for _, weights in flat] or [np.empty(0)])
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        tracker = cls(*state["params"])
        tracker._next = state["next"]
        tracker._documents = state["seen"]
        tracker._opening = state["opening"]
        tracker._clock = state["clock"]
        tracker._story_of = OrderedDict(
            zip(state["documents"], (int(key) for key in state["document_stories"]), strict=True)
        )
        tracker._by_ordinal.set_state(state)
        cuts = np.cumsum(state["rows.sizes"])[:-1]
        rows = list(zip(np.split(state["rows.columns"], cuts), np.split(state["rows.weights"], cuts), strict=True))
        ends = np.cumsum(state["rows.counts"]).tolist()
        for plain, start, end in zip(state["stories"], [0, *ends], ends, strict=False):
            story = StoryRecord.from_json(plain, rows[start:end], tracker._centroids)
            tracker._open[story.key] = tracker._in_slot[story.slot] = story
            tracker._watch(story)
        return tracker

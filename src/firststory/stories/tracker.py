"""Stories: a story is one happening. Novel documents open stories, later ones join; see `rule` for when.

One pass over the stream, in bounded memory. At the end of a step stories that turn out to be one are merged, and the
larger one keeps its id. A story without a new document for `fade` days fades and leaves the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np

from firststory.arrays import Ints
from firststory.growth import first_hour
from firststory.headlines import report_weight
from firststory.records import Story, Storyline
from firststory.state import State
from firststory.stories.ageing import Ageing
from firststory.stories.arrivals import rows_of, vectors_of
from firststory.stories.candidate import StoryCandidate
from firststory.stories.document_stories import DocumentStories
from firststory.stories.formats import TitleFormats
from firststory.stories.members import Merge, StoryMembers
from firststory.stories.presentation import MAX_SURFACES, N_KEY_TERMS
from firststory.stories.rule import join_rule
from firststory.stories.saved_stories import restored_stories, saved_stories
from firststory.stories.story import GrowingStory, representative_of
from firststory.stories.storylines import StorylineRows, Storylines

FORMAT_DISCOUNT = 0.7
"""A title that begins like many others must fit the story that much better to be chosen."""
N_TITLES_FOR_NAMES = 4
"""The latest titles, in which it is looked up which key terms are one name."""
BLOCK_DOCUMENTS = 256
"""Documents that are placed at once: room for the worst case is reserved for that many, however long a step is."""
KEY_BITS = 31
"""Of a story's number."""
STORYLINES_PER_STORY = 4
"""In memory, for each story that may be: they are kept longer."""
MAX_STORIES_ASKED = 500
"""The youngest stories, in which it is looked up how a term reads."""


class Assignment(NamedTuple):
    """Where a document went."""

    story: str
    opened: bool
    closeness: float
    """The probability that it belongs to the story it came closest to, by the log-odds; 0 where it came to none."""


class StoryChanges(NamedTuple):
    """What a step opened or changed."""

    stories: tuple[Story, ...]
    storylines: tuple[Storyline, ...]


class StoryTracker:
    """Puts every document into a story: `assign` for the documents of a step, then `end_step`.

    The rule is that of `firststory.stories.rule`. Ids are stable (s1, s2, ...): a story that turns out to be part of
    another is merged into the larger one, and says so and why.

    Use it where each document has a row of unit length and the ordinals of its nearest earlier documents, as the
    pipeline has. Do not use it to find all that is told on a subject: a story is one happening, and what happens next
    is another.

    Parameters
    ----------
    threshold : float, default=-0.5
        The log-odds from which on a long text joins a story.
    short_threshold : float, default=-0.1
        The same for short texts, where every document opens a story.
    pull : float, default=1.2
        How much `short_threshold` falls with the logarithm of the share of documents that open stories.
    age : float, default=0.5
        How much more old stories ask for.
    merge : float, default=0.9
        How alike the members of two linked stories of long texts must be, as a part of how alike they are within each,
        for the stories to become one.
    short_merge : float, default=0.55
        The same for short texts.
    fade : float, default=60.0
        Days without a new document after which a story fades.
    max_stories : int, default=5000
        Stories in memory; the ones that were quiet longest fade first.
    window : int, default=20000
        Documents whose story is remembered.

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
        threshold: float = -0.5,
        short_threshold: float = -0.1,
        pull: float = 1.2,
        age: float = 0.5,
        merge: float = 0.9,
        short_merge: float = 0.55,
        fade: float = 60.0,
        max_stories: int = 5000,
        window: int = 20_000,
    ) -> None:
        self.threshold = threshold
        self.short_threshold = short_threshold
        self.pull = pull
        self.age = age
        self.merge = merge
        self.short_merge = short_merge
        self.fade = fade
        self.max_stories = int(max_stories)
        self.window = int(window)
        self._rule = join_rule(
            threshold=threshold,
            short_threshold=short_threshold,
            pull=pull,
            age=age,
            merge=merge,
            short_merge=short_merge,
            fade=fade,
        )
        self._members = StoryMembers()
        self._documents = DocumentStories(self.window)
        self._ageing = Ageing()
        self._formats = TitleFormats()
        self._lines = Storylines(max_storylines=STORYLINES_PER_STORY * self.max_stories)
        self._merged: list[tuple[int, int]] = []
        """Stories that were merged in this step, with the one that each went into."""
        self._open: dict[int, GrowingStory] = {}
        self._changed: dict[int, GrowingStory] = {}
        """Stories that were opened or changed in this step, also those that are no longer open."""
        self._linked: list[Ints] = []
        """Pairs of stories (keys, the older first) that a document of this step links."""
        self._next_key = 1
        self._now: float | None = None
        """The latest time of a document."""

    def _params(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "short_threshold": self.short_threshold,
            "pull": self.pull,
            "age": self.age,
            "merge": self.merge,
            "short_merge": self.short_merge,
            "fade": self.fade,
            "max_stories": self.max_stories,
            "window": self.window,
        }

    def join_threshold(self, n_terms: int) -> float:
        """The log-odds that a text of so many terms must reach to join, at present."""
        return self._members.threshold_for(n_terms, self._rule)

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
        """Merge and fade; what has changed since the last call."""
        self._merge_linked()
        faded = self._fade_quiet()
        for key in self._lines.end_step(self._merged, faded):
            if key in self._open:
                self._changed[key] = self._open[key]
        changed = [self._changed[key] for key in sorted(self._changed)]
        records = self._records(changed)
        storylines = self._lines.records({story.key: record for story, record in zip(changed, records, strict=True)})
        changes = StoryChanges(records, storylines)
        self._members.release([story.slot for story in changed if story.status != "open"])
        self._changed, self._merged = {}, []
        return changes

    # -- joining -------------------------------------------------------------------------------------------

    def _join_or_open(self, candidates: Sequence[StoryCandidate]) -> list[Assignment]:
        """Let documents one after the other join a story or open one."""
        if not candidates:
            return []
        times = [candidate.time_in_seconds() for candidate in candidates]
        self._advance(times)
        first = self._members.n_seen
        rows, vectors, seconds = rows_of(candidates), vectors_of(candidates), np.array(times, dtype=np.float64)
        placed = self._members.place(
            rows,
            seconds,
            vectors,
            self._candidate_slots(candidates),
            self._rule,
            self._next_key,
        )
        keys = self._members.keys(placed.slot)
        self._link(keys, placed.linked)
        self._lines.add(StorylineRows(keys, rows.indptr, rows.columns, rows.counts, rows.weights, vectors, seconds))
        ordinals = np.array([candidate.ordinal for candidate in candidates], dtype=np.int64)
        self._documents.add_all([candidate.document.id for candidate in candidates], ordinals, keys)
        closeness = (1.0 / (1.0 + np.exp(-placed.odds))).tolist()
        assigned = []
        for i, (candidate, key, slot) in enumerate(zip(candidates, keys.tolist(), placed.slot.tolist(), strict=True)):
            story = self._open.get(key)
            opened = story is None
            if story is None:
                representative = representative_of(candidate)
                story = self._open[key] = GrowingStory(key, slot, representative)
                self._formats.note_opening(representative.title)
                self._next_key = key + 1
            story.add(candidate, first + i, times[i])
            self._touch(story)
            assigned.append(Assignment(story.id, opened, round(closeness[i], 6)))
        return assigned

    def _link(self, keys: Ints, linked: Ints) -> None:
        """Remember which stories the documents that went to the stories of these keys link."""
        rows, _ = np.nonzero(linked >= 0)
        pairs = np.stack([keys[rows], self._members.keys(linked[linked >= 0])], axis=1)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        self._linked.append(np.sort(pairs, axis=1))

    def _add_duplicate(self, candidate: StoryCandidate, story: GrowingStory) -> Assignment:
        """The text of a document of this story came again."""
        time = candidate.time_in_seconds()
        self._advance([time])
        story.add_duplicate(candidate, time)
        self._members.add_time(story.slot, time)
        self._documents.add(candidate.document.id, candidate.ordinal, story.key)
        self._touch(story)
        return Assignment(story.id, opened=False, closeness=1.0)

    def _candidate_slots(self, candidates: Sequence[StoryCandidate]) -> Ints:
        """For each document the slots of its neighbours' stories; -2 - j for a neighbour that is the j-th of these."""
        lengths = {len(candidate.neighbours) for candidate in candidates}
        if len(lengths) == 1:  # as detectors give them
            neighbours = np.array([candidate.neighbours for candidate in candidates], dtype=np.int64)
        else:
            neighbours = np.full((len(candidates), max(lengths)), -1, dtype=np.int64)
            for row, candidate in zip(neighbours, candidates, strict=True):
                row[: len(candidate.neighbours)] = candidate.neighbours
        slots = self._documents.look_up(neighbours, self._slots_of)
        here = {candidate.ordinal: j for j, candidate in enumerate(candidates) if candidate.ordinal >= 0}
        if here:
            rows, places = np.nonzero(neighbours >= min(here))
            ordinals = neighbours[rows, places].tolist()
            for i, place, ordinal in zip(rows.tolist(), places.tolist(), ordinals, strict=True):
                j = here.get(ordinal, i)
                if j < i:
                    slots[i, place] = -2 - j
        return slots

    def _slots_of(self, keys: Iterable[int]) -> list[int]:
        """The slots of stories; -1 for one that is not open."""
        story_of = self._open.get
        return [-1 if (story := story_of(key)) is None else story.slot for key in keys]

    def _advance(self, times: Iterable[float | None]) -> None:
        self._now = max([time for time in (self._now, *times) if time is not None], default=None)

    def _touch(self, story: GrowingStory) -> None:
        """A document has come to a story."""
        self._ageing.touch(story.key, story.activity.last)
        self._changed[story.key] = story

    # -- the end of a step ---------------------------------------------------------------------------------

    def _merge_linked(self) -> None:
        linked = np.concatenate(self._linked or [np.empty((0, 2), np.int64)])
        self._linked = []
        if not len(linked):
            return
        # A pair as one number sorts as the pair does, and much quicker.
        pairs = np.array(sorted(set((linked[:, 0] << KEY_BITS | linked[:, 1]).tolist())), dtype=np.int64)
        keys = np.stack([pairs >> KEY_BITS, pairs & ((1 << KEY_BITS) - 1)], axis=1)
        slots = np.array(self._slots_of(keys.ravel().tolist()), dtype=np.int64).reshape(-1, 2)
        for merge in self._members.repair(slots, self._rule):
            into, gone = self._open[merge.into], self._open.pop(merge.key)
            into.absorb(gone, _in_words(merge))
            self._documents.merge(gone.key, into=into.key)
            self._ageing.merge(gone.key, into=into.key)
            self._changed[into.key], self._changed[gone.key] = into, gone
            self._merged.append((gone.key, into.key))

    def _fade_quiet(self) -> list[int]:
        """Close the stories that were quiet for long; returns their keys."""
        faded = self._ageing.pop_quiet(self._now, self.fade, self.max_stories)
        for key in faded:
            story = self._open.pop(key)
            story.status = "faded"
            self._changed[key] = story
        return faded

    # -- what people see -----------------------------------------------------------------------------------

    def stories(self) -> tuple[Story, ...]:
        """All stories in memory, in the order of their opening."""
        return self._records([self._open[key] for key in sorted(self._open)])

    def story_of(self, document_id: str) -> str | None:
        """The id of a document's story, while both are remembered."""
        story = self._open.get(self._documents.key_of(document_id))
        return None if story is None else story.id

    def storyline_of(self, story: str) -> str | None:
        """The id of the storyline of a story, by the story's id; None where it has none."""
        return self._lines.line_of(int(story.removeprefix("s")))

    def storylines(self) -> tuple[Storyline, ...]:
        """All storylines in memory, in the order of their founding."""
        return self._lines.open_records()

    def surface_of(self, column: int) -> str | None:
        """How a term reads in the first documents of the youngest story that has it; None where that is not known."""
        for story in islice(reversed(self._open.values()), MAX_STORIES_ASKED):
            surface = story.presentation.surface_of(column)
            if surface is not None:
                return surface
        return None

    def _records(self, stories: Sequence[GrowingStory]) -> tuple[Story, ...]:
        outdated = [story for story in stories if not story.is_presentation_current and story.status != "merged"]
        # More than are shown: of some it is not known how they read.
        heaviest = self._members.heaviest([story.slot for story in outdated], 4 * N_KEY_TERMS)
        for story, columns in zip(outdated, heaviest, strict=True):
            story.presentation.set_key_terms(
                columns, story.size, [member.title for _, member in story.latest[-N_TITLES_FOR_NAMES:]]
            )
            if story.presentation.has_too_many_surfaces():
                story.presentation.keep_surfaces(self._members.heaviest([story.slot], MAX_SURFACES)[0])
        self._choose_titles([story for story in outdated if story.presentation.is_title_due(story.size)])
        week_start = None if self._now is None else first_hour(self._now)
        line_of = self._lines.line_of
        return tuple([story.record(week_start, line_of(story.key)) for story in stories])

    def _choose_titles(self, stories: Sequence[GrowingStory]) -> None:
        """The title that best fits the texts of the other members, reports before formats; the first of equals."""
        for story, central in zip(stories, self._members.centrality([story.slot for story in stories]), strict=True):
            titles = [member for _, member in story.latest]
            fits = [
                fit * report_weight(member.title) * (FORMAT_DISCOUNT if self._formats.is_format(member.title) else 1.0)
                for fit, member in zip(central, titles, strict=False)
            ]
            story.presentation.set_title(titles[fits.index(max(fits))], story.size)

    def forget_vectors(self) -> None:
        """Documents so far count as without: cosines with vectors of another kind say nothing."""
        self._members.forget_vectors()
        self._lines.forget_vectors()

    # -- the vocabulary ------------------------------------------------------------------------------------

    def columns_in_use(self) -> Ints:
        """The columns that a member of a story has. Call it between steps, after `end_step`."""
        return np.union1d(self._members.columns_in_use(), self._lines.columns_in_use()).astype(np.int64)

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        self._members.renumber(new)
        self._lines.renumber(new)
        for story in self._open.values():
            story.renumber(new)

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """All that the future depends on. Call it between steps, after `end_step`."""
        return {
            "params": self._params(),
            "next_key": self._next_key,
            "now": self._now,
            "members": self._members.get_state(),
            "documents": self._documents.get_state(),
            "ageing": self._ageing.get_state(),
            "formats": self._formats.get_state(),
            "storylines": self._lines.get_state(),
            "stories": saved_stories([self._open[key] for key in sorted(self._open)]),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        tracker = cls(**state["params"])
        tracker._next_key = state["next_key"]
        tracker._now = state["now"]
        tracker._members = StoryMembers.from_state(state["members"])
        tracker._documents = DocumentStories.from_state(state["documents"])
        tracker._ageing = Ageing.from_state(state["ageing"])
        tracker._formats = TitleFormats.from_state(state["formats"])
        tracker._lines = Storylines.from_state(state["storylines"])
        slots = tracker._members.slot_of_key()
        tracker._open = {story.key: story for story in restored_stories(state["stories"], slots)}
        return tracker


def _in_words(merge: Merge) -> str:
    if merge.second_look:
        return f"it stood alone and would join now ({merge.value:.1f} over the threshold)"
    return f"their documents are {merge.value:.2f} as alike between the two as within each"

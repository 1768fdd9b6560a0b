"""Which storyline each story is part of, and what has become of the storylines in a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import numpy as np

from firststory.records import Story, Storyline
from firststory.state import State
from firststory.stories.storyline_summary import StorylineSummary, restored_summaries, saved_summaries, storyline_id


class StorylinePlaces:
    """The stories that may still get documents, each in one storyline, and the open storylines.

    Examples
    --------
    >>> places = StorylinePlaces()
    >>> places.add_documents([1], lines=[1])
    >>> places.line_of(1) is None
    True
    >>> places.add_documents([2], lines=[1])
    >>> places.line_of(1), places.changed_stories(closed=())
    ('l1', [1, 2])
    """

    def __init__(self) -> None:
        self._line: dict[int, int] = {}
        """The storyline of each story, by keys."""
        self._size: dict[int, int] = {}
        """The documents of each story."""
        self._told: dict[int, str | None] = {}
        """The id of each story's storyline as it was told last."""
        self._stories: dict[int, set[int]] = {}
        """The stories of each storyline, the other way round."""
        self._summaries: dict[int, StorylineSummary] = {}
        self._changed: set[int] = set()
        """Storylines that were opened or changed in this step."""
        self._moved: set[int] = set()
        """Stories whose storyline may be another than was told last."""
        self._ended: list[StorylineSummary] = []
        """Storylines that have left the memory in this step."""
        self._closed: list[int] = []

    # -- looking up ----------------------------------------------------------------------------------------

    def line_of(self, story: int) -> str | None:
        """The id of a story's storyline, if that is large enough to be one."""
        line = self._line.get(story)
        summary = self._summaries.get(-1 if line is None else line)
        if summary is None:
            return None if line is None else storyline_id(line)  # faded, but once told
        return summary.id if summary.shown else None

    def living_line(self, story: int) -> int:
        """The key of a story's storyline; -1 where it has none that is open."""
        line = self._line.get(story, -1)
        return line if line in self._summaries else -1

    # -- what happens --------------------------------------------------------------------------------------

    def add_documents(self, stories: Sequence[int], lines: Sequence[int]) -> None:
        """Documents have come, one to each of these stories, in their storylines."""
        line_of, sizes, summaries = self._line, self._size, self._summaries
        for story, line in zip(stories, lines, strict=True):
            if line_of.get(story) != line:
                self._put(story, line)
            sizes[story] += 1
            summary = summaries[line]
            if summary.shown:
                summary.size += 1
            else:
                self._enter(line, 1, n_stories=0)
        self._changed.update(lines)

    def move_story(self, story: int, line: int) -> None:
        """A story goes to another storyline."""
        if self._line[story] != line:
            self._take(story)
            self._put(story, line)

    def merge_stories(self, small: int, large: int) -> None:
        """A story has gone into another, with its documents."""
        line, there, size = self.living_line(small), self.living_line(large), self._size.get(small, 0)
        if line >= 0:
            self._take(small)
        for table in (self._line, self._size, self._told):
            table.pop(small, None)
        if there < 0 and line >= 0:
            there = line
            self._put(large, line)
        if large in self._size:
            self._size[large] += size
        if there >= 0:
            self._enter(there, size, n_stories=0)

    def merge_lines(self, small: int, large: int, reason: str) -> None:
        """A storyline goes into another, with its stories."""
        for line in (small, large):  # it may have been founded and merged at one go
            self._open(line)
        gone, into = self._summaries.pop(small), self._summaries[large]
        self._moved |= self._stories[small] if into.shown else self._stories[small] | self._stories[large]
        into.absorb(gone)
        for story in self._stories.pop(small):
            self._line[story] = large
            self._stories[large].add(story)
        gone.end("merged", reason=reason, merged_into=into.id)
        self._end(gone)
        self._changed.add(large)

    def fade(self, line: int) -> None:
        """A storyline was quiet for long."""
        summary = self._summaries.pop(line)
        for story in self._stories.pop(line):
            if not summary.shown:
                del self._line[story]
        summary.end("faded")
        self._end(summary)

    def _put(self, story: int, line: int) -> None:
        self._open(line)
        self._line[story] = line
        self._stories[line].add(story)
        self._told.setdefault(story, None)
        self._moved.add(story)
        self._enter(line, self._size.setdefault(story, 0), n_stories=1)

    def _enter(self, line: int, n_documents: int, n_stories: int) -> None:
        """A storyline has more documents and stories; it is told of all its stories when it comes to be shown."""
        summary = self._summaries[line]
        was_shown = summary.shown
        summary.enter(n_documents, n_stories)
        if summary.shown and not was_shown:
            self._moved |= self._stories[line]
        self._changed.add(line)

    def _open(self, line: int) -> None:
        if line not in self._summaries:
            self._summaries[line], self._stories[line] = StorylineSummary(line), set()

    def _take(self, story: int) -> None:
        """A story leaves its storyline; with its size, which it brings along."""
        line = self._line.pop(story)
        self._stories[line].discard(story)
        self._summaries[line].enter(-self._size[story], n_stories=-1)
        self._summaries[line].forget(story)
        self._changed.add(line)

    def _end(self, summary: StorylineSummary) -> None:
        self._changed.discard(summary.key)
        if summary.shown:
            self._ended.append(summary)

    # -- the end of a step ---------------------------------------------------------------------------------

    def changed_stories(self, closed: Iterable[int]) -> list[int]:
        """The stories whose storyline is another than was told last; `closed` ones are forgotten after `records`."""
        changed = []
        for story in sorted(self._moved & self._told.keys()):
            now = self.line_of(story)
            if self._told[story] != now:
                self._told[story] = now
                changed.append(story)
        self._moved = set()
        self._closed += closed
        return changed

    def records(self, stories: Mapping[int, Story]) -> tuple[Storyline, ...]:
        """The storylines that were opened or have changed since the last call, given the stories that have."""
        for key, story in stories.items():
            line = self.living_line(key)
            if line >= 0 and story.status != "merged":
                self._summaries[line].describe(key, story)
                self._changed.add(line)
        changed = [self._summaries[line] for line in self._changed if self._summaries[line].shown] + self._ended
        self._changed, self._ended = set(), []
        for key in self._closed:
            line = self._line.pop(key, -1)
            if line in self._stories:
                self._stories[line].discard(key)
            self._size.pop(key, None)
            self._told.pop(key, None)
        self._closed = []
        return tuple([summary.record() for summary in sorted(changed, key=lambda summary: summary.key)])

    def open_records(self) -> tuple[Storyline, ...]:
        """The storylines that are shown, in the order of their founding."""
        return tuple([self._summaries[key].record() for key in sorted(self._summaries) if self._summaries[key].shown])

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """Between steps: the stories with their storylines, and the storylines."""
        stories = sorted(self._size)
        return {
            "stories": np.array(stories, dtype=np.int64),
            "lines": np.array([self._line.get(key, -1) for key in stories], dtype=np.int64),
            "sizes": np.array([self._size[key] for key in stories], dtype=np.int64),
            "told": [self._told[key] for key in stories],
            "summaries": saved_summaries([self._summaries[key] for key in sorted(self._summaries)]),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        places = cls()
        for summary in restored_summaries(state["summaries"]):
            places._summaries[summary.key] = summary
            places._stories[summary.key] = set()
        columns = (state["stories"].tolist(), state["lines"].tolist(), state["sizes"].tolist(), state["told"])
        for story, line, size, told in zip(*columns, strict=True):
            places._size[story], places._told[story] = size, told
            if line >= 0:
                places._line[story] = line
            if line in places._stories:
                places._stories[line].add(story)
        return places

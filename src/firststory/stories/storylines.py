"""Storylines: the stories that belong together, over weeks or months.

How the tracker of stories calls it, step by step:

    lines.add(rows)                                 the documents of a block, each with the key of its story
    changed = lines.end_step(merged, closed)        after the stories of the step are merged and faded
    storylines = lines.records(stories)             after the step's story records are made (with `line_of`)

`changed` names the stories whose storyline is another than before the step: their records are to be told as well, even
where nothing else has happened to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self

from firststory.arrays import Columns, Floats, Ints, Singles
from firststory.records import Story, Storyline
from firststory.state import State


class StorylineRows(NamedTuple):
    """Documents that have their story, one per row, in the order of the stream; duplicates are left out."""

    stories: Ints
    """The key (number) of each document's story."""
    indptr: Ints
    columns: Columns
    """Of row i: `columns[indptr[i] : indptr[i + 1]]`, in order."""
    counts: Floats
    """Of each column in the text."""
    weights: Floats
    """The unit rows."""
    vectors: Singles
    """What short texts mean, unit length, one row per document; zeros for those that have none."""
    seconds: Floats
    """Times since 1970; NaN for none."""


class Storylines:
    """Puts stories into storylines, in bounded memory.

    Parameters
    ----------
    fade : float, default=30.0
        Days without a new document after which a storyline fades.
    window : int, default=4000
        Documents of the stream after which a storyline without a new one fades.
    max_storylines : int, default=20000
        Storylines in memory; those that were quiet longest fade first.
    """

    def __init__(self, fade: float = 30.0, window: int = 4000, max_storylines: int = 20_000) -> None:
        self.fade = fade
        self.window = int(window)
        self.max_storylines = int(max_storylines)

    def add(self, rows: StorylineRows) -> None:
        """Documents have come, each to its story; a story that is not known yet finds its storyline."""

    def end_step(self, merged: Iterable[tuple[int, int]] = (), closed: Iterable[int] = ()) -> list[int]:
        """Repair and fade. Returns the keys of the stories whose storyline has changed since the last call.

        Parameters
        ----------
        merged : pairs of keys
            Stories that were merged in this step, in that order: (the one that is gone, the one it went into).
        closed : keys
            Stories that will get no more documents. Their place in a storyline stays, but `line_of` forgets them after
            this step.
        """
        return []

    def line_of(self, story: int) -> str | None:
        """The id of a story's storyline; None where the story is alone: it takes two stories, or three documents."""
        return None

    def records(self, stories: Mapping[int, Story]) -> tuple[Storyline, ...]:
        """The storylines that were opened or changed in this step.

        `stories` are the records of the stories that were opened or changed, by their keys, merged and faded ones too:
        a storyline has its title from the largest of its stories, and its sources and key terms from all of them.
        """
        return ()

    def open_records(self) -> tuple[Storyline, ...]:
        """All storylines in memory, in the order of their founding."""
        return ()

    def columns_in_use(self) -> Ints:
        """The columns that a storyline or one of its rows has. Call it between steps, after `records`."""
        raise NotImplementedError

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""

    def get_state(self) -> State:
        """All that the future depends on. Call it between steps, after `records`."""
        return {}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        return cls()

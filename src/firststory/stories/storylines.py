"""Storylines: the stories that belong together, over weeks or months.

A document that opens a story chooses a storyline k for it, the one with the highest

    size_weight ln min(n_k, most_size)                                              what grows attracts
    + sum_v x_v ln[1 - mixture + mixture (S_kv + smoothing p_v) / ((N_k + smoothing) p_v)]   words
    + vector_weight (cos(vector, sum of the vectors of k) - vector_zero)            what short texts mean
    + ln lift(documents since k was last told)                                      recency, learnt

if that reaches a threshold; otherwise it founds one. Documents that join a story go where the story is.

Words: x_v is how often the text has the word v (of a long text the 40 terms with the highest count times rarity; all
together count for 12 words, 20 where the text is long), S_kv how often k has used it, N_k the sum over all words, p_v
the share of v in the stream. It is the two-stage language model of Zhai and Lafferty (SIGIR 2002): a Dirichlet prior,
for k has told little yet; then a mixture with the stream, for a text is only partly about its storyline. A word that k
never used costs at most ln(1 - mixture), however large k is. p_v counts what one storyline has used `most_count` times
at most: otherwise what a stream tells most would be its background, from which nothing stands out.

Recency: lift(g) is how much more often than by size alone the documents that join a STORY find its storyline told g
documents ago. Storylines have no part in that decision, so nothing feeds on itself.

The threshold follows the prior odds of a new storyline, threshold + odds_weight logit(recent share of stories that
founded one): in a stream of a few great events a story joins more easily than in one of many small ones. For a long
text p_v is at least `least_share`: it has so many words that some which it shares with k are rare by chance.

Repair, at the end of a step: a story that has doubled chooses again; a storyline becomes one with another if two in
five of its last 16 documents would join that one and fit there nearly as well. It is asked when it has grown by half;
one of fewer than four documents, when it is 200, 800, 3,200 documents old: what the first documents of a stream are
about is known only later, and `look_ease` less is enough then. Storylines that were quiet for long fade.

How the tracker of stories calls it, step by step:

    lines.add(rows)                                 the documents of a block, each with the key of its story
    changed = lines.end_step(merged, closed)        after the stories of the step are merged and faded
    storylines = lines.records(stories)             after the step's story records are made (with `line_of`)

`changed` names the stories whose storyline is another than before the step: their records are to be told as well, even
where nothing else has happened to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Self

import numpy as np

from firststory.arrays import Columns, Floats, Ints, Singles, Slots
from firststory.kernels.stories.storyline_layout import N_MERGED, N_ROW_TERMS, N_SEEN, Documents, Rule
from firststory.kernels.stories.storyline_steps import (
    choose_all_again,
    forget,
    lines_to_ask,
    merge_all_stories,
    merge_by_vote,
    place_documents,
)
from firststory.records import Story, Storyline
from firststory.state import State
from firststory.stories.storyline_model import (
    columns_in_use,
    model_from_state,
    model_state,
    n_terms,
    new_model,
    open_stories,
    renumber,
    reserve,
    with_dimensions,
    without_vectors,
)
from firststory.stories.storyline_places import StorylinePlaces
from firststory.units import DAY_SECONDS

RULE = Rule(
    size_weight=1.75,
    most_size=100.0,
    threshold=12.8,
    look_ease=2.6,
    odds_weight=1.5,
    mixture=0.5,
    smoothing=50.0,
    most_count=10.0,
    least_share=0.0003,
    length=12.0,
    long_length=20.0,
    vector_weight=12.0,
    vector_zero=0.6,
    most_lift=6.0,
    voters=16,
    votes=0.4,
    vote_margin=15.0,
    growth=1.5,
    first_look=200.0,
    look_factor=4.0,
    decay=0.998,
)


class StorylineRows(NamedTuple):
    """Documents that have their story, one per row, in the order of the stream; duplicates are left out."""

    stories: Ints
    """The key (number) of each document's story."""
    indptr: Ints
    columns: Columns
    """Of row i: `columns[indptr[i] : indptr[i + 1]]`, in order."""
    counts: Floats
    """Of each column in the text."""
    weights: Singles | Floats
    """The unit rows."""
    vectors: Singles
    """What short texts mean, unit length, one row per document; zeros for those that have none."""
    seconds: Floats
    """Times since 1970; NaN for none."""


class Storylines:
    """Puts stories into storylines, in bounded memory.

    Use it on top of a tracker of stories whose stories are pure. Do not use it to find single happenings: a storyline
    is what they add up to.

    Parameters
    ----------
    fade : float, default=30.0
        Days without a new document after which a storyline fades.
    least_quiet : int, default=300
        Documents of the stream that must have come meanwhile: where little is told, days say little.
    window : int, default=4000
        Documents of the stream after which a storyline without a new one fades.
    max_storylines : int, default=20000
        Storylines in memory; those that were quiet longest fade first.

    Examples
    --------
    Thirty documents tell of a flood, after two hundred of anything else; then another story begins with its words:

    >>> texts = np.arange(6, 1206).reshape(200, 6).tolist() + [[0, 1, 2, 3, 4, 5]] * 31
    >>> rows = StorylineRows(
    ...     stories=np.array([*range(200), *[300] * 30, 301]),
    ...     indptr=np.arange(0, 6 * 231 + 1, 6),
    ...     columns=np.array(texts, dtype=np.int32).ravel(),
    ...     counts=np.ones(6 * 231),
    ...     weights=np.full(6 * 231, 0.41),
    ...     vectors=np.zeros((231, 0), dtype=np.float32),
    ...     seconds=np.full(231, np.nan),
    ... )
    >>> lines = Storylines()
    >>> lines.add(rows)
    >>> lines.end_step()
    [300, 301]
    >>> lines.line_of(300), lines.line_of(301), lines.line_of(0)
    ('l201', 'l201', None)
    >>> [(line.id, line.size, line.n_stories) for line in lines.records({})]
    [('l201', 31, 2)]
    """

    def __init__(
        self, fade: float = 30.0, window: int = 4000, max_storylines: int = 20_000, least_quiet: int = 300
    ) -> None:
        self.fade = fade
        self.least_quiet = int(least_quiet)
        self.window = int(window)
        self.max_storylines = int(max_storylines)
        self._model = new_model(0)
        self._slots: dict[int, int] = {}
        """The slot of each story that has rows, by its key."""
        self._places = StorylinePlaces()
        self._touched: set[int] = set()
        """Stories that have got documents in this step."""
        self._closed: set[int] = set()
        """Stories that will get no more documents but have rows."""
        self._now = -np.inf
        """The latest time of a document."""

    # -- one step ------------------------------------------------------------------------------------------

    def add(self, rows: StorylineRows) -> None:
        """Documents have come, each to its story; a story that is not known yet finds its storyline."""
        keys = rows.stories.tolist()
        vectors = self._make_room(rows)
        self._open_stories(keys)
        slots = np.array([self._slots[key] for key in keys], dtype=np.int32)
        documents = Documents(
            stories=slots,
            indptr=np.asarray(rows.indptr, dtype=np.int64),
            columns=np.asarray(rows.columns, dtype=np.int32),
            counts=np.asarray(rows.counts, dtype=np.float64),
            weights=np.asarray(rows.weights, dtype=np.float64),
            vectors=vectors,
            times=np.asarray(rows.seconds, dtype=np.float64),
        )
        self._now = float(place_documents(self._model, RULE, documents, self._now))
        self._places.add_documents(keys, self._line_keys(slots))
        self._touched.update(keys)

    def end_step(self, merged: Iterable[tuple[int, int]] = (), closed: Collection[int] = ()) -> list[int]:
        """Repair and fade. Returns the keys of the stories whose storyline has changed since the last call.

        Parameters
        ----------
        merged : pairs of keys
            Stories that were merged in this step, in that order: (the one that is gone, the one it went into).
        closed : keys
            Stories that will get no more documents. They stay in their storyline; some time later `line_of` forgets
            them.
        """
        self._merge_stories(merged)
        self._choose_again()
        self._merge_lines()
        forgotten = self._fade()
        self._touched = set()
        # A story that is closed may still move, as long as it has rows.
        self._closed.update(closed)
        over = {key for key in self._closed if key not in self._slots} if forgotten or closed else set()
        self._closed -= over
        return self._places.changed_stories(over)

    def line_of(self, story: int) -> str | None:
        """The id of a story's storyline; None where the story is alone: it takes two stories, or three documents."""
        return self._places.line_of(story)

    def records(self, stories: Mapping[int, Story]) -> tuple[Storyline, ...]:
        """The storylines that were opened or changed in this step.

        `stories` are the records of the stories that were opened or changed, by their keys, merged and faded ones too:
        a storyline has its title from the largest of its stories, and its sources and key terms from all of them.
        """
        return self._places.records(stories)

    def open_records(self) -> tuple[Storyline, ...]:
        """All storylines in memory, in the order of their founding."""
        return self._places.open_records()

    # -- documents -----------------------------------------------------------------------------------------

    def _make_room(self, rows: StorylineRows) -> Singles:
        """Room for documents; their vectors, as long as those that the storylines have."""
        n, dimensions = rows.vectors.shape
        self._model = with_dimensions(self._model, dimensions)
        vectors = np.zeros((n, self._model.rows.vector.shape[1]), dtype=np.float32)
        vectors[:, :dimensions] = rows.vectors
        self._model = reserve(
            self._model,
            lines=n,
            stories=n,
            rows=n,
            entries=min(len(rows.columns), n * N_ROW_TERMS),
            columns=int(np.max(rows.columns, initial=-1)) + 1,
        )
        return vectors

    def _open_stories(self, keys: Iterable[int]) -> None:
        """Slots for the stories that have none. One that was silent for long has no rows, but perhaps a storyline."""
        new = [key for key in dict.fromkeys(keys) if key not in self._slots]
        if not new:
            return
        lines = [self._places.living_line(key) for key in new]
        self._slots.update(zip(new, open_stories(self._model, new, lines), strict=True))

    def _line_keys(self, slots: Slots) -> list[int]:
        """The keys of the storylines that stories are part of now."""
        return list(self._model.lines.key[self._model.stories.line[slots]].tolist())

    # -- the end of a step ---------------------------------------------------------------------------------

    def _merge_stories(self, merged: Iterable[tuple[int, int]]) -> None:
        pairs, merged = [], list(merged)
        if not merged:
            return
        self._model = reserve(self._model, stories=len(merged))
        for small, large in merged:
            if small in self._slots:
                self._open_stories([large])
                pairs.append((self._slots.pop(small), self._slots[large]))
                self._touched.add(large)
            self._places.merge_stories(small, large)
        slots = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        self._model = reserve(self._model, entries=n_terms(self._model, slots[:, 0]), merges=len(slots))
        merge_all_stories(self._model, RULE, slots)
        self._tell_merged()

    def _choose_again(self) -> None:
        stories = self._model.stories
        touched = np.array([self._slots[key] for key in sorted(self._touched & self._slots.keys())], dtype=np.int32)
        doubled = touched[stories.size[touched] >= 2 * stories.asked[touched]]
        n = len(doubled)
        if not n:
            return
        self._model = reserve(self._model, lines=n, entries=n_terms(self._model, doubled), merges=n)
        choose_all_again(self._model, RULE, doubled, self._now)
        self._tell_merged()
        for key, line in zip(self._model.stories.key[doubled].tolist(), self._line_keys(doubled), strict=True):
            self._places.move_story(key, line)

    def _merge_lines(self) -> None:
        asked = lines_to_ask(self._model, RULE)
        if not len(asked):
            return
        self._model = reserve(self._model, merges=len(asked))
        merge_by_vote(self._model, RULE, asked)
        self._tell_merged()

    def _tell_merged(self) -> None:
        """Do with the names what the kernels have done with the words."""
        n = int(self._model.counters[N_MERGED])
        for small, large, votes, voters in self._model.merged[:n].tolist():
            reason = f"{votes} of its last {voters} documents fit both" if voters > 1 else "its only story fits there"
            self._places.merge_lines(small, large, reason)
        self._model.counters[N_MERGED] = 0

    def _fade(self) -> bool:
        """Forget what was quiet for long; whether there was any."""
        lines, n_seen = self._model.lines, int(self._model.counters[N_SEEN])
        quiet = (lines.last_time < self._now - self.fade * DAY_SECONDS) & (
            lines.last_number < n_seen - self.least_quiet
        )
        quiet |= lines.last_number < n_seen - self.window
        going = np.flatnonzero((lines.key >= 0) & quiet)
        staying = np.flatnonzero((lines.key >= 0) & ~quiet)
        n_too_many = len(staying) - self.max_storylines
        if n_too_many > 0:
            longest = np.lexsort((lines.key[staying], lines.last_number[staying]))[:n_too_many]
            going = np.concatenate([going, staying[longest]])
        for key in lines.key[going].tolist():
            self._places.fade(key)
        forgotten = forget(self._model, going.astype(np.int32), n_seen - self.window).tolist()
        for key in forgotten:
            del self._slots[key]
        return bool(forgotten)

    def forget_vectors(self) -> None:
        """The documents so far count as without: those that come next have vectors of another kind."""
        self._model = without_vectors(self._model)

    # -- the vocabulary and the state ----------------------------------------------------------------------

    def columns_in_use(self) -> Ints:
        """The columns that a storyline or one of its rows has. Call it between steps, after `records`."""
        return columns_in_use(self._model)

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order; -1 for one that is not in use."""
        self._model = renumber(self._model, new)

    def get_state(self) -> State:
        """All that the future depends on. Call it between steps, after `records`."""
        return {
            "params": {
                "fade": self.fade,
                "window": self.window,
                "max_storylines": self.max_storylines,
                "least_quiet": self.least_quiet,
            },
            "now": self._now if np.isfinite(self._now) else None,
            "closed": sorted(self._closed),
            "model": model_state(self._model),
            "places": self._places.get_state(),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        lines = cls(**state["params"])
        lines._now = -np.inf if state["now"] is None else state["now"]
        lines._closed = set(state["closed"])
        lines._model = model_from_state(state["model"])
        lines._places = StorylinePlaces.from_state(state["places"])
        keys = lines._model.stories.key
        lines._slots = {int(keys[slot]): int(slot) for slot in np.flatnonzero(keys >= 0)}
        return lines

"""The latest documents of all stories, in arrays: what new documents are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from firststory.arrays import Array, Columns, Floats, Ints, Singles
from firststory.kernels.stories.evidence import threshold_for
from firststory.kernels.stories.layout import Arrivals, Free, JoinRule, Learnt, Members, Placed, Stories
from firststory.kernels.stories.membership import centrality, heaviest_of, move_rows, release_stories
from firststory.kernels.stories.placing import place_documents
from firststory.kernels.stories.repairing import SECOND_LOOK, repair
from firststory.state import State
from firststory.stories.arrivals import Rows

MAX_MEMBERS = 24
"""Latest documents of a story that are kept."""
FIRST_OPENING_SHARE = 0.5
FIRST_BACKGROUND = 28.0, 200.0
FIRST_USUAL_COSINE = 6.0, 20.0
"""What the learnt numbers are before the first document: as if twenty had joined with a cosine of 0.3."""
MIN_ROOM = 64


class Merge(NamedTuple):
    """A story that went into another, by their keys, and why."""

    key: int
    into: int
    second_look: bool
    """Whether it was a document that stood alone; otherwise the two are as alike between as within."""
    value: float
    """How far above the threshold the document was; or how alike the two are."""


class StoryMembers:
    """The members of every story, in slots.

    Examples
    --------
    >>> members = StoryMembers()
    >>> members.get_state()["rows"]["columns"].tolist()
    []
    """

    def __init__(self, n_dimensions: int = 0) -> None:
        nothing, none = np.zeros(0), np.zeros(0, np.int64)
        self._members = Members(
            columns=np.empty(0, np.int32),
            weights=np.empty(0, np.float32),
            title_weights=np.empty(0, np.float32),
            start=none,
            length=none,
            log_terms=nothing,
            time=nothing,
            ordinal=none,
            vector=np.zeros((0, n_dimensions), np.float32),
        )
        self._stories = Stories(
            key=none,
            size=none,
            n_members=none,
            members=np.zeros((0, MAX_MEMBERS), np.int64),
            first=nothing,
            last=nothing,
            first_ordinal=none,
            last_ordinal=none,
            squared_norm=nothing,
            vector_sum=np.zeros((0, n_dimensions)),
            n_pairs=none,
            pair_sum=nothing,
        )
        self._free = Free(none, none, np.zeros(3, np.int64))
        self._learnt = Learnt(np.array([FIRST_OPENING_SHARE]), np.array(FIRST_BACKGROUND), np.array(FIRST_USUAL_COSINE))
        self.n_seen = 0
        """Documents that were placed."""

    def threshold_for(self, n_terms: int, rule: JoinRule) -> float:
        """The log-odds from which on a text of so many terms joins, at present."""
        return float(threshold_for(math.log(max(n_terms, 1)), self._learnt, rule))

    # -- room ----------------------------------------------------------------------------------------------

    def _reserve(self, slots: int, members: int, entries: int) -> None:
        """Make sure of that many free slots and numbers of members, and of room for that many entries of rows."""
        n_slots, n_members, tail = self._free.counts.tolist()
        if n_slots < slots:
            old = len(self._stories.key)
            more = max(MIN_ROOM, old, slots)
            self._stories = Stories(*(_longer(array, more) for array in self._stories))
            free = np.concatenate([np.arange(old + more - 1, old - 1, -1), self._free.slots[:n_slots]])
            self._free = self._free._replace(slots=_longer(free, old + more - len(free)))
            self._free.counts[0] = n_slots + more
        if n_members < members:
            old = len(self._members.start)
            more = max(MIN_ROOM, old, members)
            longer = {
                name: _longer(array, more) for name, array in self._members._asdict().items() if name not in _ROWS
            }
            self._members = self._members._replace(**longer)
            free = np.concatenate([np.arange(old + more - 1, old - 1, -1), self._free.members[:n_members]])
            self._free = self._free._replace(members=_longer(free, old + more - len(free)))
            self._free.counts[1] = n_members + more
        if tail + entries > len(self._members.columns):
            # Twice what is in use: moving everything is paid for by as many entries that came.
            size = entries + 2 * int(self._members.length.sum())
            columns, weights, title_weights = (
                np.empty(size, np.int32),
                np.empty(size, np.float32),
                np.empty(size, np.float32),
            )
            self._free.counts[2] = move_rows(self._members, columns, weights, title_weights)
            self._members = self._members._replace(columns=columns, weights=weights, title_weights=title_weights)

    def forget_vectors(self) -> None:
        """The members count as without: those that come next are of another kind."""
        self._make_room_for_vectors(0)

    def _make_room_for_vectors(self, n_dimensions: int) -> None:
        """Vectors of this length come from now on; no member has one yet."""
        members, stories = self._members, self._stories
        self._members = members._replace(vector=np.zeros((len(members.start), n_dimensions), np.float32))
        self._stories = stories._replace(vector_sum=np.zeros((len(stories.key), n_dimensions)))

    def release(self, slots: Sequence[int]) -> None:
        """Forget stories."""
        release_stories(self._members, self._stories, self._free, np.array(slots, dtype=np.int64))

    # -- joining and merging -------------------------------------------------------------------------------

    def place(
        self,
        rows: Rows,
        times: Floats,
        vectors: Singles,
        candidates: Ints,
        rule: JoinRule,
        next_key: int,
    ) -> Placed:
        """Let documents join a story or open one, see `kernels.stories.placing.place_documents`."""
        n = len(times)
        if vectors.shape[1] and not self._members.vector.shape[1]:
            self._make_room_for_vectors(vectors.shape[1])
        if not vectors.shape[1]:
            vectors = np.zeros((n, self._members.vector.shape[1]), dtype=np.float32)
        self._reserve(n, n, len(rows.columns))
        arrivals = Arrivals(*rows[:4], times, self.n_seen, vectors, candidates)
        placed = place_documents(arrivals, self._stories, self._members, self._free, self._learnt, rule, next_key)
        self.n_seen += n
        return placed

    def add_time(self, slot: int, seconds: float | None) -> None:
        """The text of a member came again."""
        if seconds is not None:
            self._stories.last[slot] = np.fmax(self._stories.last[slot], seconds)

    def keys(self, slots: Ints) -> Ints:
        """The keys of the stories in some slots; -1 where there is none."""
        return np.where(slots >= 0, self._stories.key[slots], -1)

    def repair(self, linked: Ints, rule: JoinRule) -> list[Merge]:
        """Merge linked stories (pairs of slots) that are one, see `kernels.stories.repairing.repair`."""
        merged, why = repair(linked, self._stories, self._members, self._free, self._learnt, rule)
        keys = self.keys(merged)
        return [
            Merge(key, into, reason == SECOND_LOOK, value)
            for (key, into), (reason, value) in zip(keys.tolist(), why.tolist(), strict=True)
        ]

    # -- what a story is about -----------------------------------------------------------------------------

    def heaviest(self, slots: Sequence[int], n: int) -> list[list[int]]:
        """Of each story the columns that weigh most in the sum of its members, heaviest first; -1: no more."""
        found: list[list[int]] = heaviest_of(self._members, self._stories, np.array(slots, dtype=np.int64), n).tolist()
        return found

    def centrality(self, slots: Sequence[int]) -> list[list[float]]:
        """Of each story how well the title of each member fits the texts of the others, in the order of arrival."""
        fits: list[list[float]] = centrality(self._members, self._stories, np.array(slots, dtype=np.int64)).tolist()
        return fits

    # -- the vocabulary ------------------------------------------------------------------------------------

    def columns_in_use(self) -> Columns:
        """The columns of all members, with repetitions."""
        return self._members.columns[_places(self._members.start, self._members.length)]

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`, in the same order."""
        places = _places(self._members.start, self._members.length)
        self._members.columns[places] = new[self._members.columns[places]]

    # -- state ---------------------------------------------------------------------------------------------

    def get_state(self) -> State:
        """The stories in the order of their keys, with their members."""
        stories, members = self._stories, self._members
        taken = np.setdiff1d(np.arange(len(stories.key)), self._free.slots[: self._free.counts[0]])
        slots = taken[np.argsort(stories.key[taken], kind="stable")]
        order = stories.members[slots][np.arange(MAX_MEMBERS) < stories.n_members[slots][:, None]]
        entries = _places(members.start[order], members.length[order])
        return {
            "n_seen": self.n_seen,
            "learnt": self._learnt._asdict(),
            "stories": {name: array[slots] for name, array in stories._asdict().items() if name != "members"},
            "members": {
                name: array[order] for name, array in members._asdict().items() if name not in (*_ROWS, "start")
            },
            "rows": {name: array[entries] for name, array in members._asdict().items() if name in _ROWS},
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`; the slots are then 0, 1, ... in the order of the keys."""
        plain, kept = state["stories"], state["members"]
        self = cls(n_dimensions=kept["vector"].shape[1])
        n_stories, n_members, n_entries = len(plain["key"]), len(kept["length"]), len(state["rows"]["columns"])
        self._reserve(n_stories, n_members, n_entries)
        self._free.counts[:] = self._free.counts[0] - n_stories, self._free.counts[1] - n_members, n_entries
        for name, array in plain.items():
            getattr(self._stories, name)[:n_stories] = array
        for name, array in kept.items():
            getattr(self._members, name)[:n_members] = array
        self._members.start[:n_members] = np.cumsum(kept["length"]) - kept["length"]
        for name, array in state["rows"].items():
            getattr(self._members, name)[:n_entries] = array
        ends = np.cumsum(plain["n_members"])
        for slot, (n, end) in enumerate(zip(plain["n_members"].tolist(), ends.tolist(), strict=True)):
            self._stories.members[slot, :n] = np.arange(end - n, end)
        self.n_seen = state["n_seen"]
        self._learnt = Learnt(**{name: np.array(array) for name, array in state["learnt"].items()})
        return self

    def slot_of_key(self) -> dict[int, int]:
        """The slots that are in use by their keys."""
        free = set(self._free.slots[: self._free.counts[0]].tolist())
        return {key: slot for slot, key in enumerate(self._stories.key.tolist()) if slot not in free}


_ROWS = ("columns", "weights", "title_weights")
"""The arrays that have the rows of all members one behind the other."""


def _places(start: Ints, length: Ints) -> Ints:
    """Where in the buffer the entries of some members are."""
    places: Ints = np.repeat(start - np.cumsum(length) + length, length) + np.arange(length.sum())
    return places


def _longer(array: Array, more: int) -> Array:
    longer = np.zeros((len(array) + more, *array.shape[1:]), array.dtype)  # which the system hands out when used
    longer[: len(array)] = array
    return longer

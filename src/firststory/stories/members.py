"""The latest documents of a story, each with its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from firststory.arrays import Columns, Singles
from firststory.state import State
from firststory.stories.activity import Activity


@dataclass(slots=True)
class Member:
    """A recent document of a story: what must be known of it to give it to another story."""

    id: str
    title: str
    ordinal: int
    time: float | None
    source: str | None
    columns: Columns
    weights: Singles
    n_duplicates: int = 0
    duplicates: Activity | None = None
    """When its duplicates came and from where; None where there are none."""

    def add_duplicate(self, source: str | None, time: float | None) -> None:
        """Its text came again."""
        self.n_duplicates += 1
        self.duplicates = self.duplicates or Activity()
        self.duplicates.add(source, time)

    def activity(self) -> Activity:
        """When it and its duplicates came."""
        activity = Activity()
        activity.add(self.source, self.time)
        if self.duplicates is not None:
            activity.absorb(self.duplicates)
        return activity


def members_state(members: Mapping[int, Sequence[Member]]) -> State:
    """The members of all stories, given by the stories' keys, as one array or list per field."""
    every = [member for those in members.values() for member in those]
    return {
        "story": np.repeat(np.array(list(members), dtype=np.int64), [len(those) for those in members.values()]),
        "ids": [member.id for member in every],
        "titles": [member.title for member in every],
        "ordinals": np.array([member.ordinal for member in every], dtype=np.int64),
        "times": np.array([np.nan if member.time is None else member.time for member in every], dtype=np.float64),
        "sources": [member.source for member in every],
        "n_duplicates": np.array([member.n_duplicates for member in every], dtype=np.int64),
        "duplicates": [None if member.duplicates is None else member.duplicates.get_state() for member in every],
        "length": np.array([len(member.columns) for member in every], dtype=np.int64),
        "columns": np.concatenate([member.columns for member in every] or [np.empty(0, np.int32)]),
        "weights": np.concatenate([member.weights for member in every] or [np.empty(0, np.float32)]),
    }


def members_from_state(state: State) -> dict[int, list[Member]]:
    """Undo `members_state`; stories without members are missing."""
    members: dict[int, list[Member]] = {}
    ends = np.cumsum(state["length"])
    starts = ends - state["length"]
    for i, key in enumerate(state["story"].tolist()):
        time, duplicates, row = float(state["times"][i]), state["duplicates"][i], slice(starts[i], ends[i])
        member = Member(
            id=state["ids"][i],
            title=state["titles"][i],
            ordinal=int(state["ordinals"][i]),
            time=None if np.isnan(time) else time,
            source=state["sources"][i],
            columns=state["columns"][row].copy(),
            weights=state["weights"][row].copy(),
            n_duplicates=int(state["n_duplicates"][i]),
            duplicates=None if duplicates is None else Activity.from_state(duplicates),
        )
        members.setdefault(key, []).append(member)
    return members

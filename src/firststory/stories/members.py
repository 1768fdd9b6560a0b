"""The latest documents of a story, each with its row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from firststory.arrays import Columns, Ints, Singles


class Member(NamedTuple):
    """A recent document of a story."""

    id: str
    title: str
    ordinal: int
    columns: Columns
    weights: Singles


def renumbered(members: Iterable[Member], new: Ints) -> list[Member]:
    """The same with column v as `new[v]`."""
    return [member._replace(columns=new[member.columns].astype(np.int32)) for member in members]


def members_state(members: Mapping[int, Sequence[Member]]) -> dict[str, Any]:
    """The members of all stories, given by the stories' keys, as one array or list per field."""
    every = [(key, member) for key, those in members.items() for member in those]
    return {
        "story": np.array([key for key, _ in every], dtype=np.int64),
        "ids": [member.id for _, member in every],
        "titles": [member.title for _, member in every],
        "ordinals": np.array([member.ordinal for _, member in every], dtype=np.int64),
        "length": np.array([len(member.columns) for _, member in every], dtype=np.int64),
        "columns": np.concatenate([member.columns for _, member in every] or [np.empty(0, np.int32)]),
        "weights": np.concatenate([member.weights for _, member in every] or [np.empty(0, np.float32)]),
    }


def members_from_state(state: dict[str, Any]) -> dict[int, list[Member]]:
    """Undo `members_state`; stories without members are missing."""
    members: dict[int, list[Member]] = {}
    end = 0
    fields = (state["story"].tolist(), state["ids"], state["titles"], state["ordinals"].tolist(), state["length"])
    for key, document_id, title, ordinal, length in zip(*fields, strict=True):
        start, end = end, end + int(length)
        row = state["columns"][start:end].copy(), state["weights"][start:end].copy()
        members.setdefault(key, []).append(Member(document_id, title, ordinal, *row))
    return members

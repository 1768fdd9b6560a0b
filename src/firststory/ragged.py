"""Lists of lists as they are saved: how long each is, and all of them one behind the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from firststory.arrays import Slots
from firststory.state import State

Value = TypeVar("Value")


def joined(lists: Sequence[Collection[Any]]) -> State:
    """Many short lists as one long list.

    Examples
    --------
    >>> joined([["a", "b"], [], ["c"]])
    {'counts': array([2, 0, 1], dtype=int32), 'values': ['a', 'b', 'c']}
    """
    return {"counts": counts(lists), "values": list(chain.from_iterable(lists))}


def parted(state: State) -> Iterator[list[Any]]:
    """Undo `joined`.

    Examples
    --------
    >>> list(parted(joined([["a", "b"], [], ["c"]])))
    [['a', 'b'], [], ['c']]
    """
    return parts(state["counts"], state["values"])


def counts(lists: Sequence[Collection[Any]]) -> Slots:
    """How long each list is."""
    return np.fromiter(map(len, lists), np.int32, len(lists))


def parts(counts: Slots, values: Iterable[Value]) -> Iterator[list[Value]]:
    """Values one behind the other as lists that are so long."""
    rest = iter(values)
    return (list(islice(rest, count)) for count in counts.tolist())

"""Arrays with an entry for each term, which get longer with nearly every row."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Array


def widened(part: Array, width: int, fill: float = 0) -> Array:
    """The array with `fill` up to the new width, in the memory where it lies if there is room behind it.

    There is where it came from here: then it is the beginning of an array that is a quarter longer. To copy all of it
    for every row with a new term would take longer than the row itself.

    Examples
    --------
    >>> part = widened(np.ones(2), 4, fill=2.0)
    >>> longer = widened(part, 5)
    >>> longer, longer.base is part.base
    (array([1., 1., 2., 2., 0.]), True)
    """
    room = part.base
    if type(room) is not np.ndarray or room.dtype != part.dtype or len(room) < width:
        room = np.empty(width + (width >> 2), part.dtype)
        room[: len(part)] = part
    room[len(part) : width] = fill
    return room[:width]

"""Bootstrap over topics: which of two detectors is ahead on the same documents, and by how much."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Flags, Floats, Ints
from firststory.evaluate.tdt import tdt_cost

DRAWS = 200


def resampled(topics: NDArray[Any], draw: int) -> tuple[Ints, Ints]:
    """Documents of one draw of topics with replacement: their places, and their topic by its number in the draw.

    Examples
    --------
    >>> places, topic = resampled(np.array(["a", "b", "a"]), draw=1)
    >>> places.tolist(), topic.tolist()
    ([0, 2, 1], [0, 0, 1])
    """
    names, group = np.unique(topics.astype(str), return_inverse=True)
    drawn = np.random.default_rng(draw).integers(len(names), size=len(names))
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    places = np.concatenate([members[k] for k in drawn])
    return places, np.repeat(np.arange(len(drawn)), [len(members[k]) for k in drawn])


def difference_interval(
    topics: NDArray[Any], first: Flags, one: Floats, other: Floats, draws: int = DRAWS
) -> tuple[float, float]:
    """95 % interval of the topic-weighted cost of the scores `one` less that of `other`, paired over topics."""
    differences = []
    for draw in range(draws):
        places, topic = resampled(topics, draw)
        a, b = (tdt_cost(first[places], s[places], topic, n_bootstrap=0).topic_weighted for s in (one, other))
        differences.append(a - b)
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(low), float(high)

"""The link threshold and the stream's usual background: both learnt from the stream, no labels needed.

A link to a document of the last day may tell of one event; a link to a document of four to seven days ago rarely does.
The link threshold is the lowest similarity (0.15 to 0.50) at which links of the first kind are ten times as frequent,
per day, as those of the second. The background is how many links to older documents a document has: what chance and
running topics bring.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from firststory.kernels.alerts.layout import Learnt
from firststory.kernels.alerts.links import N_BINS, OLD_LINKS_NEEDED

FIRST_THRESHOLD = 0.30
"""Until the stream has taught its own."""


class LinkThreshold:
    """The arrays that the kernels learn in.

    Examples
    --------
    >>> LinkThreshold().value, LinkThreshold().is_learnt
    (0.3, False)
    """

    def __init__(self) -> None:
        self.arrays = Learnt(
            threshold=np.array([FIRST_THRESHOLD]),
            histogram=np.zeros((2, N_BINS)),
            seen=np.zeros(1, np.int64),
            moments=np.array([1.0, 0.2, 0.5]),
            opening_share=np.ones(1),
        )

    @property
    def value(self) -> float:
        """The least similarity of a link."""
        return float(self.arrays.threshold[0])

    @property
    def is_learnt(self) -> bool:
        """Whether there were links to old documents enough."""
        return bool(self.arrays.histogram[1].sum() > OLD_LINKS_NEEDED)

    def get_state(self) -> dict[str, Any]:
        return {name: part.copy() for name, part in self.arrays._asdict().items()}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        learnt = cls()
        learnt.arrays = Learnt(**{name: np.array(state[name]) for name in Learnt._fields})
        return learnt

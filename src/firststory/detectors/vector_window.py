"""The vectors of the latest documents: a ring that is bounded by the window."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class VectorWindow:
    """A row lies in `ordinal % capacity`. Ordinals before `begun` are not held; `next` is the next one.

    Examples
    --------
    >>> import numpy as np
    >>> ring = VectorWindow(width=2, begun=5)
    >>> ring.extend(np.eye(2, dtype=np.float32), window=1)
    >>> ring.begun, ring.next, ring.vectors[6 % len(ring.vectors)].tolist()
    (6, 7, [0.0, 1.0])
    """

    def __init__(self, width: int, begun: int = 0, capacity: int = 64) -> None:
        self.begun = self.next = begun
        self.vectors: Vectors = np.zeros((capacity, width), dtype=np.float32)

    def extend(self, vectors: Vectors, window: int) -> None:
        """The next rows; at most `window` are held afterwards."""
        last = self.next + len(vectors)
        begun = max(self.begun, last - window)
        kept = vectors[max(0, begun - self.next) :]
        if last - begun > len(self.vectors):
            self._move(begun, 1 << (last - begun - 1).bit_length())
        at = (last - len(kept)) % len(self.vectors)
        before_end = len(self.vectors) - at
        self.vectors[at : at + len(kept)] = kept[:before_end]
        self.vectors[: max(0, len(kept) - before_end)] = kept[before_end:]
        self.begun, self.next = begun, last

    def _move(self, begun: int, capacity: int) -> None:
        held = np.arange(min(begun, self.next), self.next)
        vectors = np.zeros((capacity, self.vectors.shape[1]), dtype=np.float32)
        vectors[held % capacity] = self.vectors[held % len(self.vectors)]
        self.vectors = vectors

    def get_state(self) -> dict[str, Any]:
        """What is held, in the order of arrival."""
        held = np.arange(self.begun, self.next) % len(self.vectors)
        return {"begun": self.begun, "vectors": self.vectors[held]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Undo `get_state`."""
        ring = cls(state["vectors"].shape[1], int(state["begun"]))
        ring.extend(state["vectors"].astype(np.float32), window=2**62)
        return ring

"""Document frequencies of the past, optionally decayed, and the weights that come of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats


class DocumentFrequencies:
    r"""In how many documents each term has been; with a half-life, recent documents count more.

    With :math:`\lambda = 2^{-1/h}` for a half-life of h documents, a document that lies k documents back counts
    :math:`\lambda^k` (the last one 1), both in :math:`df_v` and in N. Terms are brought up to date when they are
    touched, so a document costs what it holds and the result does not depend on how the stream is cut into batches.
    """

    def __init__(self, half_life: float | None) -> None:
        self.half_life = half_life
        self.keep = 1.0 if half_life is None else 0.5 ** (1.0 / half_life)
        self.width = 0
        self.frequency: Floats = np.zeros(0)
        self.seen: Floats = np.zeros(0)
        """The number of documents when each term was last brought up to date."""
        self.clock: Floats = np.zeros(2)
        """Documents so far, and their decayed number."""

    def grow(self, width: int) -> None:
        """Room for `width` terms; by doubling, so that growing costs nothing on the whole."""
        self.width = width
        if width > self.frequency.size:
            more = max(width, 2 * self.frequency.size, 1024) - self.frequency.size
            self.frequency = np.concatenate([self.frequency, np.zeros(more)])
            self.seen = np.concatenate([self.seen, np.zeros(more)])

    def now(self, columns: NDArray[Any] | None = None) -> Floats:
        """The document frequency of each term (or of some) as it counts now."""
        which = slice(self.width) if columns is None else columns
        frequency = self.frequency[which]
        if self.keep == 1.0:
            return frequency.copy()
        return np.asarray(frequency * self.keep ** (self.clock[0] - self.seen[which]))

    def idf(self) -> Floats:
        """ln((1 + N) / (1 + df)) + 1."""
        return np.asarray(np.log((1.0 + self.clock[1]) / (1.0 + self.now())) + 1.0)

    def take(self, kept: NDArray[np.int64]) -> None:
        """Only the kept terms, in their new order."""
        self.frequency = self.frequency[kept]
        self.seen = self.seen[kept]
        self.width = kept.size

    def get_state(self) -> dict[str, Any]:
        return {
            "half_life": self.half_life,
            "frequency": self.frequency[: self.width].copy(),
            "seen": self.seen[: self.width].copy(),
            "clock": self.clock.copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> DocumentFrequencies:
        frequencies = cls(state["half_life"])
        frequencies.frequency = state["frequency"]
        frequencies.seen = state["seen"]
        frequencies.clock = state["clock"]
        frequencies.width = frequencies.frequency.size
        return frequencies

"""The chance that others follow a first report, learnt from the stream a day late: an online logistic regression.

Features are words, source, length, punctuation and novelty, hashed by CRC-32, which is the same in every process. The
weights follow AdaGrad (Duchi, Hazan & Singer 2011).
"""

from __future__ import annotations

import math
from typing import Any, Self
from zlib import crc32

import numpy as np

SIZE = 1 << 15
RATE = 0.3
MEMORY = 0.9995
"""By which the base rate fades with each label."""
MAX_WORDS = 24
_SIGNS = '?:!|"“‘'


def features(title: str, source: str | None, novelty: float) -> list[int]:
    """The hashed features of a first report, each once, in order.

    Examples
    --------
    >>> features("Storm closes bridge", "BBC", 0.9) == features("Storm closes bridge", "BBC", 0.9)
    True
    """
    words = title.lower().split()[:MAX_WORDS]
    names = [f"t:{word}" for word in words]
    names += ["b", f"s:{source}", f"n:{int(10 * novelty)}", f"l:{len(words)}", f"{source}&{novelty > 0.8}"]
    names += [f"f:{word}" for word in words[:1]] + [f"f:{' '.join(words[:2])}"]
    names += [f"c:{sign}" for sign in _SIGNS if sign in title]
    if any(map(str.isdigit, title)):
        names.append("d")
    return sorted({crc32(name.encode("utf-8", "replace")) % SIZE for name in names})


class EchoChance:
    """P(another voice follows within a day) of documents that nothing earlier is like."""

    def __init__(self) -> None:
        self._weights = [0.0] * SIZE
        self._squares = [0.0] * SIZE
        self.labels = 0
        self.echoed = 0
        self._recent_echoed, self._recent = 1.0, 10.0

    @property
    def base_rate(self) -> float:
        """The share of first reports that others followed, lately."""
        return self._recent_echoed / self._recent

    def probability(self, own: list[int]) -> float:
        """The chance that others follow."""
        weights = self._weights
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, sum([weights[i] for i in own])))))

    def learn(self, own: list[int], is_echoed: bool) -> None:
        """A day later it is known."""
        self.labels += 1
        self.echoed += is_echoed
        self._recent = self._recent * MEMORY + 1.0
        self._recent_echoed = self._recent_echoed * MEMORY + is_echoed
        gradient = self.probability(own) - is_echoed
        weights, squares, square = self._weights, self._squares, gradient * gradient
        for i in own:
            squares[i] += square
            weights[i] -= RATE * gradient / math.sqrt(squares[i] + 1.0)

    def get_state(self) -> dict[str, Any]:
        used = np.flatnonzero(np.array(self._squares))
        return {
            "used": used,
            "weights": np.array(self._weights)[used],
            "squares": np.array(self._squares)[used],
            "counts": [self.labels, self.echoed, self._recent_echoed, self._recent],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        echo = cls()
        values = zip(state["used"].tolist(), state["weights"].tolist(), state["squares"].tolist(), strict=True)
        for i, weight, square in values:
            echo._weights[i], echo._squares[i] = weight, square
        echo.labels, echo.echoed, echo._recent_echoed, echo._recent = state["counts"]
        return echo

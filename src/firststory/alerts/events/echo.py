"""The chance that others follow a first report, learnt from the stream a day late: an online logistic regression.

Features are words, source, length, punctuation and novelty, hashed by CRC-32, which is the same in every process. The
weights follow AdaGrad (Duchi, Hazan & Singer 2011).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Self
from zlib import crc32

import numpy as np

from firststory.arrays import Ints
from firststory.kernels.alerts.echo import learn, probabilities

SIZE = 1 << 15
MEMORY = 0.9995
"""By which the base rate fades with each label."""
MAX_WORDS = 24
_SIGNS = re.compile(r"""[0-9?:!|"“‘]""")
_WORD, _SOURCE, _NOVEL_SOURCE, _USUAL_SOURCE, _NOVELTY, _LENGTH, _OPENING, _SIGN = range(1, 9)
"""Kinds of features: where their checksums begin."""
_OF_SIGN = {sign: crc32(b"0" if sign.isdigit() else sign.encode(), _SIGN) % SIZE for sign in '0123456789?:!|"“‘'}


def features(title: str, source: str | None, novelty: float) -> list[int]:
    """The hashed features of a first report, each once, in order.

    Examples
    --------
    >>> features("Storm closes bridge", "BBC", 0.9) == features("Storm closes bridge", "BBC", 0.9)
    True
    """
    words = title.lower().encode("utf-8", "replace").split()[:MAX_WORDS]
    own = {crc32(word, _WORD) % SIZE for word in words}
    own.update(_of_source(source or "", novelty > 0.8))
    own.update((_of_number(int(10 * novelty), _NOVELTY), _of_number(len(words), _LENGTH), 0))
    own.add(crc32(b" ".join(words[:1]), _OPENING) % SIZE)
    own.add(crc32(b" ".join(words[:2]), _OPENING) % SIZE)
    own.update(map(_OF_SIGN.__getitem__, _SIGNS.findall(title)))
    return sorted(own)


@lru_cache(maxsize=1 << 12)
def _of_source(source: str, is_novel: bool) -> tuple[int, int]:
    who = source.encode("utf-8", "replace")
    return crc32(who, _SOURCE) % SIZE, crc32(who, _NOVEL_SOURCE if is_novel else _USUAL_SOURCE) % SIZE


@lru_cache(maxsize=1 << 8)
def _of_number(number: int, kind: int) -> int:
    return crc32(b"%d" % number, kind) % SIZE


class EchoChance:
    """P(another voice follows within a day) of documents that nothing earlier is like."""

    def __init__(self) -> None:
        self._weights, self._squares = np.zeros(SIZE), np.zeros(SIZE)
        self.labels = 0
        self.echoed = 0
        self._recent_echoed, self._recent = 1.0, 10.0

    @property
    def base_rate(self) -> float:
        """The share of first reports that others followed, lately."""
        return self._recent_echoed / self._recent

    def probabilities(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """The chance that others follow, of each row of features."""
        found: list[float] = probabilities(*_joined(rows), self._weights).tolist()
        return found

    def learn(self, rows: Sequence[Sequence[int]], is_echoed: Sequence[bool]) -> None:
        """A day later it is known."""
        learn(*_joined(rows), np.array(is_echoed, dtype=np.bool_), self._weights, self._squares)
        for echoed in is_echoed:
            self.labels += 1
            self.echoed += echoed
            self._recent = self._recent * MEMORY + 1.0
            self._recent_echoed = self._recent_echoed * MEMORY + echoed

    def get_state(self) -> dict[str, Any]:
        used = np.flatnonzero(self._squares)
        return {
            "used": used,
            "weights": self._weights[used],
            "squares": self._squares[used],
            "counts": [self.labels, self.echoed, self._recent_echoed, self._recent],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        echo = cls()
        echo._weights[state["used"]], echo._squares[state["used"]] = state["weights"], state["squares"]
        echo.labels, echo.echoed, echo._recent_echoed, echo._recent = state["counts"]
        return echo


def _joined(rows: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    ends = np.cumsum([0, *map(len, rows)])
    return ends, np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(ends[-1]))

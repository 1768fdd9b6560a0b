"""Cut a batch into chunks of bounded size, so that memory does not depend on how long a document or a batch is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 17
"""Characters of a chunk. A longer document is cut at white space, and only for want of any within a word."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some documents of a batch, or a piece of a long one."""

    text: str
    ends: NDArray[np.int64]
    """One past the last character of each document, in `text`."""
    is_open: bool = False
    """Whether the last document goes on in the next chunk."""

    def codes(self) -> NDArray[np.uint32]:
        """The code points."""
        return np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def chunks(texts: Sequence[str], size: int = CHUNK) -> Iterator[Chunk]:
    """All of the texts, in order."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    ends = np.cumsum(lengths + 1)
    first = 0
    while first < len(texts):
        begin = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, begin + size, side="right")), first + 1)
        if lengths[first] > size:
            for start, end in _cuts(texts[first], size):
                is_open = end < len(texts[first])
                yield Chunk(texts[first][start:end], np.array([end - start]), is_open)
        else:
            yield Chunk("\n".join(texts[first:last]), ends[first:last] - begin - 1)
        first = last


def _cuts(text: str, size: int) -> Iterator[tuple[int, int]]:
    begin = 0
    while len(text) - begin > size:
        end = begin + size
        space = max(text.rfind(mark, begin, end) for mark in (" ", "\n", "\t", "\u3000", "。"))
        end = space + 1 if space > begin else end
        yield begin, end
        begin = end
    yield begin, len(text)

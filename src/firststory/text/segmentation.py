"""Words of scripts that are written without spaces: ICU's dictionaries where the extra is installed."""

from __future__ import annotations

import itertools
from importlib.util import find_spec
from typing import Any

from firststory.errors import MissingExtraError


def best_segmenter() -> str:
    """ "icu" where PyICU is installed, "bigrams" otherwise."""
    return "icu" if find_spec("icu") is not None else "bigrams"


class IcuSegmenter:
    """Cuts a run of Chinese, Japanese, Thai, Lao, Khmer or Burmese into words.

    Examples
    --------
    >>> from firststory.text.segmentation import best_segmenter, IcuSegmenter
    >>> if best_segmenter() == "icu":
    ...     assert IcuSegmenter().spans("北京大学") == [(0, 4)] or IcuSegmenter().spans("北京大学") == [(0, 2), (2, 4)]
    """

    def __init__(self) -> None:
        try:
            import icu
        except ImportError as error:
            raise MissingExtraError("StreamVectorizer(segmenter='icu')", "icu", "icu") from error
        self._icu = icu
        # The dictionaries go by script, not by locale.
        self._breaks: Any = icu.BreakIterator.createWordInstance(icu.Locale.getRoot())

    def spans(self, run: str) -> list[tuple[int, int]]:
        """(start, end) of each word in `run`, in characters."""
        self._breaks.setText(self._icu.UnicodeString(run))
        cuts = [0, *self._breaks]
        if any(ord(letter) > 0xFFFF for letter in run):
            cuts = _characters(run, cuts)
        return list(itertools.pairwise(cuts))


def _characters(run: str, cuts: list[int]) -> list[int]:
    """ICU counts UTF-16 units; Python counts characters. The two differ outside the basic plane."""
    at = {0: 0}
    units = 0
    for i, letter in enumerate(run):
        units += 2 if ord(letter) > 0xFFFF else 1
        at[units] = i + 1
    return [at[cut] for cut in cuts if cut in at]

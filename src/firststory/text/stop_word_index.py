"""The stop words of every language in one table, and the scripts that languages are written in."""

from __future__ import annotations

from functools import cache

import numpy as np

from firststory.kernels.text.languages import HAN, KANA, LATIN, NO_SCRIPT, OTHER, StopWordIndex, slot_of, word_key
from firststory.text.language import UNKNOWN, stop_words, supported

SCRIPTS: tuple[tuple[tuple[tuple[int, int], ...], str], ...] = (
    # Blocks of Unicode, and the languages that are written in them; the first three are LATIN, KANA and HAN.
    (((0x41, 0x5A), (0x61, 0x7A), (0xAA, 0x24F), (0x1E00, 0x1EFF), (0xFF21, 0xFF5A)), ""),
    (((0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9D)), "ja"),
    (((0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)), "zh"),
    ((), ""),  # OTHER
    (((0x370, 0x3FF), (0x1F00, 0x1FFF)), "el"),
    (((0x400, 0x52F),), "bg ru sr uk"),
    (((0x530, 0x58F),), "hy"),
    (((0x590, 0x5FF),), "he yi"),
    (((0x600, 0x6FF), (0x750, 0x77F), (0xFB50, 0xFDFF), (0xFE70, 0xFEFF)), "ar fa ku ur"),
    (((0x900, 0x97F),), "hi mr ne"),
    (((0x980, 0x9FF),), "bn"),
    (((0xA80, 0xAFF),), "gu"),
    (((0xB80, 0xBFF),), "ta"),
    (((0xE00, 0xE7F),), "th"),
    (((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7AF)), "ko"),
)
LOWER_CODES = 0x2000
"""Code points that may have a lower case; the alphabets beyond have none, or are not told by their stop words."""


@cache
def codes() -> tuple[str, ...]:
    """The languages by their numbers; the last is "cannot be told"."""
    return (*supported(), UNKNOWN)


@cache
def number_of(code: str) -> int:
    """The number of a language."""
    return codes().index(code)


@cache
def stop_word_index() -> StopWordIndex:
    """The table, made once for all streams."""
    lower = np.array([ord(chr(c).lower()) if len(chr(c).lower()) == 1 else c for c in range(LOWER_CODES)], np.uint32)
    by_key: dict[int, list[int]] = {}
    for number, code in enumerate(supported()):
        for word in sorted(stop_words(code)):
            letters = np.frombuffer(word.encode("utf-32-le"), dtype=np.uint32)
            by_key.setdefault(int(word_key(letters, 0, letters.size, lower)), []).append(number)
    size = 1 << (3 * len(by_key)).bit_length()
    keys = np.zeros(size, dtype=np.uint64)
    first, last = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.int32)
    languages: list[int] = []
    for key, numbers in by_key.items():
        slot = slot_of(np.uint64(key), keys)
        keys[slot], first[slot] = key, len(languages)
        languages += numbers
        last[slot] = len(languages)
    return StopWordIndex(lower, keys, first, last, np.array(languages, dtype=np.uint8), *_scripts())


def _scripts() -> tuple[np.ndarray, np.ndarray]:
    assert (LATIN, KANA, HAN, OTHER) == (0, 1, 2, 3)
    scripts = np.array([OTHER if chr(c).isalpha() else NO_SCRIPT for c in range(0x10000)], dtype=np.uint8)
    written = np.zeros((len(SCRIPTS), len(supported())), dtype=np.bool_)
    for number, (blocks, languages) in enumerate(SCRIPTS):
        for begin, end in blocks:
            block = scripts[begin : end + 1]
            block[block != NO_SCRIPT] = number
        written[number, [number_of(code) for code in languages.split()]] = True
    written[LATIN] = ~written.any(axis=0)
    written[LATIN, number_of("sr")] = True
    return scripts, written

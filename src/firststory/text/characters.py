"""The class of every code point: what is a letter, what joins, what is invisible, what is written without spaces."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import regex
from numpy.typing import NDArray

from firststory.kernels.text import tokens as k

Classes = NDArray[np.uint8]

IN_USE = ((0, 0x40000), (0xE0000, 0xE1000))
"""Outside of these there are no letters, digits, marks, signs or controls."""

UNSPACED_SCRIPTS = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")
"""Scripts that put no spaces between words."""

_RULES = (
    # Later rules win.
    (r"\p{L}|\p{Nl}|\p{No}", k.LETTER),
    (r"\p{Nd}", k.DIGIT),
    (r"\p{M}", k.MARK),
    # Zero-width characters, soft hyphens, bidi controls, variation selectors, NUL and the other controls that show
    # nothing. White space among the controls separates.
    (r"\p{Cf}|\p{Variation_Selector}|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]", k.IGNORABLE),
    ("[" + "".join(rf"\p{{Script={script}}}" for script in UNSPACED_SCRIPTS) + r"ー々〇ｰ&&[\p{L}\p{N}]]", k.UNSPACED),
    (r"['’＇]", k.APOSTROPHE),
    (r"[.,:/٫٬．，：]", k.NUMBER_JOIN),
    (r"[-‐‑]", k.HYPHEN),
    (r"[#＃]", k.HASH),
    (r"[@＠]", k.AT),
    (r"[&]", k.AMPERSAND),
)


@cache
def word_classes() -> Classes:
    """Classes for words, numbers, hashtags, mentions, URLs and scripts without spaces."""
    classes = np.zeros(0x110000, dtype=np.uint8)
    for pattern, kind in _RULES:
        mark_characters(classes, rf"(?V1:{pattern})+", kind)
    return classes


@cache
def plain_classes() -> Classes:
    r"""Classes for the runs that Python's `[^\W_]+` matches, and nothing else."""
    classes = np.zeros(0x110000, dtype=np.uint8)
    mark_characters(classes, re.compile(r"[^\W_]+"), k.LETTER)
    return classes


def mark_characters(classes: Classes, pattern: str | re.Pattern[str], kind: int) -> None:
    """Give a class to all characters that a pattern (of `regex`, or one of `re`) matches."""
    find = regex.compile(pattern).finditer if isinstance(pattern, str) else pattern.finditer
    for first, characters in _every_character():
        for match in find(characters):
            classes[first + match.start() : first + match.end()] = kind


INVISIBLE = regex.compile(r"[\p{Cf}\p{Variation_Selector}\p{Me}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+")
"""What is left out of a term: characters that show nothing, and enclosing marks (keycaps)."""


@cache
def _every_character() -> list[tuple[int, str]]:
    """Every character that means anything, in runs with the code point of the first.

    Most of Unicode is not in use, or is for everyone's own use: looking through that would take most of the time.
    """
    return [(first, "".join(map(chr, range(first, last)))) for first, last in IN_USE]

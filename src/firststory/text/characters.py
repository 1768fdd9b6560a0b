"""The class of every code point: what is a letter, what joins, what is invisible, what is written without spaces."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import regex
from numpy.typing import NDArray

from firststory.kernels.text import tokens as k

Classes = NDArray[np.uint8]

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
    everything = _every_character()
    for pattern, kind in _RULES:
        for match in regex.finditer(rf"(?V1:{pattern})+", everything):
            classes[match.start() : match.end()] = kind
    return classes


@cache
def plain_classes() -> Classes:
    r"""Classes for the runs that Python's `[^\W_]+` matches, and nothing else."""
    classes = np.zeros(0x110000, dtype=np.uint8)
    for match in re.finditer(r"[^\W_]+", _every_character()):
        classes[match.start() : match.end()] = k.LETTER
    return classes


INVISIBLE = regex.compile(r"[\p{Cf}\p{Variation_Selector}\p{Me}\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+")
"""What is left out of a term: characters that show nothing, and enclosing marks (keycaps)."""


def _every_character() -> str:
    return "".join(map(chr, range(0x110000)))

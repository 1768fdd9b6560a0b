"""Text from strangers cannot act: no escapes, no overrides, nothing invisible, nothing endless; scripts stay whole."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.harmless import MAX_MARKS, harmless


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=300), st.integers(1, 80))
def test_nothing_that_acts_survives(text, limit):
    line = harmless(text, limit)
    assert len(line) <= limit
    for character in line:
        category = unicodedata.category(character)
        assert category[0] != "C" or character in "\u200c\u200d"
        assert category not in ("Zl", "Zp")
    assert harmless(line, limit) == line  # once is enough


def test_scripts_emoji_and_accents_stay_whole():
    for text in ("می‌خواهم", "क्‍ष", "👩‍👩‍👧", "Čapek à Zürich", "שלום עולם", "東京で地震", "e\u0301"):
        assert harmless(text) == text


def test_known_tricks():
    assert harmless("a\u200bb\ufeffc\u00add\u2060e") == "abcde"
    assert harmless("pass\u200dword") == "password"  # a joiner has no business between Latin letters
    assert harmless("\u202efdp.exe\u2066x\u2069") == "fdp.exex"
    assert harmless("\x1b]0;title\x07\x9b31mred") == "]0;title31mred"
    assert harmless("\U000e0041\U000e0042tag") == "tag"
    assert harmless("e" + "\u0301" * 50) == "e" + "\u0301" * MAX_MARKS
    assert harmless("a\x00b\ud800c") == "ab\ufffdc"
    assert len(harmless("x" * 1_000_000)) == 200
    assert harmless("\u200b" * 1_000_000) == ""


def test_a_line_that_needs_nothing_is_not_copied():
    line = "Harbour bridge closed"
    assert harmless(line) is line
    assert harmless("Harbour  bridge ") == "Harbour bridge"

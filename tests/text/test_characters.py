"""The classes of characters: the same as when every code point is looked at."""

from __future__ import annotations

import re
from functools import cache

import pytest
import regex

from firststory.text import characters
from firststory.text.characters import IN_USE
from firststory.text.phrases import alphabet


@cache
def everything():
    return "".join(map(chr, range(0x110000)))


def outside_of_use(pattern):
    """Characters that match and are not looked at."""
    found = [n for match in pattern.finditer(everything()) for n in range(match.start(), match.end())]
    return [n for n in found if not any(first <= n < last for first, last in IN_USE)]


@pytest.mark.parametrize("rules, flag", [(characters._RULES, "V1"), (alphabet._RULES, "")], ids=["words", "phrases"])
def test_nothing_that_is_not_looked_at_has_a_class(rules, flag):
    for pattern, _ in rules:
        assert not outside_of_use(regex.compile(rf"(?{flag}:{pattern})+")), pattern


def test_nothing_that_is_not_looked_at_is_a_letter_for_python():
    assert not outside_of_use(re.compile(r"[^\W_]+"))

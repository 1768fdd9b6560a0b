"""How the value of a setting is read from text, and what it must be."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple


class Rule(NamedTuple):
    """What a setting must be: in words, and the check that returns its value or raises ValueError."""

    allowed: str
    check: Callable[[Any], Any]


FAMILIES_EXAMPLE = "CNN Politics=CNN, NYT Politics=NYT"


def count_from(text: str) -> int:
    return int(text.replace("_", "").replace(",", ""))


def step_from(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def truth_from(text: str) -> bool:
    """Yes or no, as people write it."""
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    return words[text.strip().lower()]


def seconds_from(value: Any) -> float:
    """A length of time in seconds: 90, "30s", "5min", "1h"."""
    if isinstance(value, str) and (found := re.fullmatch(r"\s*([0-9.]+)\s*(s|min|h|d)?\s*", value)):
        value = float(found[1]) * {"s": 1, "min": 60, "h": 3600, "d": 86400}[found[2] or "s"]
    return _positive_number(value)


def seconds_or_none(value: Any) -> float:
    """A length of time in seconds, or 0."""
    return 0.0 if value in (0, "0") and not isinstance(value, bool) else seconds_from(value)


def words_from(text: str) -> list[str]:
    """Words with spaces or commas between."""
    return text.replace(",", " ").split()


def families_from(text: str) -> dict[str, str]:
    """Each source with its family, from "source=family" with commas between.

    Examples
    --------
    >>> families_from("CNN Politics=CNN, NYT Politics=NYT")
    {'CNN Politics': 'CNN', 'NYT Politics': 'NYT'}
    """
    families: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        source, equals, family = (part.strip() for part in pair.rpartition("="))
        if not (source and equals and family) or families.get(source, family) != family:
            raise ValueError(pair)
        families[source] = family
    return families


def whole_number(least: int) -> Rule:
    """A whole number that is not too small."""

    def check(value: Any) -> int:
        if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
            return int(value)
        raise ValueError(value)

    return Rule(f"a whole number of {least} or more", check)


def one_of(words: Sequence[str]) -> Rule:
    """One of some words."""

    def check(value: Any) -> str:
        if value in words:
            return str(value)
        raise ValueError(value)

    return Rule(f"one of {', '.join(words)}", check)


def _cores(value: Any) -> int | str:
    if value == "auto" or (value in (1, 2) and not isinstance(value, bool)):
        return value if value == "auto" else int(value)
    raise ValueError(value)


CORES = Rule("auto, 1 or 2", _cores)


def _positive_number(value: Any) -> float:
    if isinstance(value, Real) and not isinstance(value, bool) and 0.0 < float(value) < math.inf:
        return float(value)
    raise ValueError(value)


POSITIVE_NUMBER = Rule("a number above 0", _positive_number)


LENGTH_OF_TIME = Rule("a length of time as 30s, 5min or 1h", seconds_from)
LENGTH_OR_NONE = Rule("a length of time, or 0", seconds_or_none)


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(value)


TRUTH = Rule("true or false", _truth)


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)) and all(isinstance(word, str) and word.strip() for word in value):
        return tuple(value)
    raise ValueError(value)


WORDS = Rule("a list of texts", _words)


def _families(value: Any) -> dict[str, str]:
    if isinstance(value, Mapping) and all(
        isinstance(word, str) and word.strip() for pair in value.items() for word in pair
    ):
        return {source.strip(): family.strip() for source, family in value.items()}
    raise ValueError(value)


FIELDS = ("id", "text", "time", "title", "source", "url", "label", "vector")
"""The fields of a document."""
COLUMNS_EXAMPLE = "text=body, title=headline"


def _columns(value: Any) -> dict[str, str]:
    if isinstance(value, Mapping) and all(
        field in FIELDS and isinstance(column, str) and column for field, column in value.items()
    ):
        return dict(value)
    raise ValueError(value)


COLUMNS = Rule(f"a table from {', '.join(FIELDS)} to the names of columns, as in {COLUMNS_EXAMPLE!r}", _columns)

FAMILIES = Rule(f"a table from sources to families, or text as in {FAMILIES_EXAMPLE!r}", _families)

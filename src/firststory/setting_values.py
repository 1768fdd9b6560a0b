"""How the value of a setting is read from text, and what it must be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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


def _positive_number(value: Any) -> float:
    if isinstance(value, Real) and not isinstance(value, bool) and 0.0 < float(value) < math.inf:
        return float(value)
    raise ValueError(value)


POSITIVE_NUMBER = Rule("a number above 0", _positive_number)


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

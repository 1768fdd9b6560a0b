"""What values an estimator's parameters may have, as a table that is checked when it is fitted.

    {"n_atoms": [Interval(Integral, 1, None, closed="left")], "update": [StrOptions({"hard", "soft"}), None]}

The words are those of scikit-learn, whose own table is private. A value is allowed if any entry of its list allows it:
an `Interval`, `StrOptions`, a class, None, or one of the strings "boolean", "random_state", "array-like" and
"sparse matrix".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from firststory.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers between two bounds; None is infinite, and an infinite number is in only where that side is closed.

    Examples
    --------
    >>> Interval(Real, 0, 1, closed="right").allows(1.0), Interval(Integral, 1, None, closed="left").allows(0)
    (True, False)
    """

    kind: type[Real] | type[Integral]
    low: float | None
    high: float | None
    closed: Literal["left", "right", "both", "neither"] = field(default="left", kw_only=True)

    def allows(self, value: Any) -> bool:
        if not isinstance(value, self.kind) or isinstance(value, (bool, np.bool_)) or value != value:
            return False
        number: Any = value
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        above = number >= low if self.closed in ("left", "both") else number > low
        below = number <= high if self.closed in ("right", "both") else number < high
        return bool(above and below)

    def __str__(self) -> str:
        left = "[" if self.closed in ("left", "both") else "("
        right = "]" if self.closed in ("right", "both") else ")"
        low = "-inf" if self.low is None else f"{self.low}"
        high = "inf" if self.high is None else f"{self.high}"
        return f"{'an int' if self.kind is Integral else 'a number'} in {left}{low}, {high}{right}"


@dataclass(frozen=True, slots=True)
class StrOptions:
    """One of some strings."""

    options: Iterable[str]

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        return " or ".join(repr(option) for option in sorted(self.options))


def check_parameters(owner: str, values: Mapping[str, Any], constraints: Mapping[str, Sequence[Any]]) -> None:
    """Raise for the first parameter whose value none of its entries allows.

    Examples
    --------
    >>> check_parameters("Model", {"tol": -1}, {"tol": [Interval(Real, 0, None, closed="left"), None]})
    Traceback (most recent call last):
    firststory.errors.ParameterError: Model: tol must be a number in [0, inf) or None; received -1. Pass an allowed ...
    """
    for name, value in values.items():
        entries = constraints.get(name)
        if entries is not None and not any(_allows(entry, value) for entry in entries):
            raise ParameterError(
                owner=owner,
                parameter=name,
                allowed=" or ".join(_described(entry) for entry in entries),
                received=value,
                remedy=f"Pass an allowed value, or leave {name} out to get the default.",
            )


def _allows(entry: Any, value: Any) -> bool:
    if isinstance(entry, (Interval, StrOptions)):
        return entry.allows(value)
    if entry is None:
        return value is None
    if entry == "boolean":
        return isinstance(value, (bool, np.bool_))
    if entry == "random_state":
        return value is None or isinstance(value, np.random.RandomState) or Interval(Integral, 0, None).allows(value)
    if entry == "array-like":
        return (hasattr(value, "__len__") or getattr(value, "ndim", 0) > 0) and not isinstance(value, (str, bytes))
    if entry == "sparse matrix":
        return bool(sp.issparse(value))
    return isinstance(value, entry)


def _described(entry: Any) -> str:
    if entry is None or isinstance(entry, (Interval, StrOptions)):
        return str(entry)
    if isinstance(entry, type):
        return f"a {entry.__name__}"
    return {"boolean": "True or False", "random_state": "a seed (an int >= 0, a RandomState or None)"}.get(
        entry, f"{'an' if entry[0] in 'aeiou' else 'a'} {entry}"
    )

"""Values that stand for nothing: None, NaN, pandas' NaT and NA, numpy's NaT."""

from __future__ import annotations

from typing import Any

_ALWAYS = ("NaTType", "NAType")
_SOMETIMES = ("float", "float16", "float32", "float64", "longdouble", "Decimal", "datetime64", "timedelta64")


def is_absent(value: Any) -> bool:
    """Whether there is no value. Told by the name of the type, so that neither numpy nor pandas need be there.

    Examples
    --------
    >>> [is_absent(value) for value in (None, float("nan"), "", 0, "nan")]
    [True, True, False, False, False]
    """
    if value is None:
        return True
    name = type(value).__name__
    if name in _ALWAYS:
        return True
    # What is no number does not equal itself; nothing else that stands for a value does that.
    return name in _SOMETIMES and bool(value != value)

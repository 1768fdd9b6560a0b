"""What people bring as a vector, as a direction: an array of float16 and length one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.errors import DocumentError

MAX_DIMENSIONS = 16_384
"""A stranger's document must not fill the memory: the window holds one vector per document."""
LENGTH_TOLERANCE = 2.0**-10
"""By how much a vector of length one may be longer or shorter after it was rounded to float16."""


def parse_vector(value: Any) -> NDArray[np.float16] | None:
    """The direction of a list of numbers; None for None, and for zeros, which have no direction.

    Only directions are compared, so length is not kept. Half precision takes two bytes per number and moves a cosine by
    less than 0.001. What has been rounded so before stays as it is, bit for bit.

    Examples
    --------
    >>> parse_vector([3, 0.0, -4])
    array([ 0.6,  0. , -0.8], dtype=float16)
    """
    if value is None:
        return None
    kinds = set(map(type, value)) if isinstance(value, (list, tuple)) else set()
    if bool in kinds:
        raise _bad(value, "a truth value among the numbers")
    try:
        array = np.asarray(value, dtype=np.float64 if kinds and kinds <= {int, float} else None)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise _bad(value, str(error)) from error
    if array.dtype.kind not in "fiu" or array.ndim != 1:
        raise _bad(value, "no list of numbers")
    if not 1 <= len(array) <= MAX_DIMENSIONS:
        raise _bad(value, f"{len(array):,} numbers")
    exact = array.astype(np.float64)
    if not np.isfinite(exact).all():
        raise _bad(value, "a number that is not finite")
    largest = np.abs(exact).max()
    if largest == 0.0:
        return None
    if array.dtype == np.float16 and abs(np.linalg.norm(exact) - 1.0) <= LENGTH_TOLERANCE:
        kept = array.copy()
    else:
        # The largest becomes one first: squares of very large or very small numbers are infinite, or nothing.
        exact /= largest
        kept = (exact / np.linalg.norm(exact)).astype(np.float16)
    kept.setflags(write=False)
    return kept


def wrong_dimension(found: int, expected: int) -> DocumentError:
    """The error for a vector that is not like those before it."""
    return DocumentError(
        "bad-vector",
        owner="document",
        parameter="vector",
        allowed=f"of {expected:,} numbers, as the first of this stream",
        received=f"{found:,} numbers",
        remedy="All vectors of a stream come from one encoder; leave this one out, or begin another store.",
    )


def _bad(value: Any, problem: str) -> DocumentError:
    return DocumentError(
        "bad-vector",
        owner="document",
        parameter="vector",
        allowed=f"a list of 1 to {MAX_DIMENSIONS:,} finite numbers",
        received=value,
        remedy='Write it as "vector": [0.12, -0.5, 0.33], or leave it out.',
        message=f"vector must be a list of 1 to {MAX_DIMENSIONS:,} finite numbers; received {problem}.",
    )

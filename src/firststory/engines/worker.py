"""What runs on a worker of a cluster: one piece, after a look at whether this worker computes as the driver does."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

from firststory._version import __version__

PACKAGES = ("numpy", "scipy", "numba", "regex", "PyStemmer", "scikit-learn", "onnxruntime")
"""What the results of a piece depend on besides firststory itself."""


class Refused(NamedTuple):
    """What a worker answers in place of a result where it is not like the driver."""

    worker: str
    found: dict[str, str]


@cache
def fingerprint() -> dict[str, str]:
    """What decides the bits of a result on this machine."""
    found = {"firststory": __version__, "Python": ".".join(map(str, sys.version_info[:2]))}
    found["machine"] = platform.machine()
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def differences(wanted: Mapping[str, str], found: Mapping[str, str]) -> str:
    """Where a worker is not like the driver, in words; empty where it is.

    Examples
    --------
    >>> differences({"numpy": "2.1", "scipy": "1.15"}, {"numpy": "2.0", "scipy": "1.15"})
    'numpy 2.0 (here 2.1)'
    """
    names = [name for name in wanted if found.get(name, "none") != wanted[name]]
    return ", ".join(f"{name} {found.get(name, 'none')} (here {wanted[name]})" for name in names)


def hand_on(value: Any) -> Any:
    """What pieces share, as a task of its own: the cluster keeps it, copies it, and makes it anew when it is lost."""
    return value


def run_piece(wanted: Mapping[str, str], function: Callable[..., Any], piece: Any, *shared: Any) -> Any:
    """The function on one piece, or `Refused`."""
    found = fingerprint()
    if found != wanted:
        return Refused(this_worker(), found)
    return function(*map(writable, (piece, *shared)))


def writable(value: Any) -> Any:
    """The same value with arrays that may be written to: kernels are compiled for those, and what came over the network
    may not be. Arrays are looked for in tuples and lists.
    """
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["C", "W"])
    if isinstance(value, tuple):
        parts = [writable(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return [writable(part) for part in value] if isinstance(value, list) else value


def this_worker() -> str:
    """The address of the worker that this runs on."""
    from distributed import get_worker

    return str(get_worker().address)

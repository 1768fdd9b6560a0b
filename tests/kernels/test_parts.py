"""Parts of kernels count no references: what they may not do, or memory would leak or be freed too soon."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

import firststory.kernels
from firststory.kernels.jit import part_of_kernel

PLAIN = re.compile(
    r"(None|int|float|bool|np\.u?int\d+|np\.float\d+|PairWeights|tuple\[(int|float|bool|np\.u?int\d+|, )+\])"
)
"""What has no array in it, as annotations say it; `PairWeights` are numbers."""


def _kernels() -> dict[str, Any]:
    found = {}
    for module in pkgutil.walk_packages(firststory.kernels.__path__, "firststory.kernels."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Dispatcher):
                found[f"{value.py_func.__module__}.{value.py_func.__name__}"] = value
    return found


def _is_part(kernel: Any) -> bool:
    return kernel.targetoptions["_nrt"] is False


PARTS = {name: kernel for name, kernel in _kernels().items() if _is_part(kernel)}


def _hands_back_no_array(kernel: Any) -> bool:
    return PLAIN.fullmatch(str(kernel.py_func.__annotations__["return"])) is not None


def test_there_are_parts():
    assert len(PARTS) > 50


@pytest.mark.parametrize("name", sorted(PARTS))
def test_a_part_hands_no_array_back_and_is_handed_none(name):
    function = PARTS[name].py_func
    assert _hands_back_no_array(PARTS[name])
    called = [function.__globals__.get(other) for other in function.__code__.co_names]
    assert all(_hands_back_no_array(kernel) for kernel in called if isinstance(kernel, Dispatcher))


def test_a_part_that_makes_an_array_does_not_compile():
    def makes_an_array(n: int) -> float:
        return float(np.empty(n).sum())

    with pytest.raises(NumbaError):
        part_of_kernel(makes_an_array)(3)

"""The table of allowed parameter values agrees with scikit-learn's own, and nothing private of scikit-learn is used."""

from __future__ import annotations

import ast
from numbers import Integral, Real
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import firststory
from firststory.errors import ParameterError
from firststory.parameters import Interval, StrOptions, check_parameters

VALUES = [
    None, True, 0, 1, 2, -1, 0.0, 0.5, 1.0, 1.5, float("inf"), float("-inf"), float("nan"), np.int64(1),
    np.float32(0.5), "", "auto", "1", [1.0], np.ones(2), sp.csr_matrix(np.ones((1, 1))),
]  # fmt: skip


@pytest.mark.parametrize("closed", ["left", "right", "both", "neither"])
@pytest.mark.parametrize("bounds", [(0, 1), (0, None), (None, 1), (1, 2)])
@pytest.mark.parametrize("kind", [Real, Integral])
def test_intervals_are_those_of_scikit_learn(kind, bounds, closed):
    private = pytest.importorskip("sklearn.utils._param_validation")
    if kind is Integral and ((bounds[1] is None and closed in ("right", "both")) or bounds[0] is None):
        pytest.skip("scikit-learn has no such interval")
    theirs, ours = private.Interval(kind, *bounds, closed=closed), Interval(kind, *bounds, closed=closed)
    for value in VALUES:
        if not isinstance(value, bool):  # True is no number to us
            assert ours.allows(value) == theirs.is_satisfied_by(value), value


@pytest.mark.parametrize(
    ("entries", "allowed"),
    [
        ([StrOptions({"auto", "1"})], ["auto", "1"]),
        ([Interval(Integral, 1, None, closed="left"), None], [None, 1, 2, np.int64(1)]),
        (["boolean"], [True]),
        (["random_state"], [None, 0, 1, 2, np.int64(1)]),
        (["array-like"], [[1.0], "array", "sparse"]),
        (["sparse matrix"], ["sparse"]),
        ([str, None], [None, "", "auto", "1"]),
    ],
    ids=["options", "interval", "boolean", "random_state", "array", "sparse", "class"],
)
def test_what_each_entry_allows(entries, allowed):
    passed = []
    for value in VALUES:
        try:
            check_parameters("X", {"a": value}, {"a": entries})
            passed.append("sparse" if sp.issparse(value) else "array" if isinstance(value, np.ndarray) else value)
        except ParameterError as error:
            assert (error.owner, error.parameter) == ("X", "a") and error.received is value
    assert passed == allowed


def test_the_message_names_every_alternative():
    with pytest.raises(ParameterError, match=r"n must be 'auto' or an int in \[1, inf\) or None; received 0"):
        check_parameters("X", {"n": 0}, {"n": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None]})


def test_nothing_private_of_scikit_learn_is_imported():
    """Private names change without notice; so no upper bound on its version is needed."""
    for path in Path(firststory.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                names = [*str(node.module).split("."), *(alias.name for alias in node.names)]
                assert not [name for name in names if name.startswith("_")], f"{path.name}: {names}"

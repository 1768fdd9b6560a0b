"""Every public estimator passes scikit-learn's checks and the stream contract, and none escapes."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import firststory as fs
from firststory.checks import STREAM_CHECKS
from firststory.estimator import StreamEstimator

# Smaller than the defaults, so that the hundred checks of scikit-learn stay quick; nothing else is changed.
SMALL: dict[str, dict[str, object]] = {
    "OnlineNMF": {"n_components": 5},
    "BatchL1Dictionary": {"n_atoms": 8, "init_rounds": 2, "max_rounds": 5},
    "BatchL2Dictionary": {"n_atoms": 8, "max_rounds": 3},
    "OnlineL1Dictionary": {"n_atoms": 8, "init_rounds": 2},
}


def public_estimators() -> list[type[StreamEstimator]]:
    found = [getattr(fs, name) for name in fs.__all__]
    return [kind for kind in found if inspect.isclass(kind) and issubclass(kind, StreamEstimator)]


def build(kind: type[StreamEstimator]) -> StreamEstimator:
    return kind(**SMALL.get(kind.__name__, {}))


@parametrize_with_checks([build(kind) for kind in public_estimators()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", STREAM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", public_estimators(), ids=lambda kind: kind.__name__)
def test_stream_contract(kind, check):
    check(build(kind))


def test_no_estimator_escapes():
    defined = set()
    for package in ("detectors", "topics"):
        parent = importlib.import_module(f"firststory.{package}")
        for info in pkgutil.walk_packages(parent.__path__, parent.__name__ + "."):
            module = importlib.import_module(info.name)
            defined |= {
                kind
                for _, kind in inspect.getmembers(module, inspect.isclass)
                if issubclass(kind, StreamEstimator)
                and kind.__module__ == info.name
                and not inspect.isabstract(kind)
                and not info.name.endswith(".base")
            }
    assert defined == set(public_estimators())

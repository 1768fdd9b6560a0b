"""Every public estimator passes scikit-learn's checks and the stream contract, and none escapes."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import firststory as fs
from firststory.checks import STREAM_CHECKS, stream_of_rows
from firststory.detectors.base import StreamDetector
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


@pytest.mark.parametrize(
    "kind", [kind for kind in public_estimators() if issubclass(kind, StreamDetector)], ids=lambda kind: kind.__name__
)
def test_manners_of_scikit_learns_outlier_detectors(kind):
    """What `check_outliers_train` asks: scikit-learn skips it here, because it feeds negative rows."""
    first, second = stream_of_rows(n_steps=2, growth=0)
    labels = np.arange(first.shape[0]) // 4
    detector = build(kind).fit(first, labels).partial_fit(first)
    scores, decisions, said = (
        act(second) for act in (detector.score_samples, detector.decision_function, detector.predict)
    )
    np.testing.assert_allclose(scores, -detector.novelty(second))
    np.testing.assert_allclose(decisions, scores - detector.offset_)
    np.testing.assert_array_equal(said, np.where(decisions < 0, -1, 1))
    assert set(build(kind).fit_predict(first, labels)) <= {-1, 1}


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

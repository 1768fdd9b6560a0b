"""NearestNeighbour: answers that are known beforehand."""

from __future__ import annotations

import numpy as np
import pytest

import firststory as fs
from firststory.errors import ParameterError

DAY = 86400.0


def test_reposting_is_never_novel_and_points_to_the_first():
    rng = np.random.default_rng(0)
    rows = rng.random((30, 40)) * (rng.random((30, 40)) < 0.2) + 1e-3
    detector = fs.NearestNeighbour().fit(rows)
    again = detector.score_then_learn(rows)
    np.testing.assert_allclose(again, 0.0, atol=1e-12)
    np.testing.assert_array_equal(detector.neighbours_[:, 0], np.arange(30))
    np.testing.assert_allclose(detector.similarities_[:, 0], 1.0)


def test_half_life_halves():
    detector = fs.NearestNeighbour(half_life=DAY).fit([[1.0, 0.0]], times=[0.0])
    assert detector.novelty([[1.0, 0.0]], times=[DAY])[0] == pytest.approx(0.5)
    assert detector.novelty([[1.0, 0.0]], times=[2 * DAY])[0] == pytest.approx(0.75)


def test_the_clock_never_runs_backwards():
    detector = fs.NearestNeighbour(half_life=DAY).fit([[1.0, 0.0], [0.0, 1.0]], times=[0.0, 3 * DAY])
    late = detector.novelty([[0.0, 1.0], [1.0, 0.0]], times=[0.0, 0.0])
    np.testing.assert_allclose(late, [0.0, 1 - 0.125])


def test_what_left_the_window_is_new_again():
    detector = fs.NearestNeighbour(window=2).fit([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert detector.novelty([[1.0, 0.0, 0.0]])[0] == pytest.approx(0.0)
    detector.partial_fit([[0.0, 0.0, 1.0]])
    assert detector.novelty([[1.0, 0.0, 0.0]])[0] == 1.0
    aged = fs.NearestNeighbour(max_age=DAY).fit([[1.0, 0.0]], times=[0.0])
    assert aged.novelty([[1.0, 0.0]], times=[DAY])[0] == pytest.approx(0.0)
    assert aged.novelty([[1.0, 0.0]], times=[1.1 * DAY])[0] == 1.0


@pytest.mark.parametrize("parameter", ["window", "half_life", "max_age", "n_neighbours"])
def test_bad_parameters_are_named(parameter):
    with pytest.raises(ParameterError, match=parameter):
        fs.NearestNeighbour(**{parameter: -1}).fit([[1.0]])

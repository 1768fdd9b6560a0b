"""p-values: valid under exchangeability, right again after drift, blind to the order of a batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.alerts.calibration import ConformalCalibrator
from firststory.errors import ParameterError


@pytest.mark.parametrize("draw", ["continuous", "ties", "heavy"])
def test_valid_under_exchangeability(draw):
    # P(p <= a) <= a: over 4,000 independent streams, the excess must be within the binomial error.
    rng = np.random.default_rng(1)
    p_values = []
    for _ in range(4000):
        draws = {"continuous": rng.random, "ties": lambda n: rng.integers(4, size=n), "heavy": rng.standard_cauchy}
        scores = draws[draw](41)
        calibrator = ConformalCalibrator(window=40)
        for score in scores[:-1]:
            calibrator.observe(float(score))
        p_values.append(calibrator.p_value(float(scores[-1])))
    for level in (0.05, 0.1, 0.25, 0.5, 0.9):
        share = np.mean(np.array(p_values) <= level)
        assert share <= level + 3.5 * np.sqrt(level * (1 - level) / 4000)
        if draw == "continuous":
            assert share >= level - 1 / 41 - 3.5 * np.sqrt(level * (1 - level) / 4000)  # exact, not merely safe


def test_a_batch_is_valid_too_and_blind_to_its_order():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(2000):
        calibrator = ConformalCalibrator(window=50)
        for score in rng.random(20):
            calibrator.observe(score)
        batch = rng.random(10)
        p_values = np.array(calibrator.p_values(batch))
        shuffle = rng.permutation(10)
        np.testing.assert_array_equal(np.array(calibrator.p_values(batch[shuffle])), p_values[shuffle])
        hits += int((p_values <= 0.1).sum())
    assert hits / 20000 <= 0.1 + 3.5 * np.sqrt(0.09 / 2000)  # the ten of a batch are not independent


@pytest.mark.parametrize("batch", [1, 8])
def test_lots_between_equals_are_valid_and_let_the_right_number_through(batch):
    rng = np.random.default_rng(4)
    calibrator, found = ConformalCalibrator(), []
    for _ in range(4000 // batch):
        scores = np.round(rng.random(batch), 1).tolist()  # eleven values: ties everywhere
        found += calibrator.p_values(scores, rng.random(batch).tolist())
        for score in scores:
            calibrator.observe(score)
    late = np.array(found[400:])
    for a in (0.02, 0.05, 0.2, 0.5):
        assert abs((late <= a).mean() - a) < 4 * np.sqrt(a * (1 - a) / late.size)


def test_of_equals_as_many_pass_as_the_p_value_says():
    found = ConformalCalibrator().p_values([1.0] * 10, np.random.default_rng(0).random(10).tolist())
    assert sorted(found) == [i / 10 for i in range(1, 11)]


def test_adapts_after_drift():
    rng = np.random.default_rng(3)
    calibrator = ConformalCalibrator(window=500)
    shares = []
    for t in range(4000):
        score = rng.normal() + (3.0 if t >= 2000 else 0.0)
        shares.append(calibrator.p_value(score) <= 0.1)
        calibrator.observe(score)
    assert np.mean(shares[2000:2050]) > 0.6  # the jump is a surprise
    assert np.mean(shares[2600:]) == pytest.approx(0.1, abs=0.03)  # and soon is none


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30),
    st.floats(allow_nan=True),
    st.integers(1, 12),
)
def test_equals_its_plain_definition(past, score, window):
    calibrator = ConformalCalibrator(window)
    for value in past:
        calibrator.observe(value)
    kept = [-np.inf if np.isnan(v) else v for v in past[-window:]]
    value = -np.inf if np.isnan(score) else score
    assert calibrator.p_value(score) == (1 + sum(v >= value for v in kept)) / (len(kept) + 1)
    assert len(calibrator) == len(kept)
    assert calibrator.p_values([score])[0] == calibrator.p_value(score)
    twin = ConformalCalibrator.from_state(calibrator.get_state())
    assert twin.p_value(score) == calibrator.p_value(score) and twin.get_state()["window"] == window


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=25), st.floats(0.0, 1.0))
def test_threshold_is_where_the_p_value_crosses(past, needed):
    calibrator = ConformalCalibrator(100)
    for value in past:
        calibrator.observe(value)
    threshold = calibrator.threshold(needed)
    for score in (*past, threshold, 2.0, -1.0):
        if np.isfinite(score) and score >= min(past):
            assert (calibrator.p_value(score) <= needed) == (score >= threshold)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), max_size=25),
    st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0, np.nan]), min_size=1, max_size=8),
    st.integers(0, 40),
)
def test_of_a_batch_each_threshold_is_where_its_own_p_value_crosses(past, batch, numerator):
    calibrator = ConformalCalibrator(100)
    for value in past:
        calibrator.observe(value)
    level = numerator / (len(past) + len(batch))  # p-values are of this form: the case that rounding would spoil
    scores = [-np.inf if np.isnan(score) else score for score in batch]
    bars = calibrator.thresholds(batch, [level] * len(batch))
    for score, p, bar in zip(scores, calibrator.p_values(batch), bars, strict=True):
        assert (p <= level) == (score >= bar)


def test_window_must_be_positive():
    with pytest.raises(ParameterError, match="window"):
        ConformalCalibrator(0)

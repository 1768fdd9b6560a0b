"""The tails that chance is measured by, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from firststory.kernels.alerts.tails import MOST_SCORE, binomial_score, gamma_poisson_score

POSITIVE = st.floats(0.01, 50.0)


@given(k=st.integers(1, 60), shape=st.floats(0.05, 40.0), rate=POSITIVE, time=st.floats(1e-4, 8.0))
def test_gamma_poisson_tail_is_that_of_the_negative_binomial(k, shape, rate, time):
    expected = -stats.nbinom.logsf(k - 1, shape, rate / (rate + time)) / np.log(10)
    if np.isfinite(expected):
        assert gamma_poisson_score(k, shape, rate, time) == pytest.approx(min(expected, MOST_SCORE), rel=1e-6, abs=1e-6)


@given(n=st.integers(1, 60), share=st.floats(1e-4, 0.999), data=st.data())
def test_binomial_tail(n, share, data):
    k = data.draw(st.integers(1, n))
    expected = -stats.binom.logsf(k - 1, n, share) / np.log(10)
    if np.isfinite(expected):
        assert binomial_score(k, n, share) == pytest.approx(min(expected, MOST_SCORE), rel=1e-6, abs=1e-6)


def test_no_voice_proves_nothing_and_the_tail_is_exact_where_it_is_tiny():
    assert gamma_poisson_score(0, 1.0, 1.0, 1.0) == binomial_score(0, 5, 0.5) == 0.0
    # 1 - cdf would be 0 in floating point: P(K >= 30) is about 1e-48.
    assert 40.0 < gamma_poisson_score(30, 0.5, 20.0, 0.5) < 60.0

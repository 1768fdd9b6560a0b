"""Log rising factorials against exact sums in rational arithmetic and against scipy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from firststory.kernels.mixture.rising import SMALL, log_gamma, log_rising, rising_gain


def exact(a: float, x: int) -> float:
    """The product itself, without rounding, then one logarithm."""
    product = Fraction(1)
    for r in range(x):
        product *= Fraction(a) + r
    return math.log(product.numerator) - math.log(product.denominator)


@settings(max_examples=60, deadline=None)
@given(a=st.floats(1e-9, 1e6), s=st.floats(0, 1e6), x=st.integers(0, 40))
def test_whole_counts_against_exact_products(a, s, x):
    lost = 1e-12 if x <= SMALL else 1e-7  # where log-gammas are subtracted
    assert log_rising(a, float(x)) == pytest.approx(exact(a, x), rel=1e-12, abs=lost)
    assert rising_gain(a, s, float(x)) == pytest.approx(exact(a + s, x) - exact(a, x), rel=1e-9, abs=1e-11 + lost)
    assert rising_gain(a, s, float(x)) >= -lost


@settings(max_examples=40, deadline=None)
@given(a=st.floats(1e-3, 1e5), s=st.floats(0, 1e4), x=st.floats(0.01, 300))
def test_fractions_against_log_gamma(a, s, x):
    assert log_rising(a, x) == pytest.approx(gammaln(a + x) - gammaln(a), rel=1e-9, abs=1e-8)
    twin = (gammaln(a + s + x) - gammaln(a + s)) - (gammaln(a + x) - gammaln(a))
    assert rising_gain(a, s, x) == pytest.approx(twin, rel=1e-9, abs=1e-7)


def test_small_priors_keep_their_digits():
    """a = 1e-12 and s = 1e-9: one sees log(1 + s/a), which a difference of log-gammas has lost."""
    assert rising_gain(1e-12, 1e-9, 1.0) == pytest.approx(math.log1p(1e3), rel=1e-14)


def test_log_gamma_against_libm():
    z = np.concatenate([np.linspace(1e-6, 40, 4001), np.logspace(1, 12, 200)])
    ours = np.array([log_gamma(value) for value in z])
    np.testing.assert_allclose(ours, gammaln(z), rtol=1e-13, atol=5e-12)

"""The quick look at an old match never throws away one that counts."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.fused.ageing import lagged, least_cosine, too_old


@pytest.mark.parametrize("kappa", [0.0, 1.5, 3.0])
def test_too_old_is_only_what_is_surely_below(kappa):
    rng = np.random.default_rng(0)
    thrown = 0
    for cosine, days, least in rng.random((3000, 3)):
        days = 10.0 ** (6.0 * days - 2.0)
        score = cosine * (1.0 + days) ** (-0.6 * ((1.0 - cosine) ** kappa if kappa else 1.0))
        assert lagged(cosine, days, 0.6, kappa) == pytest.approx(score, abs=1e-12)
        if too_old(cosine, days, 0.6, kappa, least):
            thrown += 1
            assert score < least
    assert thrown > 500 or kappa == 1.5
    assert not too_old(0.5, 0.0, 0.6, 3.0, 0.5) and not too_old(0.2, -1.0, 0.6, 0.0, 0.1)
    assert too_old(0.2, 1e12, 0.6, 0.0, 0.1)


@pytest.mark.parametrize("kappa", [0.0, 1.0, 1.5, 3.0])
def test_a_cosine_below_what_is_needed_is_surely_below_the_score(kappa):
    rng = np.random.default_rng(1)
    near = 0
    for score, days in rng.random((2000, 2)):
        days = 10.0 ** (4.0 * days - 2.0)
        least = least_cosine(score, days, 0.6, kappa)
        assert least >= 0.999999 * score
        assert lagged(min(1.0, least), days, 0.6, kappa) < score
        near += lagged(min(1.0, 1.2 * least), days, 0.6, kappa) >= score
    assert near > 1000 or kappa == 0.0

"""The quick look at an old match never throws away one that counts."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.fused.ageing import lagged, needed, too_old


@pytest.mark.parametrize("strong", [0.0, 1.5, 3.0])
def test_too_old_is_only_what_is_surely_below(strong):
    rng = np.random.default_rng(0)
    thrown = 0
    for cosine, days, least in rng.random((3000, 3)):
        days = 10.0 ** (6.0 * days - 2.0)
        score = cosine * (1.0 + days) ** (-0.6 * ((1.0 - cosine) ** strong if strong else 1.0))
        assert lagged(cosine, days, 0.6, strong) == pytest.approx(score, abs=1e-12)
        if too_old(cosine, days, 0.6, strong, least):
            thrown += 1
            assert score < least
    assert thrown > 500 or strong == 1.5
    assert not too_old(0.5, 0.0, 0.6, 3.0, 0.5) and not too_old(0.2, -1.0, 0.6, 0.0, 0.1)
    assert too_old(0.2, 1e12, 0.6, 0.0, 0.1)


@pytest.mark.parametrize("strong", [0.0, 1.0, 1.5, 3.0])
def test_a_cosine_below_what_is_needed_is_surely_below_the_score(strong):
    rng = np.random.default_rng(1)
    near = 0
    for score, days in rng.random((2000, 2)):
        days = 10.0 ** (4.0 * days - 2.0)
        least = needed(score, days, 0.6, strong)
        assert least >= 0.999999 * score
        assert lagged(min(1.0, least), days, 0.6, strong) < score
        near += lagged(min(1.0, 1.2 * least), days, 0.6, strong) >= score
    assert near > 1000 or strong == 0.0

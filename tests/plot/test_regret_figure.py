from __future__ import annotations

import numpy as np

import firststory as fs


def test_regret_draws_each_learner_with_its_band_and_guides():
    n = np.arange(1, 201)
    ax = fs.plot.regret({"leader": np.stack([np.log(n) + 1, np.log(n) + 2]), "other": np.sqrt(n)})
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [
        "leader: mean, band: all 2 runs",
        "other",
        "leader at n = 20, continued as log n",
        "leader at n = 20, continued as √n",
    ]
    assert len(ax.get_lines()) == 4 and len(ax.collections) == 1
    assert ax.get_xscale() == "log"


def test_regret_below_zero_is_shown():
    assert fs.plot.regret({"lucky": np.array([[0.5, 0.2], [0.1, -2.0]])}).get_ylim()[0] < -2.0
    assert fs.plot.regret({"plain": np.array([0.5, 0.6])}).get_ylim()[0] == 0.0


def test_regret_on_given_axes_and_short_curves():
    ax = fs.plot.regret({"one": np.array([0.5, 0.6])})
    assert fs.plot.regret({"again": np.array([0.1])}, ax=ax) is ax

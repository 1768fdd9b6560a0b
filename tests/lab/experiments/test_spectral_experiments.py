"""The quick versions run, say what they must, and write their figures."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

from firststory.lab.experiments import (
    EXPERIMENTS,
    single_topic,
    spectral_nonstochastic,
    spectral_real,
    spectral_synthetic,
)
from firststory.lab.experiments.single_topic import BLOCK_TOPICS, WEIGHTS, Setting


def test_registered():
    assert {"spectral-synthetic", "spectral-nonstochastic", "spectral-real"} <= set(EXPERIMENTS)


@pytest.mark.parametrize(
    ("module", "name"), [(spectral_synthetic, "spectral-synthetic"), (spectral_nonstochastic, "spectral-nonstochastic")]
)
def test_quick_synthetic(module, name, tmp_path):
    text = module.run(quick=True, out=tmp_path)
    assert "SpectralLeader" in text and "Regret" in text and "±" in text
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}-curves.png", f"{name}-regret.png"}


@pytest.mark.skipif(not os.environ.get("FIRSTSTORY_DATA"), reason="FIRSTSTORY_DATA names no folder of corpora")
def test_quick_real(tmp_path):
    text = spectral_real.run(quick=True, out=tmp_path)
    assert "NIPS papers" in text and "NYTimes" in text
    for figure in ("curves", "reservoir"):
        assert (tmp_path / f"spectral-real-{figure}.png").stat().st_size > 10_000
        assert f"(spectral-real-{figure}.png)" in text


def test_planted_problem():
    setting = Setting(0.9, 1, 20_000)
    np.testing.assert_allclose(setting.topics.sum(axis=1), 1.0)
    topic, rows = setting.draw(0)
    np.testing.assert_allclose(np.bincount(topic) / 20_000, WEIGHTS, atol=0.02)
    assert set(np.asarray(rows.sum(axis=1)).ravel()) == {3.0}
    blocks, _ = Setting(0.9, 1, 250, stochastic=False).draw(0)
    np.testing.assert_array_equal(blocks[100:200], BLOCK_TOPICS)


def test_documents_are_cut_to_exactly_fifty_of_the_frequent_words():
    rng = np.random.default_rng(0)
    counts = sp.csr_matrix(rng.poisson(0.15, size=(60, 700)).astype(float))
    rows = spectral_real.cut_down(counts, rng)
    assert rows.shape[1] == 500 and 0 < rows.shape[0] < 60 + 1
    assert set(np.asarray(rows.sum(axis=1)).ravel()) == {50.0}
    assert rows.data.min() >= 1.0


def test_figures_say_what_their_axis_cuts_off():
    from matplotlib.figure import Figure

    def title(curve):
        ax = Figure().add_subplot()
        ax.plot(np.arange(2, 2 + len(curve)), curve)
        return single_topic._cut_beginning(ax, 10)

    late = np.linspace(2.0, 1.0, 30)
    assert title(late) == "\nNLL cut at 1.72: higher until step 10"
    assert title(np.append(0.0, late)) == "\nNLL cut at 0.86 and 1.76: higher until step 9, lower until step 2"
    assert title(np.append(0.0, np.full(20, 1.0))).endswith("lower until step 2")
    assert title(np.full(20, 1.0)) == ""

"""The quick versions of what the mixture's results come from run, and show every method."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

needs_data = pytest.mark.skipif(
    not os.environ.get("FIRSTSTORY_DATA"), reason="FIRSTSTORY_DATA names no folder with the corpora"
)


@needs_data
def test_experiment(tmp_path):
    from firststory.lab.experiments.tdt_mixture import run
    from firststory.lab.experiments.tdt_mixture_report import REFERENCE

    text = run(quick=True, out=tmp_path)
    assert all(text.count(f"| {name} |") == 2 for name in REFERENCE)
    assert (tmp_path / "tdt-mixture-det.png").stat().st_size > 10_000


def test_speed():
    from firststory.lab.benchmarks.mixture import run

    rows = [line for line in run(quick=True).splitlines() if line.startswith(("| 20 ", "| 60 "))]
    assert len(rows) == 2, "as many clusters as were planted"


@needs_data
@pytest.mark.skipif(find_spec("river") is None, reason="river is not installed")
def test_clustering(monkeypatch):
    from firststory.lab.benchmarks import clustering

    monkeypatch.setattr(clustering, "RADII", (0.8,))
    text = clustering.run(quick=True)
    assert text.count("river TextClust, micro") == 2 and text.count("MiniBatchKMeans, true k |") == 4

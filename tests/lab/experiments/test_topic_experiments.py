"""Each experiment on topics runs in its quick version, prints its table and draws its figures."""

from __future__ import annotations

import importlib
import os

import pytest

from firststory.lab.experiments import EXPERIMENTS

FIGURES = {
    "bars": ["bars-factors", "bars-divergence"],
    "moving-bars": ["moving-bars-factors", "moving-bars-similarity"],
    "newsgroup-threads": ["newsgroup-threads-similarity"],
    "event-words": ["event-words-curves"],
    "nmf-time": ["nmf-time-steps"],
    "topic-births": [],
}
NEEDS_DATA = {"newsgroup-threads", "event-words", "nmf-time", "topic-births"}


@pytest.mark.parametrize("name", FIGURES)
def test_quick_version(name, tmp_path):
    if name in NEEDS_DATA and not os.environ.get("FIRSTSTORY_DATA"):
        pytest.skip("FIRSTSTORY_DATA is not set")
    module = importlib.import_module(f"firststory.lab.experiments.{EXPERIMENTS[name]}")
    told = module.run(quick=True, out=tmp_path)
    assert module.TITLE and "\n|---" in told and "| nan" not in told
    for figure in FIGURES[name]:
        assert (tmp_path / f"{figure}.png").stat().st_size > 5_000
        assert f"({figure}.png)" in told

"""The parts of the benchmark run at toy size and say what they must."""

from __future__ import annotations

import numpy as np

from firststory.lab.benchmarks import spectral


def test_step_table_has_a_row_a_length():
    lines = spectral.step_table([100, 200], 2).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["100", "200"]


def test_large_vocabulary_reports_no_square_array():
    found = spectral.large_vocabulary(600, 3, 40, 2)
    assert found["largest"] < 8 * 600 * 600 and found["peak"] >= found["start"] > 0 and 1 <= found["rank"] <= 3


def test_planted_rows_have_the_length_asked_for():
    rng = np.random.default_rng(0)
    rows = spectral.planted_rows(spectral.planted_topics(50, 2, rng), 5, 30, rng)
    assert set(np.asarray(rows.sum(axis=1)).ravel()) == {30.0}

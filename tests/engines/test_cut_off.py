"""Workers behind a network, one of which is cut off: the step ends all the same, with the same results."""

from __future__ import annotations

import numpy as np
import pytest

import firststory as fs
from engines.namespaces import NamespaceCluster, why_not
from engines.pieces import squared
from engines.test_fused import in_segments, judged, stream

pytest.importorskip("distributed")
from firststory.engines import open_engine


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    if reason := why_not():
        pytest.skip(reason)
    monkeypatch.setattr("firststory.engines.dask_cluster.PING_SECONDS", 1.0)
    with NamespaceCluster(3, tmp_path) as made:
        yield made


def test_one_of_three_machines_is_cut_off_from_a_window_in_segments(cluster):
    batches, told = list(stream(400)), []
    whole = judged(in_segments(1), batches)
    half = len(batches) // 2
    with open_engine(f"{cluster.address}?deadline=4", told.append) as engine:
        detector = fs.FusedNovelty()
        detector.use_engine(engine)
        begun = judged(detector, batches[:half])
        cluster.cut_off(1)
        ended = judged(detector, batches[half:])
    for one, a, b in zip(whole, begun, ended, strict=True):
        np.testing.assert_array_equal(np.concatenate([a, b]), one)
    assert any("does not answer" in sentence for sentence in told), told


def test_one_of_three_machines_is_cut_off_between_maps(cluster):
    pieces = list(range(12))
    with open_engine(f"{cluster.address}?deadline=4") as engine:
        assert engine.map(squared, pieces, 5) == [i * i + 5 for i in pieces]
        cluster.cut_off(2)
        for _ in range(2):
            assert engine.map(squared, pieces, 5) == [i * i + 5 for i in pieces]

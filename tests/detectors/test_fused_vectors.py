"""FusedNovelty with vectors of short texts: against a dense twin, without them, row by row, after a round trip."""

from __future__ import annotations

import numpy as np
import pytest

import firststory as fs
from detectors.fused_twin import DAY, follow, stream, twin
from firststory.detectors.vector_window import VectorWindow
from firststory.state import pack_state, unpack_state


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("timed", [True, False])
def test_equals_twin_and_leaves_other_rows_alone(seed, timed):
    counts, times, vectors = stream(seed)
    times = times if timed else None
    scores, labels = follow(fs.FusedNovelty(), counts, times, vectors)
    plain, same = follow(fs.FusedNovelty(), counts, times)
    known, _, _, _ = twin(counts, (times - times[0]) / DAY if timed else None, vectors)
    np.testing.assert_allclose(scores, known, atol=1e-6)
    np.testing.assert_array_equal(labels, same)
    has = vectors.any(axis=1)
    np.testing.assert_array_equal(scores[~has], plain[~has])
    assert np.abs(scores - plain)[has].max() > 0.05


@pytest.mark.parametrize("window", [None, 40])
def test_row_by_row_gives_the_same_and_judging_learns_nothing(window):
    counts, times, vectors = stream(2, n=120)
    together = follow(fs.FusedNovelty(window=window), counts, times, vectors, batch=120)[0]
    detector = fs.FusedNovelty(window=window)
    for i in range(120):
        row = slice(i, i + 1)
        if i:
            before = pack_state(detector.get_state())
            judged = detector.novelty(counts[row], times=times[row], vectors=vectors[row])
            assert pack_state(detector.get_state()) == before
            np.testing.assert_allclose(judged, together[row], atol=1e-12)
        np.testing.assert_allclose(
            detector.score_then_learn(counts[row], times=times[row], vectors=vectors[row]), together[row], atol=1e-12
        )
    some = detector.novelty(counts[:9], vectors=vectors[:9])
    np.testing.assert_array_equal(some[::2], detector.novelty(counts[:9:2], vectors=vectors[:9:2]))


def test_how_many_neighbours_are_kept_does_not_change_the_score():
    counts, times, vectors = stream(5)
    few, many = (follow(fs.FusedNovelty(n_neighbours=n), counts, times, vectors)[0] for n in (1, 20))
    np.testing.assert_array_equal(few, many)


def test_the_future_after_a_round_trip_is_the_same():
    counts, times, vectors = stream(3)
    detector = fs.FusedNovelty(window=50)
    follow(detector, counts[:150], times[:150], vectors[:150])
    again = fs.FusedNovelty().set_state(unpack_state(pack_state(detector.get_state())))
    rest = [follow(one, counts[150:], times[150:], vectors[150:])[0] for one in (detector, again)]
    np.testing.assert_array_equal(*rest)
    assert len(detector.get_state()["vectors_/vectors"]) == 50


def test_vectors_may_begin_late_and_be_missing():
    counts, times, vectors = stream(4)
    vectors = vectors + (~vectors.any(axis=1))[:, None]
    plain = follow(fs.FusedNovelty(), counts, times, None)[0]
    detector = fs.FusedNovelty()
    first = follow(detector, counts[:100], times[:100], None)[0]
    np.testing.assert_array_equal(first, plain[:100])
    assert not hasattr(detector, "vectors_")
    repeated = detector.score_then_learn(counts[99:100], times=times[99:100], vectors=vectors[99:100])
    assert repeated[0] < 0.05  # the text is known, although its vector is not
    detector = fs.FusedNovelty()
    follow(detector, counts[:100], times[:100], None)
    follow(detector, counts[100:150], times[100:150], vectors[100:150])
    last = follow(detector, counts[150:], times[150:], None)[0]
    np.testing.assert_array_equal(last, plain[150:])
    assert (detector.vectors_.begun, detector.vectors_.next) == (100, len(counts))


def test_what_says_the_same_in_other_words_is_less_novel():
    counts = np.array([[1.0, 1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1]])
    detector = fs.FusedNovelty().partial_fit(counts[:1], vectors=[[1.0, 0.0]])
    same, other = (detector.novelty(counts[1:], vectors=[vector])[0] for vector in ([2.0, 0.1], [-1.0, 0.3]))
    assert same < other - 0.04  # after one document no likeness counts much
    assert detector.novelty(counts[:1], vectors=[[5.0, 0.0]])[0] < 0.15


@pytest.mark.parametrize("vectors", [np.zeros((3, 2)), np.zeros(2), np.array([[np.nan, 0.0]] * 2), np.zeros((2, 5))])
def test_bad_vectors(vectors):
    detector = fs.FusedNovelty().partial_fit(np.eye(2), vectors=np.ones((2, 2)))
    with pytest.raises(fs.errors.ParameterError, match="vectors"):
        detector.score_then_learn(np.eye(2), vectors=vectors)
    with pytest.raises(fs.errors.ParameterError, match="vectors"):
        detector.novelty(np.eye(2), vectors=vectors)


def test_the_ring_holds_the_window():
    rng = np.random.default_rng(0)
    rows = rng.random((1000, 3)).astype(np.float32)
    ring = VectorWindow(3, begun=17)
    at = 0
    while at < 1000:
        n = int(rng.integers(1, 220))
        ring.extend(rows[at : at + n], window=150)
        at = min(at + n, 1000)
        held = np.arange(ring.begun, ring.next)
        assert len(held) == min(at, 150) and ring.next == 17 + at and len(ring.vectors) <= 256
        np.testing.assert_array_equal(ring.vectors[held % len(ring.vectors)], rows[held - 17])

"""FusedNovelty with vectors of short texts: against a dense twin, without them, row by row, after a round trip."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.detectors.fused_novelty import CANDIDATES
from firststory.detectors.vector_window import VectorWindow
from firststory.state import pack_state, unpack_state

DAY = 86400.0
MEANING = 0.3


def stream(seed, n=230, width=60, dimensions=5):
    """Counts in bursts, times, and vectors of which a third is zero."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(width, 0.05), size=12)
    topic = rng.integers(12, size=n)
    counts = np.stack([rng.multinomial(rng.integers(3, 25), topics[k]) for k in topic]).astype(float)
    centres = rng.normal(size=(12, dimensions))
    vectors = (centres[topic] + 0.7 * rng.normal(size=(n, dimensions))) * (rng.random(n) > 0.33)[:, None]
    return counts, np.cumsum(rng.exponential(0.4 * DAY, size=n)), vectors


def nearest_twin(counts, days, vectors):
    """NN of every row that has a vector, from the definition."""
    n = len(counts)
    tf = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-30)[:, None]
    found, fresh = np.full(n, np.nan), 0
    for i in range(n):
        if i == 0 or i - fresh >= min(100, max(1, i // 10)):
            fresh, idf2 = i, (np.log((1 + i) / (1 + (counts[:i] > 0).sum(axis=0))) + 0.5) ** 2.5
            norms = list(np.sqrt((tf[:i] ** 2 * idf2).sum(axis=1)))
        norms.append(np.sqrt((tf[i] ** 2 * idf2).sum()))
        if not vectors[i].any():
            continue
        cosines = np.array([min(1.0, tf[i] * idf2 @ tf[j] / (norms[i] * norms[j])) for j in range(i)])
        beta, strong = (0.4, 1) if (counts[i] > 0).sum() <= 30 else (0.6, 3)

        def aged(c, j, i=i, beta=beta, strong=strong):
            return c * (1 + days[i] - days[j]) ** (-beta * (1 - c) ** strong)

        near = sorted((j for j in range(i) if cosines[j] > 0), key=lambda j: -aged(cosines[j], j))[:CANDIDATES]
        found[i] = 0.0
        for j in near:
            c = cosines[j]
            if vectors[j].any():
                c = (1 - MEANING) * c + MEANING * max(0.0, unit[i] @ unit[j])
            found[i] = max(found[i], aged(c, j))
    return found


def follow(detector, counts, times, vectors, batch=57):
    """Scores, NN and CEN."""
    found = []
    for begin in range(0, len(counts), batch):
        cut = slice(begin, begin + batch)
        scores = detector.score_then_learn(
            sp.csr_matrix(counts[cut]),
            times=None if times is None else times[cut],
            vectors=None if vectors is None else vectors[cut],
        )
        found.append((scores, detector.neighbour_scores_, detector.cluster_scores_))
    return [np.concatenate(parts) for parts in zip(*found, strict=True)]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("timed", [True, False])
def test_equals_twin_and_leaves_other_rows_alone(seed, timed):
    counts, times, vectors = stream(seed)
    scores, nearest, cluster = follow(fs.FusedNovelty(), counts, times if timed else None, vectors)
    plain, plain_nearest, plain_cluster = follow(fs.FusedNovelty(), counts, times if timed else None, None)
    days = (times - times[0]) / DAY if timed else np.arange(len(counts)) / 10
    known = nearest_twin(counts, days, vectors)
    has = vectors.any(axis=1)
    np.testing.assert_allclose(nearest[has], known[has], atol=1e-6)
    np.testing.assert_allclose(scores[has], 1 - known[has], atol=1e-6)
    np.testing.assert_array_equal(cluster[has], nearest[has])
    np.testing.assert_array_equal(scores[~has], plain[~has])
    np.testing.assert_array_equal(nearest[~has], plain_nearest[~has])
    np.testing.assert_array_equal(cluster[~has], plain_cluster[~has])
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
    assert len(detector.get_state()["vectors_.vectors"]) == 50


def test_vectors_may_begin_late_and_be_missing():
    counts, times, vectors = stream(4)
    vectors = vectors + (~vectors.any(axis=1))[:, None]
    plain = follow(fs.FusedNovelty(), counts, times, None)[0]
    detector = fs.FusedNovelty()
    first = follow(detector, counts[:100], times[:100], None)[0]
    np.testing.assert_array_equal(first, plain[:100])
    assert not hasattr(detector, "vectors_")
    repeated = detector.score_then_learn(counts[99:100], times=times[99:100], vectors=vectors[99:100])
    assert repeated[0] < 0.01  # the text is known, although its vector is not
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
    assert same < 0.7 < other
    assert detector.novelty(counts[:1], vectors=[[5.0, 0.0]])[0] == pytest.approx(0.0, abs=1e-6)


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
        ring.extend(rows[at : at + n], np.arange(at, at + n)[: len(rows[at : at + n])] + 0.5, window=150)
        at = min(at + n, 1000)
        held = np.arange(ring.begun, ring.next)
        assert len(held) == min(at, 150) and ring.next == 17 + at and len(ring.days) <= 256
        np.testing.assert_array_equal(ring.vectors[held % len(ring.days)], rows[held - 17])
        np.testing.assert_array_equal(ring.days[held % len(ring.days)], held - 17 + 0.5)

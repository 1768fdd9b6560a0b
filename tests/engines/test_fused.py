"""FusedNovelty in segments: the same bits on every engine, with any number of segments and workers, whoever dies."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from engines.pieces import answer_or_killed, answer_or_stopped
from engines.private_cluster import PrivateCluster
from firststory.datasets import make_story_stream
from firststory.detectors import fused_segments
from firststory.detectors.fused_segments import SegmentedIndex
from firststory.engines import open_engine
from firststory.engines.serial import SerialEngine
from firststory.kernels.fused.segment import answer_request
from firststory.store.store import Store

TOLERANCE = 1e-9
"""Without an engine what clusters hold is summed in floating point."""


def stream(n=900, seed=0, long=False):
    """Batches of rows that widen, of stories told several times; with times and vectors."""
    random = np.random.default_rng(seed)
    width, terms = 400, 60 if long else 9
    weights = 1.0 / np.arange(1, width + 1)
    stories = [random.choice(width, terms, p=weights / weights.sum()) for _ in range(n // 6)]
    times, at = np.cumsum(random.exponential(7200.0, n)), 0
    while at < n:
        size = int(random.integers(1, 90))
        rows = sp.lil_matrix((min(size, n - at), min(width, 60 + at)))
        for i in range(rows.shape[0]):
            story = stories[min(len(stories) - 1, int((at + i) / n * len(stories)) + int(random.integers(0, 9)))]
            told = np.concatenate([story[random.random(terms) < 0.7], random.integers(0, width, 3)])
            for v in told[told < rows.shape[1]]:
                rows[i, v] += 1.0
        vectors = random.normal(size=(rows.shape[0], 8)).astype(np.float32)
        vectors[random.random(len(vectors)) < 0.3] = 0.0
        yield sp.csr_matrix(rows), times[at : at + rows.shape[0]], vectors
        at += rows.shape[0]


SETTINGS = {
    "plain": {},
    "small window": {"window": 130},
    "window of a power of two": {"window": 64},
    "tiny window": {"window": 3},
    "max_age": {"max_age": 86400.0 * 4},
    "topics": {"horizon": "topics", "n_neighbours": 8},
}


def judged(detector, batches, timed=True, with_vectors=False):
    found = []
    for rows, times, vectors in batches:
        more = {"vectors": vectors} if with_vectors else {}
        scores = detector.score_then_learn(rows, times=times if timed else None, **more)
        found.append((scores, detector.labels_, detector.neighbours_, detector.similarities_))
    return [np.concatenate(part) for part in zip(*found, strict=True)]


def judged_without_rests(detector, batches, timed):
    """Row by row; in between what clusters hold is summed anew, so that nothing is left of rows that went."""
    found = []
    for rows, times, vectors in batches:
        for i in range(rows.shape[0]):
            found.append(judged(detector, [(rows[i], times[i : i + 1], vectors[i : i + 1])], timed))
            index = detector.index_
            index.cluster_sums.forget(len(index.start))
    return [np.concatenate(part) for part in zip(*found, strict=True)]


def in_segments(n_segments, **parameters):
    """A detector with so many segments, in this thread."""
    detector = fs.FusedNovelty(**parameters)
    detector._engine = SerialEngine()
    detector._placed = lambda index: SegmentedIndex(index, SerialEngine(), n_segments)
    return detector


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("timed", [True, False], ids=["timed", "untimed"])
@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_it_is_the_detector_without_an_engine_but_for_rounding(name, timed, long):
    if name == "max_age" and not timed:
        pytest.skip("max_age needs times")
    batches = list(stream(500, long=long))
    # In a tiny window a row often meets nothing; what rounding left of a cluster without it is then its nearest one.
    judge = judged_without_rests if name == "tiny window" else judged
    plain = judge(fs.FusedNovelty(**SETTINGS[name]), batches, timed)
    split = judged(in_segments(3, **SETTINGS[name]), batches, timed)
    np.testing.assert_allclose(split[0], plain[0], rtol=0.0, atol=TOLERANCE)
    np.testing.assert_array_equal(split[1], plain[1])
    np.testing.assert_array_equal(split[2], plain[2])


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("timed", [True, False], ids=["timed", "untimed"])
def test_the_number_of_segments_changes_no_bit(name, timed):
    if name == "max_age" and not timed:
        pytest.skip("max_age needs times")
    batches = list(stream())
    one = judged(in_segments(1, **SETTINGS[name]), batches, timed, with_vectors=True)
    for n_segments in (2, 7):
        assert_same(judged(in_segments(n_segments, **SETTINGS[name]), batches, timed, with_vectors=True), one)


@pytest.mark.parametrize("timed", [True, False], ids=["timed", "untimed"])
def test_where_only_some_terms_are_looked_at_segments_agree(timed):
    batches = list(stream(10_300))  # from 10,000 rows on
    one = judged(in_segments(1, max_postings=500), batches, timed)
    assert_same(judged(in_segments(5, max_postings=500), batches, timed), one)
    exact = judged(in_segments(1), batches, timed)
    assert not np.array_equal(exact[0], one[0])


def test_threads_are_serial():
    batches = list(stream())
    one = judged(in_segments(1), batches)
    for text in ("serial", "threads:2", "threads:3"):
        with open_engine(text) as engine:
            detector = fs.FusedNovelty()
            detector.use_engine(engine)
            assert_same(judged(detector, batches), one)


class Forgetful(SerialEngine):
    """Loses objects again and again, before a question or after its answer was computed."""

    def settle(self, load, call):
        random, residents = np.random.default_rng(3), super().settle(load, call)
        residents.n_wanted, ask = 4, residents.ask

        def ask_and_lose(own, shared):
            answers = ask(own, shared)
            for number in list(own):
                if random.random() < 0.1:
                    residents._held.pop(number, None)
                    answers.pop(number, None)
                elif random.random() < 0.1:
                    answers.pop(number, None)  # computed, and the answer was lost
            return answers

        residents.ask = ask_and_lose
        return residents


@pytest.mark.parametrize("name", ["plain", "small window", "max_age"])
def test_segments_that_are_lost_are_built_from_the_log(name):
    batches = list(stream())
    detector = fs.FusedNovelty(**SETTINGS[name])
    detector.use_engine(Forgetful())
    assert_same(judged(detector, batches), judged(in_segments(1, **SETTINGS[name]), batches))
    assert detector.index_.n_built > 20


def test_state_goes_from_one_engine_to_another_and_to_none():
    batches = list(stream())
    half = len(batches) // 2
    whole = judged(in_segments(2), batches)
    first = in_segments(3)
    begun = judged(first, batches[:half])
    second = fs.FusedNovelty.from_state(first.get_state())
    with open_engine("threads:2") as engine:
        second.use_engine(engine)
        ended = judged(second, batches[half:])
        assert_same([np.concatenate(pair) for pair in zip(begun, ended, strict=True)], whole)
        second.use_engine(None)
    assert not isinstance(second.index_, SegmentedIndex)
    rows, times, _ = batches[-1]
    assert np.isfinite(second.score_then_learn(rows, times=times + 1e6)).all()


def test_scoring_learns_nothing_and_is_what_it_is_without_an_engine():
    batches = list(stream(300))
    split, plain = in_segments(3), fs.FusedNovelty()
    for rows, times, _ in batches:
        if hasattr(split, "index_"):
            wider = sp.hstack([rows, np.ones((rows.shape[0], 2))], format="csr")  # terms that nobody has had
            mine, theirs = (d.novelty(wider, times=times) for d in (split, plain))
            np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=TOLERANCE)
        a, b = split.score_then_learn(rows, times=times), plain.score_then_learn(rows, times=times)
        np.testing.assert_allclose(a, b, rtol=0.0, atol=TOLERANCE)
    asked_less = judged(in_segments(3), batches)
    np.testing.assert_array_equal(asked_less[1][-len(split.labels_) :], split.labels_)


def test_columns_under_other_numbers():
    batches = list(stream(400))
    split, plain = in_segments(3, window=50), fs.FusedNovelty(window=50)
    for rows, times, _ in batches[:4]:
        split.score_then_learn(rows, times=times)
        plain.score_then_learn(rows, times=times)
    used = split.columns_in_use()
    np.testing.assert_array_equal(used, plain.columns_in_use())
    new = np.full(split.n_features_in_, -1)
    new[used] = np.arange(len(used))
    for detector in (split, plain):
        detector.renumber(new)
    rows, times, _ = batches[4]
    narrow = rows[:, used]
    np.testing.assert_allclose(
        split.score_then_learn(narrow, times=times), plain.score_then_learn(narrow, times=times), rtol=0, atol=TOLERANCE
    )


def test_a_cluster_of_one_two_or_three_workers_gives_the_same_bits(cluster):
    batches = list(stream(500))
    one = judged(in_segments(1), batches, with_vectors=True)
    for n_workers in (1, 2, 3):
        while len(cluster.workers) < n_workers:
            cluster.workers.append(cluster.start_worker())
        with open_engine(cluster.address) as engine:
            detector = fs.FusedNovelty()
            detector.use_engine(engine)
            assert_same(judged(detector, batches, with_vectors=True), one)


@pytest.mark.parametrize("steps", [{25}, {25, 31}], ids=["one of three", "two of three"])
def test_workers_killed_inside_a_step(tmp_path, monkeypatch, steps):
    pytest.importorskip("distributed")
    batches = list(stream(500))
    one = judged(in_segments(1), batches)
    call = partial(answer_or_killed, folder=str(tmp_path), steps=steps)
    monkeypatch.setattr(fused_segments, "answer_request", call)
    with PrivateCluster(3, tmp_path) as cluster, open_engine(f"{cluster.address}?deadline=20") as engine:
        detector = fs.FusedNovelty()
        detector.use_engine(engine)
        assert_same(judged(detector, batches), one)
        assert sum(worker.poll() is not None for worker in cluster.workers) == len(steps)
        assert detector.index_.n_built > 6


def test_a_worker_that_hangs_inside_a_step(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("firststory.engines.dask_cluster.PING_SECONDS", 1.0)
    batches, told = list(stream(400)), []
    one = judged(in_segments(1), batches)
    call = partial(answer_or_stopped, folder=str(tmp_path), steps={25})
    monkeypatch.setattr(fused_segments, "answer_request", call)
    with PrivateCluster(2, tmp_path) as cluster, open_engine(f"{cluster.address}?deadline=5", told.append) as engine:
        detector = fs.FusedNovelty()
        detector.use_engine(engine)
        assert_same(judged(detector, batches), one)
        assert any("does not answer" in sentence for sentence in told), told


def test_a_scheduler_that_is_started_anew_while_a_window_lives_in_segments(tmp_path):
    """Workers end with their scheduler, and with them all segments: they are built from the log on new ones."""
    pytest.importorskip("distributed")
    batches, told = list(stream(400)), []
    one = judged(in_segments(1), batches)
    with PrivateCluster(2, tmp_path) as cluster, open_engine(f"{cluster.address}?deadline=30", told.append) as engine:
        detector = fs.FusedNovelty()
        detector.use_engine(engine)
        before = judged(detector, batches[:4])
        built = detector.index_.n_built
        cluster.kill_scheduler()
        cluster.start_scheduler()
        cluster.start_worker()
        after = judged(detector, batches[4:])
        assert detector.index_.n_built > built
        assert_same([np.concatenate(parts) for parts in zip(before, after, strict=True)], one)


def test_a_worker_of_another_version_gets_no_segments(tmp_path, older_package):
    """Neither one that is there from the start, nor one that comes later, when the segments of another are lost."""
    pytest.importorskip("distributed")
    batches, told = list(stream(400)), []
    one = judged(in_segments(1), batches)
    with PrivateCluster(1, tmp_path) as cluster:
        cluster.start_worker(package=older_package)
        with open_engine(f"{cluster.address}?deadline=30", told.append) as engine:
            detector = fs.FusedNovelty()
            detector.use_engine(engine)
            before = judged(detector, batches[:4])
            assert any("firststory 0.0.1" in sentence for sentence in told), told
            cluster.start_worker(package=older_package)
            cluster.start_worker()
            cluster.workers[0].kill()
            after = judged(detector, batches[4:])
            assert_same([np.concatenate(parts) for parts in zip(before, after, strict=True)], one)


def test_a_whole_run_on_an_engine_resumes(tmp_path):
    news = make_story_stream(160, 20, sentences=2).documents
    documents = [{"id": d.id, "text": d.text, "time": d.time.isoformat(), "source": d.source} for d in news]
    settings = {"topics": "none", "language": "en", "step": 40}
    for name, cut in {"once": 160, "resumed": 80}.items():
        for part in (documents[:cut], documents[cut:]):
            with fs.Monitor(tmp_path / f"{name}.db", engine="threads:2", **settings) as monitor:
                assert isinstance(monitor._runner.core.parts.detector, fs.FusedNovelty)
                assert len(list(monitor.watch(part))) == len(part)
    with fs.Monitor(tmp_path / "plain.db", **settings) as monitor:
        list(monitor.watch(documents))
    with Store(tmp_path / "once.db") as once, Store(tmp_path / "resumed.db") as resumed:
        tables = [store.dump() for store in (once, resumed)]
    for table in tables:
        table.pop("positions")  # of the list that was watched last
    assert json.dumps(tables[0], default=str) == json.dumps(tables[1], default=str)


def test_a_segment_answers_a_step_as_often_as_asked_and_applies_it_once():
    batches = list(stream(300))
    detector, once = in_segments(1), in_segments(1)
    for begun in (detector, once):
        judged(begun, batches[:3])
    index, seen = detector.index_, []
    residents = index._residents

    def ask_twice(own, shared):
        first, again = ({n: answer_request(residents._held[n], own[n], shared) for n in own} for _ in range(2))
        seen.append(first[0] is again[0])
        assert answer_request(residents._held[0], own[0], shared._replace(step=shared.step + 5)) == shared.step
        return again

    residents.ask = ask_twice
    assert_same(judged(detector, batches[3:]), judged(once, batches[3:]))
    assert all(seen)

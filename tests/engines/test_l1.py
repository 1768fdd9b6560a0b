"""The l1-dictionaries compute the same bits on every engine, with any number of workers."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from engines.pieces import solve_or_killed
from engines.private_cluster import PrivateCluster
from firststory.datasets import make_story_stream
from firststory.engines import open_engine
from firststory.solvers import l1_coding, online_admm
from firststory.store.store import Store


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Many blocks of few documents: what is lost between them would show."""
    monkeypatch.setattr(l1_coding, "BLOCK_DOCUMENTS", 16)
    monkeypatch.setattr(online_admm, "BLOCK_DOCUMENTS", 8)


def timesteps(seed=0):
    """Three timesteps of 70 documents over a vocabulary that grows, some of them empty."""
    random = np.random.default_rng(seed)
    for width in (40, 60, 61):
        counts = random.poisson(0.15, (70, width)) * random.random((70, width))
        counts[:3] = 0.0
        yield sp.csr_matrix(counts)


def learnt(detector, engine):
    detector.use_engine(engine)
    scores = [detector.score_then_learn(rows) for rows in timesteps()]
    detector.use_engine(None)
    return scores, detector.get_state()


def assert_same(one, other):
    (scores, state), (others, other_state) = one, other
    for a, b in zip(scores, others, strict=True):
        np.testing.assert_array_equal(a, b)
    assert state.keys() == other_state.keys()
    for name, value in state.items():
        np.testing.assert_array_equal(value, other_state[name], err_msg=name)


MODELS = {
    "carry": lambda: fs.OnlineL1Dictionary(n_atoms=12),
    "all multipliers": lambda: fs.OnlineL1Dictionary(n_atoms=12, carry_terms=None),
    "asymmetric": lambda: fs.OnlineL1Dictionary(n_atoms=12, loss="asymmetric"),
    "dual": lambda: fs.OnlineL1Dictionary(n_atoms=12, multiplier="dual"),
    "inner": lambda: fs.OnlineL1Dictionary(n_atoms=12, multiplier="inner"),
    "reset": lambda: fs.OnlineL1Dictionary(n_atoms=12, multiplier="reset"),
    "batch": lambda: fs.BatchL1Dictionary(n_atoms=12, growth=2, max_rounds=4),
    "batch, codes kept": lambda: fs.BatchL1Dictionary(n_atoms=12, growth=2, max_rounds=4, update_codes=False),
}


@pytest.mark.parametrize("name", MODELS)
def test_serial_and_threads_are_what_no_engine_is(name):
    plain = learnt(MODELS[name](), None)
    for text in ("serial", "threads:2", "threads:3"):
        with open_engine(text) as engine:
            assert_same(learnt(MODELS[name](), engine), plain)


def test_a_cluster_of_one_two_or_three_workers_gives_the_same_bits(cluster):
    plain = {name: learnt(make(), None) for name, make in MODELS.items()}
    names = ["carry", "dual", "batch"]
    for n_workers in (1, 2, 3):
        while len(cluster.workers) < n_workers:
            cluster.workers.append(cluster.start_worker())
        with open_engine(cluster.address) as engine:
            for name in names:
                assert_same(learnt(MODELS[name](), engine), plain[name])


class Murderous:
    """An engine whose first piece of each step kills the worker that takes it up, once."""

    def __init__(self, engine, folder):
        self.engine, self.folder = engine, folder

    def map(self, function, pieces, *shared):
        return self.engine.map(partial(solve_or_killed, function=function, folder=str(self.folder)), pieces, *shared)


def test_a_worker_killed_inside_a_step_changes_no_bit(tmp_path):
    pytest.importorskip("distributed")
    plain = learnt(MODELS["carry"](), None)
    with PrivateCluster(2, tmp_path) as cluster, open_engine(cluster.address) as engine:
        assert_same(learnt(MODELS["carry"](), Murderous(engine, tmp_path)), plain)
        assert sum(worker.poll() is not None for worker in cluster.workers) == 1


def test_an_engine_is_no_part_of_a_model():
    detector = fs.OnlineL1Dictionary(n_atoms=4)
    with open_engine("threads:2") as engine:
        detector.use_engine(engine)
        detector.partial_fit(next(timesteps()))
        again = fs.OnlineL1Dictionary.from_state(detector.get_state())
    assert again._engine is None
    assert again.novelty(next(timesteps())).shape == (70,)  # the other engine is closed by now


@pytest.mark.parametrize("engine", ["threads:2"])
def test_a_whole_run_leaves_the_same_store(tmp_path, engine):
    news = make_story_stream(150, 20, sentences=2).documents
    documents = [{"id": d.id, "text": d.text, "time": d.time.isoformat(), "source": d.source} for d in news]
    settings = {"detector": "l1", "topics": "none", "language": "en", "step": 50}
    for name, more in {"plain": {}, "engine": {"engine": engine}}.items():
        with fs.Monitor(tmp_path / f"{name}.db", **settings, **more) as monitor:
            assert len(list(monitor.watch(documents[:90]))) == 90
        with fs.Monitor(tmp_path / f"{name}.db", **settings, **more) as monitor:  # resumed: the engine is there again
            assert len(list(monitor.watch(documents[90:]))) == 60
    with Store(tmp_path / "plain.db") as plain, Store(tmp_path / "engine.db") as other:
        assert json.dumps(plain.dump(state=True), default=str) == json.dumps(other.dump(state=True), default=str)

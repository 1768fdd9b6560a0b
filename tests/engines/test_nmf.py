"""OnlineNMF codes documents in blocks: the same bits on every engine, and as without one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.engines import open_engine
from firststory.solvers import orthogonal_nmf


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(orthogonal_nmf, "BLOCK_DOCUMENTS", 16)


def timesteps():
    random = np.random.default_rng(0)
    for width in (40, 60, 61, 61):
        yield sp.csr_matrix(random.poisson(0.2, (70, width)).astype(float))


def learnt(engine, **parameters):
    model = fs.OnlineNMF(n_components=6, random_state=0, **parameters)
    model.use_engine(engine)
    for rows in timesteps():
        model.partial_fit(rows)
    return model.transform(rows), model.get_state()


def assert_same(one, other):
    np.testing.assert_array_equal(one[0], other[0])
    for name, value in one[1].items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other[1][name], err_msg=name)
        else:
            assert value == other[1][name], name


SOLVERS = [{}, {"rounds": 3, "birth": "add"}, {"solver": "multiplicative"}]


@pytest.mark.parametrize("parameters", SOLVERS, ids=str)
def test_serial_and_threads_are_what_no_engine_is(parameters):
    plain = learnt(None, **parameters)
    for text in ("serial", "threads:2", "threads:3"):
        with open_engine(text) as engine:
            assert_same(learnt(engine, **parameters), plain)


def test_a_cluster_of_one_two_or_three_workers_gives_the_same_bits(cluster):
    plain = learnt(None)
    for n_workers in (1, 2, 3):
        while len(cluster.workers) < n_workers:
            cluster.workers.append(cluster.start_worker())
        with open_engine(cluster.address) as engine:
            assert_same(learnt(engine), plain)

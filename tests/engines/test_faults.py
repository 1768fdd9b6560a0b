"""Workers are killed, hang, or are of another version; the scheduler is started anew: pieces are computed all the same.

Real schedulers and workers, each a process of its own on the loopback address.
"""

from __future__ import annotations

import signal
import threading

import pytest

from engines.pieces import refuse, squared, squared_or_killed, squared_or_stopped, squared_slowly
from engines.private_cluster import PrivateCluster, wait_until
from firststory.errors import EngineError

pytest.importorskip("distributed")
from firststory.engines import open_engine

PIECES = list(range(12))
EXPECTED = [i * i + 5 for i in PIECES]


@pytest.fixture
def make_cluster(tmp_path):
    made = []

    def make(n_workers):
        made.append(PrivateCluster(n_workers, tmp_path))
        return made[-1]

    yield make
    for cluster in made:
        cluster.close()


@pytest.mark.parametrize("victims", [{4}, {2, 7}])
def test_workers_killed_in_the_middle_of_a_step(make_cluster, tmp_path, victims):
    cluster = make_cluster(3)
    with open_engine(cluster.address) as engine:
        assert engine.map(squared_or_killed, PIECES, 5, str(tmp_path), victims) == EXPECTED
        assert sum(worker.poll() is not None for worker in cluster.workers) == len(victims)
        assert engine.map(squared, PIECES, 5) == EXPECTED  # and it goes on


def test_the_only_worker_killed_and_another_started(make_cluster, tmp_path):
    cluster = make_cluster(1)
    with open_engine(cluster.address) as engine:

        def replace():
            cluster.workers[0].wait()
            cluster.workers.append(cluster.start_worker())

        helper = threading.Thread(target=replace)
        helper.start()
        assert engine.map(squared_or_killed, PIECES, 5, str(tmp_path), {3}) == EXPECTED
        helper.join()


def test_nobody_left_is_an_error_that_says_so(make_cluster, tmp_path):
    cluster = make_cluster(1)
    with (
        open_engine(f"{cluster.address}?deadline=1") as engine,
        pytest.raises(EngineError, match="has no worker that can be there"),
    ):
        engine.map(squared_or_killed, PIECES, 5, str(tmp_path), {3})


def test_a_worker_that_hangs_is_left_out_after_the_deadline(make_cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("firststory.engines.dask_cluster.PING_SECONDS", 1.0)
    cluster, told = make_cluster(2), []
    with open_engine(f"{cluster.address}?deadline=1.5", told.append) as engine:
        assert engine.map(squared_or_stopped, PIECES, 5, str(tmp_path), {6}) == EXPECTED
        assert any("does not answer" in sentence for sentence in told), told
        assert engine.map(squared, PIECES, 5) == EXPECTED
        for worker in cluster.workers:
            worker.send_signal(signal.SIGCONT)
        assert engine.map(squared, PIECES, 5) == EXPECTED


def test_a_scheduler_that_is_started_anew_in_the_middle_of_a_step(make_cluster, tmp_path):
    cluster, told = make_cluster(1), []

    def restart():
        wait_until((tmp_path / "begun3").exists, "the fourth piece")
        cluster.kill_scheduler()
        cluster.start_scheduler()
        cluster.start_worker()  # workers end with their scheduler

    with open_engine(f"{cluster.address}?deadline=30", told.append) as engine:
        helper = threading.Thread(target=restart)
        helper.start()
        assert engine.map(squared_slowly, PIECES, 5, str(tmp_path), 0.1) == EXPECTED
        helper.join()
        assert any("went away" in sentence for sentence in told), told


def test_a_worker_of_another_version_gets_no_pieces(make_cluster, older_package, tmp_path):
    cluster, told = make_cluster(0), []
    cluster.start_worker(package=older_package)
    with pytest.raises(EngineError, match=r"compute as this machine does .*firststory 0\.0\.1 \(here"):
        open_engine(cluster.address)
    cluster.start_worker()
    with open_engine(cluster.address, told.append) as engine:
        assert any("firststory 0.0.1" in sentence for sentence in told), told
        assert engine.map(squared, PIECES, 5) == EXPECTED
        late = len(told)
        cluster.start_worker(package=older_package)
        pieces = list(range(24))  # enough for both: the one that came late is noticed by its first piece
        assert engine.map(squared_slowly, pieces, 5, str(tmp_path), 0.05) == [i * i + 5 for i in pieces]
        assert any("firststory 0.0.1" in sentence for sentence in told[late:]), told


def test_what_the_function_raises_on_a_worker_is_raised_here(make_cluster):
    cluster = make_cluster(1)
    with open_engine(cluster.address) as engine:
        with pytest.raises(ValueError, match="piece 1"):
            engine.map(refuse, [1, 2])
        assert engine.map(squared, PIECES, 5) == EXPECTED


def test_a_cluster_of_our_own():
    with open_engine("dask://local:1") as engine:
        assert engine.map(squared, PIECES, 5) == EXPECTED

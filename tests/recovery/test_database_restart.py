"""PostgreSQL restarts while a stream runs: the run goes on, and nothing is lost or doubled."""

from __future__ import annotations

import signal

import pytest

from firststory.pipeline.runner import Runner
from firststory.settings import load
from firststory.sources.files import read_all
from firststory.store.store import Store
from private_postgres import PrivatePostgres
from recovery.killed_runs import run
from recovery.test_kills import write_stream


@pytest.fixture
def server():
    server = PrivatePostgres()
    yield server
    server.close()


@pytest.mark.parametrize("cores", [1, 2])
def test_restarts_between_steps_and_in_the_middle_of_computing_one(server, tmp_path, monkeypatch, cores):
    settings = load({"detector": "neighbour", "language": "en", "step": 10, "topics": "none", "save_every": 4})
    source = write_stream(tmp_path / "news.jsonl", 200, 30)
    run(server.new_schema(), settings, source)
    with Store(server.url() + "&options=-csearch_path%3Dstore_1", read_only=True) as store:
        whole = store.dump(state=True)

    def restart(how=signal.SIGINT):
        server.stop(how)
        server.start()

    with Store(server.new_schema()) as store:
        runner = Runner(settings, store)
        judge = runner.core.judge

        def judged(batch, *about):
            if batch.index == 5:
                restart(signal.SIGQUIT)
            return judge(batch, *about)

        monkeypatch.setattr(runner.core, "judge", judged)
        take = runner.run_overlapped if cores == 2 else runner.run
        for done in take(read_all([source], store.positions(), print)):
            if done.index in (2, 9):
                restart()
        assert store.dump(state=True) == whole

"""Every stream of a fleet leaves the store that it would have left alone, whatever becomes of the workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from engines.private_cluster import PrivateCluster, wait_until
from firststory.datasets import make_story_stream
from firststory.fleet.fleet import MOST_FAILURES, Fleet
from firststory.fleet.slices import BUSY, DONE, FAILED, LOST, Job, run_slice
from firststory.fleet.streams import read_streams
from firststory.fleet.workers import DIED, EngineWorkers, ProcessWorkers
from firststory.pipeline.runner import Runner
from firststory.records import Idle
from firststory.sources.files import read_all
from firststory.store.store import Store

N_STREAMS = 4
N_DOCUMENTS = 80
SETTINGS = 'language = "en"\nstep = 10\ntopics = "none"\ndetector = "neighbour"\nbudget = "100/day"\nsave_every = 3\n'


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What every stream leaves in a run of its own."""
    return write_streams(tmp_path_factory.mktemp("alone"), run=True)


def write_streams(folder, *, run=False):
    """The file of a fleet; with `run` what the stores hold once every stream has run by itself."""
    text = f'[defaults]\n{SETTINGS}store = "{{name}}.db"\nsources = ["{{name}}.jsonl"]\n'
    for number in range(N_STREAMS):
        news = make_story_stream(N_DOCUMENTS, 12, sentences=2, random_state=number).documents
        lines = [{"id": d.id, "text": d.text, "time": d.time.isoformat(), "source": d.source} for d in news]
        (folder / f"s{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        text += f"[streams.s{number}]\n"
    (folder / "streams.toml").write_text(text)
    if not run:
        return folder / "streams.toml"
    for stream in read_streams(folder / "streams.toml"):
        with Store(stream.store) as store:
            for _ in Runner(stream.settings, store).run(read_all(stream.sources, {}, print)):
                pass
    return [found(stream) for stream in read_streams(folder / "streams.toml")]


def found(stream):
    """All that a store holds, but for its lease and the names of the files, which lie in another folder."""
    with Store(stream.store) as store:
        held = store.dump()
    held.pop("positions")
    held["meta"] = [row for row in held["meta"] if row[0] != "lease"]
    return held


def assert_as_alone(streams, alone):
    for stream, expected in zip(streams, alone, strict=True):
        for table, rows in found(stream).items():
            assert rows == expected[table], (stream.name, table)


def job(stream, seconds=60.0, owner="me 1", lease=60.0):
    return Job(stream, owner, (), seconds, lease)


def test_slices_add_up_to_the_whole_stream(tmp_path, alone):
    streams = read_streams(write_streams(tmp_path))
    ends = []
    for stream in streams[:1]:
        while not ends or ends[-1] != DONE:
            ends.append(run_slice(job(stream, seconds=0.0)).end)
        ends.append("next")
    assert ends.count("more") == N_DOCUMENTS // 10
    assert_as_alone(streams[:1], alone[:1])


def test_a_stream_that_another_writes_is_left_alone(tmp_path):
    stream = read_streams(write_streams(tmp_path))[0]
    with Store(stream.store) as store:
        store.lease(60.0)
        assert run_slice(job(stream)).end == BUSY
    with Store(stream.store) as store:
        store.claim()
        assert run_slice(job(stream)).end == BUSY
    assert run_slice(job(stream)).documents == N_DOCUMENTS


def test_a_slice_whose_lease_is_taken_over_writes_no_further(tmp_path):
    stream = read_streams(write_streams(tmp_path))[0]
    steps = 0

    def take_over_in_the_third_step():
        nonlocal steps
        steps += 1
        if steps == 25:
            with Store(stream.store) as other:
                other.lease(60.0, "other 1", dead=["me 1"])
        return True

    told = run_slice(job(stream), take_over_in_the_third_step)
    assert (told.end, told.documents) == (LOST, 20)
    with Store(stream.store) as store:
        assert store.status()["documents"] == 20


def test_sources_that_are_silent_make_room(tmp_path, monkeypatch):
    stream = read_streams(write_streams(tmp_path))[0]
    monkeypatch.setattr("firststory.fleet.slices.read_all", lambda *given, **more: iter([Idle()] * 50))
    assert run_slice(job(stream)).end == "idle"


class Workers:
    """Two places in this process; some slices die, as they are told to."""

    places = 2

    def __init__(self, deaths):
        self.deaths = list(deaths)

    def run(self, place, given):
        if given.stream.name in self.deaths:
            self.deaths.remove(given.stream.name)
            with Store(given.stream.store) as store:
                store.lease(60.0, given.owner, given.dead)
                store._lease._ended.set()
                store._lease = None  # not given back: that is how a process dies
            return run_slice(given)._replace(end=DIED)
        return run_slice(given)

    def stop(self):
        pass

    def close(self):
        pass


def test_a_fleet_goes_on_after_deaths_and_gives_up_what_never_works(tmp_path, alone):
    path = write_streams(tmp_path)
    text = path.read_text() + '[streams.bad]\nsources = ["nowhere.jsonl"]\n'
    path.write_text(text)
    said = []
    fleet = Fleet(read_streams(path), Workers(["s1", "s1", "s3"]), seconds=0.05, say=said.append)
    list(fleet.run())
    *good, bad = fleet.standings
    assert [one.end for one in good] == [DONE] * N_STREAMS
    assert bad.failures == MOST_FAILURES and "given up" in said[-1]
    assert_as_alone([one.stream for one in good], alone)


@pytest.mark.slow
def test_processes_that_are_killed_and_stopped(tmp_path, alone):
    """One worker is killed, another hangs in the middle of its slice: both are replaced."""
    streams = read_streams(write_streams(tmp_path))
    workers = ProcessWorkers(2, hangs_after=8.0)
    fleet = Fleet(streams, workers, seconds=0.05, lease_seconds=30.0)
    harm = {0: signal.SIGSTOP, 1: signal.SIGKILL}
    ends = []
    for told in fleet.run():
        ends.append(told.end)
        place = len(ends) % 2
        if place in harm and len(ends) > 3 and workers._processes[place] is not None:
            os.kill(workers._processes[place].pid, harm.pop(place))
    workers.close()
    assert not harm and ends.count(DIED) >= 2, ends
    assert all(one.end == DONE for one in fleet.standings)
    assert_as_alone(streams, alone)


@pytest.mark.slow
def test_slices_on_a_cluster_one_of_whose_workers_is_killed(tmp_path, alone):
    pytest.importorskip("distributed")
    from firststory.engines import open_engine

    streams = read_streams(write_streams(tmp_path))
    folder = tmp_path / "dask"
    folder.mkdir()
    with PrivateCluster(2, folder) as cluster, open_engine(cluster.address) as engine:
        fleet = Fleet(streams, EngineWorkers(engine, 2), seconds=0.2, lease_seconds=2.0)
        for number, _ in enumerate(fleet.run()):
            if number == 4:
                cluster.workers[0].kill()
    assert all(one.end == DONE for one in fleet.standings)
    assert_as_alone(streams, alone)


MANY, FEW_DOCUMENTS = 100, 12


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The texts of a hundred tiny streams, and what some of them leave in a run of their own."""
    folder = tmp_path_factory.mktemp("many")
    path = write_many(folder)
    chosen = read_streams(path)[:: MANY // 5]
    for stream in chosen:
        with Store(stream.store) as store:
            for _ in Runner(stream.settings, store).run(read_all(stream.sources, {}, print)):
                pass
    return [found(stream) for stream in chosen]


def write_many(folder):
    news = make_story_stream(MANY * FEW_DOCUMENTS, 40, sentences=1).documents
    text = f'[defaults]\n{SETTINGS}store = "{{name}}.db"\nsources = ["{{name}}.jsonl"]\n'
    for number in range(MANY):
        own = news[number * FEW_DOCUMENTS : (number + 1) * FEW_DOCUMENTS]
        lines = [{"id": d.id, "text": d.text, "time": d.time.isoformat(), "source": d.source} for d in own]
        (folder / f"s{number:03}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        text += f"[streams.s{number:03}]\n"
    (folder / "streams.toml").write_text(text)
    return folder / "streams.toml"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["processes", "cluster"])
def test_a_hundred_streams_that_are_stopped_and_started_again(tmp_path, many, kind):
    """The first fleet is left in the middle; the second, which knows nothing of it, finishes every stream."""
    streams = read_streams(write_many(tmp_path))
    folder = tmp_path / "dask"
    folder.mkdir()
    with ExitStack() as stack:
        if kind == "cluster":
            pytest.importorskip("distributed")
            from firststory.engines import open_engine

            engine = stack.enter_context(open_engine(stack.enter_context(PrivateCluster(2, folder)).address))
            make = partial(EngineWorkers, engine, 2)
        else:
            make = partial(ProcessWorkers, 2)
        seen = []
        for part in (0, 1):
            workers = make()
            fleet = Fleet(streams, workers, seconds=0.0, lease_seconds=5.0)
            for told in fleet.run(lambda first=part == 0: not first or len(seen) < MANY // 2):
                assert told.end not in (DIED, FAILED), told
                seen.append(told)
            workers.close()
            if part == 0:
                assert 0 < sum(one.documents for one in fleet.standings) < MANY * FEW_DOCUMENTS
    assert all(one.end == DONE for one in fleet.standings)
    assert sum(told.documents for told in seen) == MANY * FEW_DOCUMENTS
    assert_as_alone(streams[:: MANY // 5], many)


def command(*given):
    return [sys.executable, "-m", "firststory.cli.main", "fleet", *map(str, given)]


@pytest.mark.slow
def test_sigterm_stops_all_and_the_next_call_goes_on(tmp_path, alone):
    path = write_streams(tmp_path)
    streams = read_streams(path)
    given = [path, "--workers", "2", "--slice", "0.05"]
    process = subprocess.Popen(command(*given), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: process.poll() is not None or stored(streams) >= 50, "fifty documents")
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate()
    assert process.returncode == 130 and "what was finished is saved" in said, said
    assert 50 <= stored(streams) < N_STREAMS * N_DOCUMENTS, out
    for stream in streams:
        if Path(stream.store.removeprefix("sqlite:///")).exists():
            with Store(stream.store) as store:
                assert not store.lease_holder().is_live()
    done = subprocess.run(command(*given, "--json"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["end"] == DONE for line in done.stdout.splitlines())
    assert_as_alone(streams, alone)
    done = subprocess.run(command(path, "--status", "--json"), capture_output=True, text=True, check=True)
    assert [json.loads(line)["documents"] for line in done.stdout.splitlines()] == [N_DOCUMENTS] * N_STREAMS


def stored(streams):
    count = 0
    for stream in streams:
        if Path(stream.store.removeprefix("sqlite:///")).exists():
            try:
                with Store(stream.store, read_only=True) as store:
                    count += store.status()["documents"]
            except Exception:  # it is being made
                continue
    return count

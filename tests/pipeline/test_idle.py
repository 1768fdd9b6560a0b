"""A slow feed is answered while it is silent; where its steps were cut is recorded, and replayed so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from firststory.errors import StoreError
from firststory.pipeline.runner import Runner
from firststory.pipeline.steps import Stepper
from firststory.records import Idle
from firststory.store.store import Store


def test_a_step_by_number_closes_when_its_source_is_idle(arrivals):
    given = [*arrivals[:3], Idle(), Idle(), *arrivals[3:9], Idle(), arrivals[9]]
    assert [len(batch.documents) for batch in Stepper(4).batches(given)] == [3, 4, 2, 1]
    assert [batch.index for batch in Stepper(4).batches(given)] == [0, 1, 2, 3]


def test_a_step_in_time_stays_open(arrivals):
    given = [*arrivals[:3], Idle(), *arrivals[3:9]]
    with_idle = list(Stepper("1w").batches(given))
    assert with_idle == list(Stepper("1w").batches(arrivals[:9]))


def test_a_killed_run_replays_the_steps_as_they_were_cut(arrivals, quick, tmp_path):
    """The next run has other pauses; what was recorded keeps its own."""
    pauses = [given for i, one in enumerate(arrivals[:60]) for given in ((one, Idle()) if i % 7 == 3 else (one,))]
    settings = quick(save_every=1000)

    def run(path, given, *, killed=False):
        with Store(str(tmp_path / path)) as store:
            said = []
            runner = Runner(settings, store, said.append)
            if killed:
                runner.save = lambda: None
            for _ in runner.run(given):
                pass
            assert not any("differently" in one for one in said)
            return store.dump(state=True)

    whole = run("whole.db", [*pauses, Idle(), *arrivals[60:]])
    run("cut.db", pauses, killed=True)
    assert run("cut.db", arrivals[60:]) == whole


class Feed:
    """`firststory run -` at the end of a pipe that stays open."""

    def __init__(self, store):
        command = [sys.executable, "-m", "firststory.cli.main", "run", "-", "--store", str(store), "--topics", "none"]
        command += ["--detector", "neighbour", "--language", "en"]
        self.store = store
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def documents(self):
        if not self.store.is_file():
            return 0
        try:
            with Store(str(self.store), create=False) as opened:
                return opened.status()["documents"]
        except StoreError:  # the run is making it at this moment
            return 0

    def wait_for(self, count):
        deadline = time.monotonic() + 120
        while self.documents() < count:
            assert self.process.poll() is None and time.monotonic() < deadline, self.process.communicate()
            time.sleep(0.1)


def line(i):
    return json.dumps({"id": str(i), "text": f"Flood number {i} closes the bridge in Bremen"}).encode() + b"\n"


def test_a_silent_pipe_is_judged_as_far_as_it_came(tmp_path):
    feed = Feed(tmp_path / "live.db")
    feed.write(line(1) + line(2) + line(3)[:20])
    feed.wait_for(2)
    feed.write(line(3)[20:])  # a line whose writer paused in the middle is one line
    feed.wait_for(3)
    feed.process.send_signal(signal.SIGKILL)
    feed.process.communicate()
    assert feed.documents() == 3
    again = Feed(tmp_path / "live.db")
    again.write(line(4))
    again.wait_for(4)
    again.process.stdin.close()
    assert again.process.wait(60) == 0
    with Store(str(tmp_path / "live.db"), create=False) as opened:
        assert opened.status()["quarantined"] == 0 and opened.status()["steps"] >= 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_pipe_is_silent(tmp_path, number):
    feed = Feed(tmp_path / "live.db")
    feed.write(line(1))
    feed.wait_for(1)
    feed.process.send_signal(number)
    _, said = feed.process.communicate(timeout=60)
    assert feed.process.returncode == 130 and b"Traceback" not in said
    assert feed.documents() == 1


def test_csv_on_a_pipe_is_answered_too(tmp_path):
    from firststory.cli.interrupt import interruptible
    from firststory.sources.files import read

    reader, writer = os.pipe()
    os.write(writer, b"id;text\n1;Flood in Bremen\n2;Fire in Oslo\n")

    class Stdin:
        def fileno(self):
            return reader

    kept, sys.stdin = sys.stdin, Stdin()
    try:
        with interruptible() as interrupt:
            found = read("-", format="csv", stdin=interrupt.standard_input(), idle_seconds=0.05)
            assert [next(found)[0].id, next(found)[0].id] == ["1", "2"]
            assert next(found) == Idle()
            os.write(writer, b"3;Strike in Hull\n")
            assert next(one for one in found if one != Idle())[0].id == "3"
            os.close(writer)
            assert [one for one in found if one != Idle()] == []
    finally:
        sys.stdin = kept
        os.close(reader)

"""`firststory` in processes that need no start-up: everything is loaded once, and every run is a fork of that.

As a program it reads requests as lines of JSON and answers each with one: {"run": arguments, "log": path} with the
process id, {"poll": process id} with its exit status once it has ended.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from importlib import import_module

ENDING = (signal.SIGINT, signal.SIGTERM)
CLIENTS = ("redis", "nats", "confluent_kafka", "websockets.sync.client", "feedparser", "httpx", "psycopg")


class Forks:
    """Runs as forks of one process that has loaded everything, kernels included; `settings` are those of the runs."""

    def __init__(self, **settings):
        command = [sys.executable, __file__, json.dumps(settings)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def start(self, arguments, log):
        return Fork(self, self.ask(run=[str(part) for part in arguments], log=str(log)))

    def close(self):
        self._process.stdin.close()
        self._process.wait(10)


class Fork:
    """One run, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, forks, pid):
        self._forks, self.pid, self.returncode = forks, pid, None

    def poll(self):
        if self.returncode is None:
            self.returncode = self._forks.ask(poll=self.pid)
        return self.returncode

    def wait(self, timeout=60):
        end = time.monotonic() + timeout
        while self.poll() is None:
            assert time.monotonic() < end, f"waited {timeout} s for process {self.pid}"
            time.sleep(0.005)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


def main(settings):
    from firststory.cli import run, run_log, unread  # noqa: F401
    from firststory.cli.main import end_at_once
    from firststory.cli.main import main as command_line
    from firststory.datasets import make_story_stream
    from firststory.pipeline.runner import Runner
    from firststory.records import Position
    from firststory.settings import load

    for name in CLIENTS:
        with suppress(ImportError):
            import_module(name)
    warm_up = [(document, Position("-", {})) for document in make_story_stream(200, 20, duplicates=0.1).documents]
    for _ in Runner(load(json.loads(settings))).run(warm_up):
        pass
    gc.freeze()
    # Forks inherit this: one that is ended before it has reached `command_line` ends as a program that is loading does.
    for number in ENDING:
        signal.signal(number, end_at_once)
    for line in sys.stdin:
        request = json.loads(line)
        if "poll" in request:
            pid, status = os.waitpid(request["poll"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            # Python forgets what reaches a fork before it has become one: until then it waits.
            signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
            answer = os.fork()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
            if not answer:
                os._exit(_call(command_line, **request))
        print(json.dumps(answer), flush=True)


def _call(command_line, run, log):
    """A command in this process, which ends with it; its exit status."""
    nothing, said = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for number, place in enumerate((nothing, said, said)):
        os.dup2(place, number)
    sys.argv = ["firststory", *run]
    try:
        command_line()
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    main(*sys.argv[1:])

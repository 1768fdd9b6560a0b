"""A dask cluster of real processes on the loopback address, for one test: any of them can be killed or stopped."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

SECONDS = 60
ROOT = Path(__file__).parents[2]


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_until(is_so, what):
    give_up = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < give_up, f"not within {SECONDS} s: {what}"
        time.sleep(0.05)


class PrivateCluster:
    """A scheduler and some workers; each worker is one process with one thread and no nanny."""

    host = "127.0.0.1"

    def __init__(self, n_workers, folder, port=None):
        self.folder = Path(folder)
        self.port = port or free_port()
        self.address = f"dask://{self.host}:{self.port}"
        self._all = []
        self.start_scheduler()
        self.workers = [self.start_worker() for _ in range(n_workers)]

    def start_scheduler(self):
        # Half a second: a restarted scheduler must get the same port, which its predecessor's sockets may still hold.
        options = ["--host", self.host, "--port", str(self.port), "--no-dashboard", "--no-show"]
        self.scheduler = self._start("scheduler", *options, seen="Scheduler at")

    def start_worker(self, package=None, within=()):
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "30"]
        options += ["--local-directory", str(self.folder)]
        address = f"tcp://{self.host}:{self.port}"
        return self._start("worker", address, *options, package=package, within=within, seen="Registered to")

    def _start(self, kind, *options, seen, package=None, within=()):
        number = len(self._all)
        log = self.folder / f"{kind}{number}.log"
        path = os.pathsep.join([str(package or ROOT / "src"), str(ROOT / "tests")])
        environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*within, sys.executable, "-m", "dask", kind, *options], env=environment, stdout=out, stderr=out
            )
        self._all.append(process)
        wait_until(lambda: re.search(seen, log.read_text()) or process.poll() is not None, f"{kind}: {log}")
        assert process.poll() is None, log.read_text()
        return process

    def kill_scheduler(self):
        self.scheduler.kill()
        self.scheduler.wait()

    def close(self):
        for process in self._all:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.close()

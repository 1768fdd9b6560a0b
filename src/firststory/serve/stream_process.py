"""The stream in a process of its own, so that judging documents does not keep those waiting who read.

The two processes talk in lines of JSON. To the one that judges go first what it is to do, then `wake` and `stop`;
from it come where it stands, its steps, and sentences for people. The documents themselves go by way of the store.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from firststory.backoff import wait_before
from firststory.errors import StoreError
from firststory.notices import Notice
from firststory.serve.stream import SECONDS_TO_STOP, TAKING

MOST_DEATHS = 5
"""In a row, without a step in between, after which it is not started again."""

Say = Callable[[str], None]


class StreamProcess:
    """Starts the process that judges, starts it again when it dies, and knows where it stands.

    Parameters
    ----------
    command : sequence of str
        What to start.
    task : mapping
        What it is to do, as JSON values; sent to it, so that no password stands in a list of processes.
    say : callable
        Is told, in one sentence, what a person should know.
    """

    def __init__(self, command: Sequence[str], task: Mapping[str, Any], say: Say = lambda sentence: None) -> None:
        self._command, self._task, self._say = list(command), dict(task), say
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._told: dict[str, Any] = {}
        self._steps_seen = 0
        self.on_step: Callable[[], None] = lambda: None
        self.on_end: Callable[[], None] = lambda: None
        """Called when the stream cannot go on."""
        self.state = "starting"
        self.problem: Exception | None = None
        self.memory_bytes = 0
        """Of the process that judges."""
        self.restarts = 0
        # The child dies with the thread that started it, so this one lives as long as any child.
        self._thread = threading.Thread(target=self._run, name="judging", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let the step that is being computed finish, the model be saved, and the process end."""
        self._stopping.set()
        self._send("stop")
        if self._thread.is_alive():
            self._thread.join(SECONDS_TO_STOP)
        if self._thread.is_alive() and self._process is not None:
            self._process.kill()
            self._thread.join()

    def wake(self) -> None:
        """Something was pushed."""
        self._send("wake")

    @property
    def takes_documents(self) -> bool:
        """Whether what is pushed will be judged: now, or when the store or the process is back."""
        return self.state in TAKING

    def rate(self) -> float:
        """Documents a second over the last minute or so."""
        return float(self._told.get("documents_per_second", 0.0))

    def told(self) -> dict[str, Any]:
        """Where the stream stands, as JSON values."""
        nothing = {
            "sources": [],
            "documents_per_second": 0.0,
            "step_seconds": 0.0,
            "steps_since_start": 0,
            "documents_since_start": 0,
        }
        problem = self.problem
        if isinstance(problem, StoreError):
            words: str | None = problem.without_owner
        else:
            words = self._told.get("problem") if problem is None else str(problem)
        return nothing | self._told | {"state": self.state, "problem": words, "restarts": self.restarts}

    def _send(self, word: str) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError, ValueError):  # it has gone; whoever watches it knows
                process.stdin.write(word.encode() + b"\n")
                process.stdin.flush()

    def _run(self) -> None:
        deaths = 0
        while not self._stopping.is_set():
            seen = self._steps_seen
            how = self._follow()
            if self._stopping.is_set() or self.state == "failed":
                break
            deaths = 1 if self._steps_seen > seen else deaths + 1
            self.problem = _Died(f"The process that judges documents ended unasked ({how}).")
            if deaths >= MOST_DEATHS:
                self.state = "failed"
                break
            wait = wait_before(deaths - 1, None)
            self.state, self.restarts = "restarting", self.restarts + 1
            self._say(Notice(f"{self.problem} It is started again in {wait:.0f} s.", "judging_died", "error", how=how))
            self._stopping.wait(wait)
        if self._stopping.is_set() and self.state != "failed":
            self.state = "stopped"
        if self.state == "failed":
            self.on_end()

    def _follow(self) -> str:
        """One process from its start to its end; how it ended."""
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=-1)
        self._process = process
        assert process.stdout is not None and process.stdin is not None
        self._send(json.dumps(self._task | {"parent": os.getpid()}))
        if self._stopping.is_set():
            self._send("stop")
        for line in process.stdout:
            with suppress(ValueError):  # cut in the middle when it was killed
                self._hear(json.loads(line))
        status = process.wait()
        self._process, self.memory_bytes = None, 0
        process.stdout.close()
        with suppress(OSError):
            process.stdin.close()
        return f"signal {-status}" if status < 0 else f"exit status {status}"

    def _hear(self, told: dict[str, Any]) -> None:
        if "told" in told:
            self._told, self.memory_bytes = told["told"], told["memory_bytes"]
            if self._told["state"] not in ("failed", "stopped"):
                self.state = self._told["state"]
                self.problem = None
        if told.get("step"):
            self._steps_seen += 1
            self.on_step()
        if "say" in told:
            notice = told["say"]
            facts = {name: value for name, value in notice["facts"].items() if name not in ("sentence", "level")}
            self._say(Notice(notice["sentence"], notice["event"], notice["level"], **facts))
        if "failed" in told:
            self.problem, self.state = _problem_of(told["failed"]), "failed"


class _Died(RuntimeError):
    """The process ended, and nobody had asked it to."""


def _problem_of(told: Mapping[str, Any]) -> Exception:
    """What went wrong over there, to be raised here."""
    if told["is_ours"]:
        return StoreError(
            owner="firststory serve",
            parameter="the stream",
            allowed="one that goes on",
            received="one that stopped",
            remedy="",
            message=told["sentence"],
        )
    fault = _Died(told["sentence"])
    fault.add_note(told["traceback"])
    return fault

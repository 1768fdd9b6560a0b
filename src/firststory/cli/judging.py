"""The process that judges documents for `firststory serve`; see `serve/stream_process.py` for what it is told."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from firststory.child_process import die_with

TOLD_EVERY = 0.5
"""Seconds between two words on how the stream goes."""


class Telling:
    """Lines to the service, from any thread."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._lock = out, threading.Lock()

    def __call__(self, **told: Any) -> None:
        with self._lock, suppress(OSError):  # the service has gone; its end of our input says so too
            self._out.write(json.dumps(told, default=str).encode() + b"\n")
            self._out.flush()

    def say(self, sentence: str) -> None:
        from firststory.notices import Notice

        notice = sentence if isinstance(sentence, Notice) else Notice(sentence, "note")
        facts = {"event": notice.event, "level": notice.level, "facts": notice.facts}
        self(say={"sentence": str(notice), **facts})


def main() -> None:
    """Judge until the service says stop, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the service decides
    # Whatever prints must not come between our lines.
    tell = Telling(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    lines = _lines(sys.stdin.fileno())
    task = json.loads(next(lines))
    die_with(task["parent"])
    try:
        _judge(task, tell, lines)
    except Exception as error:
        _fail(tell, error)


def _judge(task: dict[str, Any], tell: Telling, lines: Iterator[bytes]) -> None:
    from firststory.cli.preparing import Preparing
    from firststory.cli.serving import opened_sources
    from firststory.cli.sinking import wanted_sinks
    from firststory.kernels.preparing import listening
    from firststory.pipeline.garbage import tune_collection
    from firststory.pipeline.opening import open_run
    from firststory.serve.samples import memory_bytes
    from firststory.serve.stream import Stream

    named, url = task["named"], task["url"]
    settings, store = open_run(named, url)
    stopping = threading.Event()
    with store, listening(Preparing(tell.say)):
        stream = Stream(
            store,
            settings,
            lambda: opened_sources(named, url, task["sources"], follow=task["follow"]),
            lambda: wanted_sinks(named),
            tell.say,
            warms_up=True,
        )
        signal.signal(signal.SIGTERM, lambda number, frame: stopping.set())
        stream.on_step = lambda: tell(step=True)
        stream.on_end = stopping.set
        tune_collection()
        stream.start()
        while not stopping.is_set():
            tell(told=stream.told(), memory_bytes=memory_bytes())
            word = next(lines)
            if word == b"wake":
                stream.wake()
            elif word != b"":
                break
        stream.stop()
        tell(told=stream.told(), memory_bytes=memory_bytes())
        if stream.state == "failed" and stream.problem is not None:
            _fail(tell, stream.problem)


def _fail(tell: Telling, error: Exception) -> None:
    from firststory.errors import FirststoryError

    is_ours = isinstance(error, FirststoryError)
    sentence = error.without_owner if isinstance(error, FirststoryError) else f"{type(error).__name__}: {error}"
    tell(failed={"sentence": sentence, "is_ours": is_ours, "traceback": "".join(traceback.format_exception(error))})


def _lines(asked: int) -> Iterator[bytes]:
    """What the service says, line by line; an empty one after a while without any, `stop` when it has gone."""
    rest = b""
    while True:
        while b"\n" in rest:
            line, _, rest = rest.partition(b"\n")
            yield line
        readable, _, _ = select.select([asked], [], [], TOLD_EVERY)
        if not readable:
            yield b""
            continue
        read = os.read(asked, 65_536)
        if not read:
            while True:
                yield b"stop"
        rest += read


if __name__ == "__main__":
    main()

"""Alerts appended to a file, one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from firststory.records import Alert
from firststory.sinks.sink import NotDelivered, Shape

TAIL = 1 << 20
"""Bytes at the end of the file in which alerts are looked for that were written before a kill."""


class JsonLines:
    """`jsonl:PATH`. A line that a kill left unfinished is removed; an alert at the end of the file is not repeated."""

    every = 0.0

    def __init__(self, path: str, shape: Shape) -> None:
        self._path, self._shape = Path(path).absolute(), shape
        self.name = f"jsonl:{self._path}"
        self._written: set[str] | None = None

    def deliver(self, alerts: Sequence[Alert]) -> None:
        try:
            with self._path.open("ab") as file:
                if self._written is None:
                    self._written = _mend(self._path)
                for alert in alerts:
                    if alert.id not in self._written:
                        file.write(json.dumps(self._shape(alert), ensure_ascii=True, default=str).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            # Later ones come one after another; only the first may have been written by a process that died.
            self._written = set()
        except OSError as error:
            self._written = None
            raise NotDelivered(f"the file cannot be written ({error.strerror})") from error


def _mend(path: Path) -> set[str]:
    """Cut off an unfinished line, and return the ids of the alerts at the end."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        start = max(size - TAIL, 0)
        file.seek(start)
        tail = file.read()
        whole = tail.rfind(b"\n") + 1
        if whole < len(tail):
            file.truncate(start + whole)
    found = set()
    for line in tail[:whole].splitlines():
        try:
            found.add(str(json.loads(line)["id"]))
        except (ValueError, KeyError, TypeError):
            continue
    return found

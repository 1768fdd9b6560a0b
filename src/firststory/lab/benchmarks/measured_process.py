"""A run that measures the process that it has for itself: `memory` starts it."""

from __future__ import annotations

import gc
import json
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

MEGABYTE = 1 << 20
SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
"""What belongs to the program, whoever refers to it."""


def main(lines: str, store: str, window: int, marks: list[int]) -> dict[str, Any]:
    """Run the file of JSON lines into the store as `firststory run` does."""
    from firststory.pipeline.garbage import tune_collection
    from firststory.pipeline.opening import open_run, overlaps
    from firststory.pipeline.runner import Runner
    from firststory.settings import gather
    from firststory.sources.files import read_all

    settings, opened = open_run(gather({"store": store, "window": window}), store)
    found: dict[str, Any] = {"marks": []}
    with opened:
        tune_collection()
        runner = Runner(settings, opened)
        arrivals = read_all([lines], opened.positions(), lambda said: None)
        seen, due, begun = 0, list(marks), (0, 0.0)
        # In turn, a step is done when it is handed out: otherwise nobody could say what a document cost.
        as_usual = len(marks) == 1
        is_overlapped = overlaps(settings) and as_usual
        for step in runner.run_overlapped(arrivals) if is_overlapped else runner.run(arrivals, never_wait=as_usual):
            if not seen:
                found["loaded"], found["files"] = resident("VmRSS"), resident("RssFile")
                Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
            seen += step.counts["seen"]
            if due and begun[0] == 0 and seen >= due[0] - max(due[0] // 10, min(due[0] // 2, 500)):
                begun = seen, time.process_time()
            if due and seen >= due[0]:
                took = time.process_time() - begun[1]
                found["marks"].append(
                    {"microseconds": 1e6 * took / max(1, seen - begun[0]), "resident": resident("VmRSS")}
                )
                due, begun = due[1:], (0, 0.0)
        found["end"], found["peak"] = resident("VmRSS"), resident("VmHWM")
        found["parts"] = sizes(runner.core)
    with closing(sqlite3.connect(store)) as database:
        found["copy"] = database.execute("SELECT max(length(state)) FROM states").fetchone()[0] / MEGABYTE
    return found


def resident(what: str) -> float:
    """Megabytes of this process, as Linux counts them."""
    return next(
        int(line.split()[1]) / 1024
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith(what + ":")
    )


def sizes(core: Any) -> dict[str, float]:
    """Megabytes of each part of a stream; what two of them share counts for the first."""
    seen: set[int] = set()
    parts = {name: getattr(core.parts, name) for name in core.parts.__slots__}
    found = {name: deep_size(part, seen) / MEGABYTE for name, part in parts.items()}
    found["the rest of the step"] = deep_size(core, seen) / MEGABYTE
    return {name: size for name, size in found.items() if size >= 0.05}


def deep_size(value: Any, seen: set[int]) -> int:
    """Bytes of a value and of all that it refers to, but for what was seen already and the program itself."""
    total, pending = 0, [value]
    while pending:
        one = pending.pop()
        if id(one) in seen or isinstance(one, SHARED):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        pending += gc.get_referents(one)
        base = getattr(one, "base", None) if type(one).__module__ == "numpy" else None
        if base is not None:
            pending.append(base)
    return total


if __name__ == "__main__":
    file, database, size, wanted = sys.argv[1:]
    print(json.dumps(main(file, database, int(size), [int(mark) for mark in wanted.split(",")])))

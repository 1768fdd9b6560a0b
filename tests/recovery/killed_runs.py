"""Run a stream into a store while being killed with signal 9 at random moments, until it is done.

A program of its own: it loads everything once and forks, so that a run costs no start. Prints, as one line of JSON, how
often it was killed, and how many documents the store had after each run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from firststory.pipeline.runner import Runner
from firststory.settings import load
from firststory.sources.files import read_all
from firststory.store.store import Store


def run(url, settings, source, say=lambda sentence: None):
    """One run to the end of the source."""
    with Store(url) as store:
        runner = Runner(settings, store, say)
        take = runner.run_overlapped if settings.cores == 2 else partial(runner.run, never_wait=True)
        with runner.placing_beside() if settings.cores == 2 else nullcontext():
            for _ in take(read_all([source], store.positions(), say)):
                pass


def run_in_a_child(url, settings, source):
    child = os.fork()
    if child:
        return child
    try:
        run(url, settings, source)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main(url, source, kills, seed, changes):
    settings = load(json.loads(changes))
    dice = random.Random(int(seed))
    for _ in Runner(settings).run(read_all([source], {}, lambda sentence: None)):
        pass  # the kernels are compiled and loaded before the first fork
    lines = Path(source).read_bytes().count(b"\n")
    killed, documents, longest = 0, [], 0.05
    while True:
        child = run_in_a_child(url, settings, source)
        if killed < int(kills):
            time.sleep(dice.uniform(0, longest))
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status not in (0, -signal.SIGKILL):
            sys.exit(f"a run ended with status {status}")
        with Store(url) as store:
            documents.append(store.status()["documents"])
        if status == 0 and killed >= int(kills):
            break
        if status == 0:  # done too early: the other kills hit runs that find nothing more to do
            longest *= 0.5
            continue
        killed += 1
        # The kills are spread over the whole stream: sooner where it is ahead of them, later where nothing moves.
        if documents[-1] / lines > 0.9 * killed / int(kills):
            longest *= 0.7
        elif documents[-1] == documents[-2:][0]:
            longest *= 1.3
    print(json.dumps({"killed": killed, "documents": documents}))


if __name__ == "__main__":
    main(*sys.argv[1:])

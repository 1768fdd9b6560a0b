"""`firststory run` as a real process that is killed again and again, and what its store then holds."""

from __future__ import annotations

import atexit
import functools
import json
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from firststory.datasets import make_story_stream
from services.forking import Forks
from services.servers import wait_until

STEP = 20
OPTIONS = ("--step", STEP, "--detector", "neighbour", "--topics", "none", "--language", "en", "--save-every", 4)
TABLES = {
    "verdicts": "SELECT d.n, d.id, d.step, d.time, d.text, v.novelty, v.p_value, v.is_novel, v.threshold, v.story, "
    "v.duplicate_of, v.evidence FROM documents d JOIN verdicts v USING (n) ORDER BY n",
    "alerts": "SELECT * FROM alerts ORDER BY n",
    "stories": "SELECT * FROM stories ORDER BY id",
    "storylines": "SELECT * FROM storylines ORDER BY id",
    "steps": "SELECT * FROM steps ORDER BY step",
}


def documents(n):
    """Documents that tell stories, as JSON values."""
    found = make_story_stream(n, max(n // 12, 2), sentences=2, random_state=7).documents
    return [
        {"id": d.id, "text": d.text, "time": d.time.isoformat(), "source": f"paper {i % 5}"}
        for i, d in enumerate(found)
    ]


def arguments_of(store, *arguments):
    return [str(part) for part in ("run", *arguments, "--store", store, *OPTIONS)]


def command(store, *arguments):
    """A run as it is typed, in a process of its own."""
    return [sys.executable, "-m", "firststory.cli.main", *arguments_of(store, *arguments)]


@functools.cache
def forks():
    """One for all tests of this process; it takes some seconds to load."""
    made = Forks(step=STEP, detector="neighbour", topics="none", language="en")
    atexit.register(made.close)
    return made


def is_postgres(store):
    return str(store).startswith("postgresql")


def log_of(store):
    """The log of the runs on a store: beside its file, or beside the socket of its server."""
    if not is_postgres(store):
        return Path(f"{store}.log")
    folder, _, schema = str(store).partition("?host=")[2].partition("&options=-csearch_path%3D")
    return Path(folder) / f"{schema}.log"


def said_by(store):
    """The end of what the runs on a store said."""
    return log_of(store).read_text(errors="replace")[-2000:]


def start(store, *arguments):
    """A run in the background; what it says goes to a file beside its store."""
    return forks().start(arguments_of(store, *arguments), log_of(store))


def query(store, statement):
    if is_postgres(store):
        import psycopg

        with psycopg.connect(str(store)) as connection:
            return connection.execute(statement).fetchall()
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return connection.execute(statement).fetchall()


def stored(store):
    """How many documents a store has."""
    if is_postgres(store):
        if query(store, "SELECT to_regclass('documents')")[0][0] is None:
            return 0
    elif not Path(store).exists():
        return 0
    try:
        return query(store, "SELECT count(*) FROM documents")[0][0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def contents(store):
    return {name: query(store, statement) for name, statement in TABLES.items()}


def run_from_file(folder, values, store=None):
    """The uninterrupted run: the same documents from a file."""
    path, store = folder / "all.jsonl", store or folder / "uninterrupted.db"
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    assert start(store, path).wait(400) == 0, said_by(store)
    return contents(store)


def finish(process, store, n, settled=lambda: True):
    """Wait until all documents are stored and `settled`, then end the run as a service manager would."""
    wait_until(lambda: stored(store) >= n or process.poll() is not None, f"{n} documents in {store}", 400)
    # A run that was killed may have stored all of them: then this one has only just begun.
    wait_until(lambda: settled() or process.poll() is not None, "what follows the last commit")
    process.terminate()
    process.wait(60)
    assert process.returncode == 130 and stored(store) == n, (process.returncode, stored(store), said_by(store))


def run_with_kills(store, arguments, n, kills, seed, settled=lambda: True):
    """Kill the run with SIGKILL at random moments, `kills` times, and then let it finish; the moments are spread.

    Returns how many documents the store had after each kill.
    """
    draw = random.Random(seed)
    found = []
    for killed in range(kills):
        left = n - stored(store)  # none where the earlier kills came late: then the others find nothing to do
        target = n - left + draw.randint(0, left // (kills - killed + 1))
        process = start(store, *arguments)
        wait_until(lambda: stored(store) >= target or process.poll() is not None, f"{target} documents", 60)  # noqa: B023
        # Anywhere in the next steps: while computing, while writing, between the commit and the acknowledgement.
        end = time.monotonic() + draw.random() * (0.03 if left else 0.3)
        while time.monotonic() < end:
            pass
        assert process.poll() is None, said_by(store)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.returncode == -signal.SIGKILL
        found.append(stored(store))
    finish(start(store, *arguments), store, n, settled)
    return found

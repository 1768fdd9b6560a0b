"""`firststory run` as a real process that is killed again and again, and what its store then holds."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from firststory.datasets import make_story_stream
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


def command(store, *arguments):
    parts = [sys.executable, "-m", "firststory.cli.main", "run", *arguments, "--store", store, *OPTIONS]
    return [str(part) for part in parts]


def log_of(store):
    return Path(f"{store}.log")


def said_by(store):
    """The end of what the runs on a store said."""
    return log_of(store).read_text(errors="replace")[-2000:]


def start(store, *arguments):
    """A run in the background; what it says goes to a file beside its store."""
    with log_of(store).open("ab") as said:
        return subprocess.Popen(command(store, *arguments), stdout=said, stderr=said, stdin=subprocess.DEVNULL)


def stored(store):
    """How many documents a store has."""
    if not Path(store).exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM documents").fetchone()[0]
    except sqlite3.OperationalError:  # not made yet
        return 0


def contents(store):
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return {name: connection.execute(query).fetchall() for name, query in TABLES.items()}


def run_from_file(folder, values):
    """The uninterrupted run: the same documents from a file."""
    path, store = folder / "all.jsonl", folder / "uninterrupted.db"
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    subprocess.run(command(store, path), check=True, capture_output=True)
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
    """Kill the run with SIGKILL at random moments, `kills` times, and then let it finish; the moments are spread."""
    draw = random.Random(seed)
    for killed in range(kills):
        target = stored(store) + draw.randint(0, max((n - stored(store)) // (kills - killed + 1), 1))
        process = start(store, *arguments)
        wait_until(lambda: stored(store) >= target or process.poll() is not None, f"{target} documents", 400)  # noqa: B023
        # Anywhere in the next steps: while computing, while writing, between the commit and the acknowledgement.
        end = time.monotonic() + draw.random() * 0.15
        while time.monotonic() < end:
            pass
        assert process.poll() is None, said_by(store)
        process.send_signal(signal.SIGKILL)
        process.wait()
    finish(start(store, *arguments), store, n, settled)

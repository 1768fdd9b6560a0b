"""Killed with signal 9 again and again, a run leaves what an uninterrupted one leaves, model included."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from firststory.datasets import make_story_stream
from firststory.settings import load
from firststory.store.store import Store
from recovery.killed_runs import run

KINDS = [(1, "nmf"), (2, "nmf"), (2, "storylines")]
"""In turn; on threads; and on two processes, which those topics allow."""


def write_stream(path, documents, stories):
    news = list(make_story_stream(documents, stories, duplicates=0.1, sentences=3).documents)
    # For a while the clock of the source is three days behind.
    news[60:90] = [replace(one, time=one.time - timedelta(days=3)) for one in news[60:90]]
    lines = [
        json.dumps({"id": d.id, "text": d.text, "time": d.time.isoformat(), "title": d.title, "source": d.source})
        for d in news
    ]
    # Some of the input is bad, some comes twice: that is part of what must come out the same.
    lines[30:30] = ["{broken", lines[3], '{"id": "x"}']
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def compare(new_store, source, kills, seed, **changes):
    settings = {"language": "en", **changes}
    run(new_store("whole"), load(settings | {"cores": 1}), source)
    script = Path(__file__).with_name("killed_runs.py")
    arguments = [new_store("cut"), source, str(kills), str(seed), json.dumps(settings)]
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    told = json.loads(done.stdout)
    assert told["killed"] == kills
    assert len(set(told["documents"])) > 3, told  # the kills fell into different parts of the stream
    with Store(new_store("whole")) as whole, Store(new_store("cut")) as cut:
        expected, found = whole.dump(state=True), cut.dump(state=True)
        assert all(expected[name] for name in ("topics", "stories", "storylines", "alerts", "quarantine", "states"))
        for table, rows in expected.items():
            assert found[table] == rows, table
    return told


@pytest.mark.slow
@pytest.mark.parametrize(("cores", "topics"), KINDS)
def test_twenty_kills_at_random_moments(new_store, tmp_path, cores, topics):
    source = write_stream(tmp_path / "news.jsonl", 400, 40)
    compare(new_store, source, kills=20, seed=3, step=4, save_every=8, budget="100/day", cores=cores, topics=topics)


@pytest.mark.soak
@pytest.mark.parametrize(("cores", "topics"), KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_kills_at_random_moments(new_store, tmp_path, seed, cores, topics):
    source = write_stream(tmp_path / "news.jsonl", 4000, 300)
    compare(new_store, source, kills=50, seed=seed, step=5, save_every=20, cores=cores, topics=topics)

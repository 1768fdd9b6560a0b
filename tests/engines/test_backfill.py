"""A store filled from archives is the one that `firststory run` leaves, on every engine and after every kill."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from typer.testing import CliRunner

from engines.private_cluster import wait_until
from firststory.cli.application import build
from firststory.datasets import make_story_stream
from firststory.store.store import Store
from tiny_encoder import DIMENSIONS, WORDS, make_encoder


@pytest.fixture
def archives(tmp_path):
    return write_archives(tmp_path, 300)


def write_archives(tmp_path, n):
    """Two files, one of them packed; some lines are bad, some documents come twice."""
    news = make_story_stream(n, n // 10, duplicates=0.1, sentences=2).documents
    lines = [
        json.dumps(
            {
                "id": d.id,
                "text": f"{WORDS[2 + i % 9]} {d.text}",
                "title": f"{WORDS[2 + i % 7]} {WORDS[2 + i % 10]}",
                "time": d.time.isoformat(),
                "source": d.source,
            }
        )
        for i, d in enumerate(news)
    ]
    lines[30:30] = ["{broken", lines[3], '{"id": "x"}']
    lines[200:200] = lines[150:160]
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(("\n".join(lines[:120]) + "\n").encode()))
    (tmp_path / "b.jsonl").write_text("\n".join(lines[120:]) + "\n")
    return [str(tmp_path / "a.jsonl.gz"), str(tmp_path / "b.jsonl")]


SETTINGS = ["--language", "en", "--step", "10", "--budget", "100/day", "--save-every", "7", "--topics", "none"]


def call(*arguments):
    done = CliRunner().invoke(build(), list(arguments))
    assert done.exit_code == 0, done.output
    return done


def stored(path, *, state=True):
    with Store(path) as store:
        return store.dump(state=state)


def assert_same(path, expected, *, state=True):
    found = stored(path, state=state)
    for table, rows in expected.items():
        assert found[table] == rows, table


def test_it_leaves_what_a_run_leaves(archives, tmp_path):
    call("run", *archives, "--store", str(tmp_path / "run.db"), "-q", *SETTINGS)
    call("backfill", *archives, "--store", str(tmp_path / "filled.db"), *SETTINGS)
    expected = stored(tmp_path / "run.db")
    assert all(expected[name] for name in ("verdicts", "stories", "alerts", "quarantine", "states"))
    assert_same(tmp_path / "filled.db", expected)


@pytest.mark.parametrize("engine", ["threads:2", "dask"])
def test_vectors_are_made_on_an_engine_to_the_same_bits(archives, tmp_path, engine, request):
    given = [*SETTINGS, "--vectors", str(make_encoder(tmp_path / "tiny")), "--vector-words", "100"]
    call("run", *archives, "--store", str(tmp_path / "run.db"), "-q", *given, "--engine", "serial")
    address = request.getfixturevalue("cluster").address if engine == "dask" else engine
    call("backfill", *archives, "--store", str(tmp_path / "filled.db"), "-q", *given, "--engine", address)
    expected = stored(tmp_path / "run.db")
    with Store(tmp_path / "run.db") as store:
        assert store.vector_dimensions() == DIMENSIONS
    assert_same(tmp_path / "filled.db", expected)


def test_killed_or_interrupted_it_goes_on_where_it_stopped(tmp_path):
    n = 1200  # several times what may be judged and not written
    archives = write_archives(tmp_path, n)
    call("run", *archives, "--store", str(tmp_path / "run.db"), "-q", *SETTINGS)
    path = tmp_path / "filled.db"
    command = [sys.executable, "-m", "firststory.cli.main", "backfill", *archives, "--store", str(path), *SETTINGS]
    for number, documents in ((signal.SIGKILL, 60), (signal.SIGTERM, 150)):
        process = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_until(partial(has_documents, path, documents, process), f"{documents} documents")
        process.send_signal(number)
        said = process.communicate()[1].decode()
        assert process.returncode == (-9 if number == signal.SIGKILL else 130), said
        assert documents <= len(stored(path)["documents"]) < n
    subprocess.run([*command, "-q"], check=True)
    assert_same(path, stored(tmp_path / "run.db", state=False), state=False)


def has_documents(path, count, process):
    if process.poll() is not None:
        return True
    if not path.exists():
        return False
    try:
        with Store(path, read_only=True) as store:
            return store.status()["documents"] >= count
    except Exception:  # it is being made
        return False


def test_what_has_no_end_is_not_for_it(tmp_path):
    for source in ("-", "rss+https://127.0.0.1/feed"):
        done = CliRunner().invoke(build(), ["backfill", source, "--store", str(tmp_path / "x.db")])
        assert done.exit_code == 1 and "firststory run" in done.output
        assert not (tmp_path / "x.db").exists()

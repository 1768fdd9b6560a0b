"""The commands of the pages on keeping a store for months do what the pages say, one after the other, as typed."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from firststory.datasets import make_story_stream
from firststory.store.store import Store

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
OTHERS = ("sudo ", "journalctl ", "podman ", "createdb ", "  run rss+https")
"""Commands that need a service manager, a container engine or a server: `deploy/` has tests of its own."""
QUICK = {"FIRSTSTORY_DETECTOR": "neighbour", "FIRSTSTORY_TOPICS": "none", "FIRSTSTORY_LANGUAGE": "en"}


def commands_of(page):
    """The lines of firststory in the page's console blocks; any other must be one that is known."""
    blocks = re.findall(r"```console\n(.*?)```", (PAGES / page).read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert all(line.startswith(("firststory ", *OTHERS)) for line in lines), lines
    return [line for line in lines if line.startswith("firststory ")]


def write_news(path, begin, end):
    documents = make_story_stream(400, 30, random_state=5).documents[begin:end]
    rows = [{"id": d.id, "text": d.text, "time": d.time.isoformat()} for d in documents]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


class Typing:
    """Types commands in a folder of the test's own, where the pages have /var/lib/firststory and a server."""

    def __init__(self, folder, new_schema):
        self.folder, self._new_schema = folder, new_schema
        self._schemas = {}

    def place(self, text):
        """What stands for a place that a page names."""
        if text.startswith("postgresql://"):
            return self._schemas.setdefault(text, self._new_schema())
        return text.replace("/var/lib/firststory/", "").replace("/backup/", "")

    def __call__(self, line):
        words = [self.place(word) for word in shlex.split(line.replace("$(date +%F)", "2026-11-18"), comments=True)]
        if words[1:3] == ["store", "copy"]:
            typed = shlex.split(line, comments=True)[4]
            if typed in self._schemas:  # the page tells of a target that is new
                words[4] = self._schemas[typed] = self._new_schema()
            for file in self.folder.glob(f"{words[4]}*") if "://" not in words[4] else ():
                file.unlink()
        done = subprocess.run(
            [sys.executable, "-m", "firststory.cli.main", *words[1:]],
            cwd=self.folder,
            env=os.environ | QUICK,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, (line, done.stderr)
        return done.stdout


@pytest.fixture
def typing(tmp_path, postgres):
    (tmp_path / "feed").mkdir()
    write_news(tmp_path / "feed" / "a.jsonl", 0, 300)
    return Typing(tmp_path, postgres.new_schema)


def rows(typing, url):
    found = typing.place(url)
    with Store(found if "://" in found else str(typing.folder / found)) as store:
        return store.dump(state=True)


@pytest.mark.slow
def test_run_for_months(typing):
    run = "firststory run 'feed/*.jsonl' --store /var/lib/firststory/news.db"
    typing(run)
    at_backup = rows(typing, "/var/lib/firststory/news.db")
    backup, check, upgrade, move, status, *rest = [
        line for line in commands_of("run-for-months.md") if " store " in line or " status" in line
    ] + ["firststory status --store /var/lib/firststory/news.db"]
    order = [backup, check, upgrade, move, status]
    assert [line.split()[2] for line in order] == ["copy", "check", "copy", "copy", "prune"] and len(rest) == 1
    for line in (backup, check):
        typing(line)
    # To restore: the copy in the place of the store, and the run again. Nothing is lost or there twice.
    write_news(typing.folder / "feed" / "b.jsonl", 300, 400)
    typing(run)
    went_on = rows(typing, "/var/lib/firststory/news.db")
    for name in ("news.db-wal", "news.db-shm"):
        (typing.folder / name).unlink(missing_ok=True)
    (typing.folder / "news-2026-11-18.db").replace(typing.folder / "news.db")
    assert rows(typing, "/var/lib/firststory/news.db") == at_backup
    typing(run)
    assert rows(typing, "/var/lib/firststory/news.db") == went_on
    typing(upgrade)
    typing(move)
    assert rows(typing, move.split()[4]) == went_on
    typing(status)
    kept = rows(typing, "/var/lib/firststory/news.db")
    assert [kept[name] for name in ("stories", "alerts")] == [went_on[name] for name in ("stories", "alerts")]
    assert "400" in typing(rest[0])


@pytest.mark.slow
def test_keeping_a_store(typing):
    typing("firststory run 'feed/*.jsonl' --store news.db")
    for line in commands_of("keeping-a-store.md"):
        typing(line)
    assert {path.stem for path in (typing.folder / "export").iterdir()} > {"documents", "stories", "alerts"}

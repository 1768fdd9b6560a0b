"""Runs that follow a growing file and are killed again and again, while it is rotated too."""

from __future__ import annotations

import json

import pytest

from services.killing import contents, documents, finish, query, run_from_file, run_with_kills, start, stored
from services.servers import wait_until


def append(path, values):
    with path.open("a") as file:
        file.write("".join(json.dumps(value) + "\n" for value in values))


@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_killed_runs_lose_nothing_and_repeat_nothing(new_store, tmp_path, kills):
    values = documents(800 if kills == 20 else 4000)
    path, store = tmp_path / "news.jsonl", new_store("killed")
    append(path, values)
    found = run_with_kills(store, [path, "--follow"], len(values), kills, seed=9)
    assert len(set(found)) > 5
    assert contents(store) == run_from_file(tmp_path, values, new_store("whole"))


def test_a_rotation_between_kills_loses_nothing_and_the_lag_is_told(tmp_path):
    values = documents(400)
    path, store = tmp_path / "news.jsonl", tmp_path / "killed.db"
    append(path, values[:200])
    run_with_kills(store, [path, "--follow"], 200, 3, seed=10)
    path.rename(tmp_path / "news.jsonl.1")
    append(tmp_path / "news.jsonl.1", values[200:300])
    append(path, values[300:])
    process = start(store, path, "--follow")
    wait_until(lambda: stored(store) >= 300, "the rotated file", 60)
    finish(process, store, len(values))
    assert [row[1] for row in contents(store)["verdicts"]] == [value["id"] for value in values]
    ((told,),) = query(store, "SELECT value FROM meta WHERE key = 'last_run'")
    assert json.loads(told)["lag"][str(path)]["unit"] == "bytes"

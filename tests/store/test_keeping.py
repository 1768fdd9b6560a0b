"""Keeping a store for months: copy, check, prune and export, in every database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from firststory.cli.application import build
from firststory.cli.main import COMMANDS
from firststory.errors import StoreError
from firststory.pipeline.runner import Runner
from firststory.settings import load
from firststory.sources.files import read_all
from firststory.store.checking import check_store
from firststory.store.copying import copy_store
from firststory.store.retention import prune
from firststory.store.store import Store
from recovery.test_kills import write_stream
from store.made import step

SETTINGS = {
    "detector": "neighbour",
    "language": "en",
    "step": 10,
    "topics": "nmf",
    "save_every": 4,
    "budget": "100/day",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_stream(tmp_path_factory.mktemp("keeping") / "news.jsonl", 400, 40)


def run(url, source, steps=None):
    with Store(url) as store:
        runner = Runner(load(SETTINGS), store)
        for number, _ in enumerate(runner.run(read_all([source], store.positions(), print)), 1):
            if number == steps:
                break


@pytest.fixture
def half(new_store, source):
    """A store in the middle of the stream, with a model two steps old and feedback."""
    with Store(new_store("half")) as store:
        runner = Runner(load(SETTINGS), store)
        runner.save = lambda: None
        stream = runner.run(read_all([source], store.positions(), print))
        for _ in range(26):
            next(stream)
        store.add_feedback(store.verdicts(limit=1)[0].document.id, True)
    return new_store("half")


def call(*words):
    app = build(tuple(name for name in COMMANDS if name.startswith("store ")))
    return CliRunner().invoke(app, ["store", *words])


def test_a_copy_in_the_other_database_goes_on_as_the_original_would(half, source, postgres, tmp_path, new_store):
    other = postgres.new_schema() if new_store.kind == "sqlite" else str(tmp_path / "other.db")
    done = call("copy", half, other, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rows"]["documents"] > 250
    with Store(half) as original, Store(other) as copy:
        assert copy.dump(state=True) == original.dump(state=True)
        assert copy.saved_steps() == original.saved_steps()
        copy.add_feedback(copy.verdicts(limit=2)[1].document.id, False)  # its number is one that is free
        original.add_feedback(copy.verdicts(limit=2)[1].document.id, False)
        found = [store.search("the", limit=1000) for store in (original, copy)]
        assert {v.document.id for v in found[0]} == {v.document.id for v in found[1]}
    for url in (half, other):
        run(url, source)
    with Store(half) as original, Store(other) as copy:
        assert copy.dump(state=True) == original.dump(state=True)
        assert not any(finding.problem for finding in check_store(copy))


def test_a_copy_needs_an_empty_place_and_leaves_nothing_when_it_fails(half, new_store, tmp_path):
    with Store(new_store("full")) as store:
        store.write_step(step(0, "d1"))
    done = call("copy", half, new_store("full"))
    assert done.exit_code == 1 and "is not empty" in done.output

    def fail(table, rows):
        if table == "verdicts":
            raise KeyboardInterrupt

    with Store(half) as original, Store(new_store("cut")) as cut:
        with pytest.raises(KeyboardInterrupt):
            copy_store(original, cut, fail)
        assert cut.last_step() == -1 and cut.dump()["documents"] == []
        copy_store(original, cut)
        assert cut.dump() == original.dump()


def test_an_interrupted_copy_into_a_new_file_leaves_no_file(half, tmp_path, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("firststory.store.copying.copy_store", stop)
    assert call("copy", half, str(tmp_path / "new.db")).exit_code == 130
    assert not list(tmp_path.glob("new.db*"))


def test_a_copy_is_the_store_of_one_moment(half, new_store):
    """The original is written to while it is copied."""
    written = []
    with Store(half) as original, Store(new_store("copy")) as copy:
        last = original.last_step()

        def write(table, rows):
            if table == "steps" and not written:
                with Store(half) as writer:
                    writer.write_step(step(last + 1, "d99999"))
                written.append(True)

        copy_store(original, copy, write)
        assert (copy.last_step(), original.last_step()) == (last, last + 1)
        assert not copy.known_ids(["d99999"])


def test_a_whole_store_passes_every_check(half):
    done = call("check", "--store", half)
    assert done.exit_code == 0, done.output
    assert [line.split()[1] for line in done.output.splitlines()] == ["ok"] * 5
    told = json.loads(call("check", "--store", half, "--json").stdout)
    assert told["is_whole"] and set(told["checks"].values()) == {"ok"}


HARMS = {
    "references": ["DELETE FROM verdicts WHERE n = 7"],
    "steps": ["UPDATE meta SET value = '{}' WHERE key = 'totals'"],
    "models": ["UPDATE states SET state = substr(state, 1, 100)"],
}


@pytest.mark.parametrize("check", HARMS)
def test_what_is_wrong_is_found(half, check):
    with Store(half) as store, store._writing() as connection:
        for statement in HARMS[check]:
            connection.execute(text(statement))
    done = call("check", "--store", half, "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)["checks"]
    assert [name for name, said in told.items() if said != "ok"] == [check], told


def test_an_index_that_is_out_of_step_is_found(half, new_store):
    with Store(half) as store, store._writing() as connection:
        if new_store.kind == "sqlite":
            connection.execute(text("UPDATE documents SET text = 'other words' WHERE n = 7"))
        else:
            connection.execute(text("UPDATE search SET words = 'other' WHERE n = 7"))
    told = json.loads(call("check", "--store", half, "--json").stdout)["checks"]
    assert [name for name, said in told.items() if said != "ok"] == ["search"] and "words" in told["search"]


def test_a_damaged_file_is_found(tmp_path, source):
    run(str(tmp_path / "a.db"), source, steps=10)
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET rootpage = 3 WHERE name = 'ix_verdicts_story'")
        connection.commit()
    assert call("check", "--store", str(tmp_path / "a.db")).exit_code == 1


def test_a_pruned_stream_goes_on_as_one_that_was_not(half, source, new_store):
    with Store(half) as original, Store(new_store("pruned")) as copy:
        copy_store(original, copy)
    done = call("prune", "--older-than", "3d", "--store", new_store("pruned"), "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["documents"] > 50 and told["kept"] > 0
    for url in (half, new_store("pruned")):
        run(url, source)  # replays from the model that was saved before
    with Store(half) as original, Store(new_store("pruned")) as pruned:
        whole, cut = original.dump(state=True), pruned.dump(state=True)
        for table in ("stories", "storylines", "alerts", "topic_events", "positions", "feedback", "states", "steps"):
            assert cut[table] == whole[table], table
        assert pruned.alerts() == original.alerts()  # with their whole documents
        assert pruned.topics() == original.topics()
        before, after = original.verdicts(), pruned.verdicts()
        assert [(v.document.id, v.novelty, v.story, v.is_novel, v.duplicate_of) for v in after] == [
            (v.document.id, v.novelty, v.story, v.is_novel, v.duplicate_of) for v in before
        ]
        stripped = [v.document for v in after if not v.document.text]
        assert len(stripped) == told["documents"]
        assert all(document.title for document in stripped)
        edge = original.last_time() - timedelta(days=3)
        assert all(a == b for a, b in zip(before, after, strict=True) if b.document.text)
        assert max(document.time for document in stripped) < edge
        # What was stripped is found by its title alone, and known when it comes again.
        word = next(v.document.text.split()[-1].strip(".") for v in before if v.document.id == stripped[0].id)
        found = {v.document.id for v in pruned.search(word, limit=1000)}
        assert not found & {d.id for d in stripped if word not in d.title}
        assert pruned.known_ids([stripped[0].id])
        assert not any(finding.problem for finding in check_store(pruned))


def test_pruning_twice_finds_nothing_more_and_a_replay_is_never_pruned(half, source):
    with Store(half) as store:
        saved = store.saved_steps()
        first = prune(store, store.last_time())
        assert first.held_by_model and first.documents > 0
        again = prune(store, store.last_time())
        assert (again.documents, again.kept, again.topics) == (0, first.kept, 0)
        assert all(verdict.document.text for _, verdicts in store.recorded(after=saved[-1]) for verdict in verdicts)
        assert store.replayable_from() == saved[-1]


def test_pruning_while_a_run_writes(half, source, new_store):
    with Store(half) as writer:
        runner = Runner(load(SETTINGS), writer)
        stream = runner.run(read_all([source], writer.positions(), print))
        next(stream)
        done = call("prune", "--older-than", "3d", "--store", half)
        assert done.exit_code == 0, done.output
        assert ("A run is writing to it" in done.output) == (new_store.kind == "sqlite")
        list(stream)
    assert call("check", "--store", half).exit_code == 0


def test_the_file_gets_smaller(tmp_path, source):
    run(str(tmp_path / "a.db"), source)
    told = json.loads(call("prune", "--older-than", "1d", "--store", str(tmp_path / "a.db"), "--json").stdout)
    assert told["bytes_after"] < told["bytes_before"]


def test_a_stream_without_times_cannot_be_pruned(new_store):
    with Store(new_store("a")) as store:
        store.write_step(step(0))
    done = call("prune", "--older-than", "90d", "--store", new_store("a"))
    assert done.exit_code == 1 and "no times" in done.output


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_what_is_exported_is_what_was_found(half, tmp_path, format):
    done = call("export", "--format", format, "--out", str(tmp_path / "files"), "--store", half, "--json")
    assert done.exit_code == 0, done.output
    counts = json.loads(done.stdout)["rows"]
    found = {name: read_back(tmp_path / "files" / f"{name}.{format}") for name in counts}
    assert {name: len(rows) for name, rows in found.items()} == counts
    assert not list((tmp_path / "files").glob("*.partial"))
    with Store(half) as store:
        verdicts, stories, alerts = store.verdicts(), store.stories(merged=True), store.alerts()
    as_time = (lambda value: value.isoformat()) if format == "jsonl" else (lambda value: value)
    assert [(row["id"], row["text"], row["novelty"], row["time"]) for row in found["documents"]] == [
        (v.document.id, v.document.text, v.novelty, as_time(v.document.time)) for v in verdicts
    ]
    assert {row["id"]: row["title"] for row in found["stories"]} == {one.id: one.title for one in stories}
    lists = [row["documents"] if format == "jsonl" else json.loads(row["documents"]) for row in found["alerts"]]
    assert lists == [list(one.documents) for one in alerts]
    assert found["quarantine"] and found["topics"] and found["feedback"]


def read_back(path):
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()


def test_an_unknown_format_and_an_absent_store_are_refused(half, tmp_path):
    done = call("export", "--format", "csv", "--out", str(tmp_path / "x"), "--store", half)
    assert done.exit_code == 1 and "parquet, jsonl" in done.output
    for words in (["check", "--store"], ["prune", "--older-than", "1d", "--store"], ["copy"]):
        last = [str(tmp_path / "absent.db")] + ([str(tmp_path / "new.db")] if words == ["copy"] else [])
        done = call(*words, *last)
        assert done.exit_code == 1 and "There is no store" in done.output
    assert not (tmp_path / "absent.db").exists() and not (tmp_path / "new.db").exists()


def test_a_closed_writer_is_needed_for_a_copy(half, new_store):
    with Store(half) as original, Store(new_store("a")) as busy, Store(new_store("a")) as second:
        busy.claim()
        with pytest.raises(StoreError, match="is writing to this store"):
            copy_store(original, second)

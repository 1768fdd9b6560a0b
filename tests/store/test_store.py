"""The store: one transaction a step, exact round trips, clear refusals, nothing lost when the disk fills."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import types
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from firststory.errors import SchemaError, StoreError, StoreFullError
from firststory.records import (
    Document,
    Evidence,
    Neighbour,
    Position,
    Quarantined,
    Step,
    Story,
    Term,
    Topic,
    TopicEvent,
    Verdict,
)
from firststory.store import schema
from firststory.store.store import Store

NOON = datetime(2026, 11, 15, 12, 0, 0, 123457, tzinfo=UTC)


def verdict(name: str, **changes) -> Verdict:
    document = Document(
        id=name,
        text=f"Text of {name}: Überschwemmung 😀",
        time=NOON + timedelta(hours=int(name[1:])),
        title=f"Title {name}",
        source="paper",
        url="https://example.org/" + name,
        label=["a", 1],
        extra={"page": 3, "nested": {"b": [1, None]}},
    )
    values = {
        "document": document,
        "novelty": 0.1 + 0.2,
        "p_value": 1 / 3,
        "is_novel": True,
        "threshold": None,
        "story": "s1",
        "duplicate_of": None,
        "evidence": Evidence(
            terms=(Term("Überschwemmung", 0.7, 12, 26),),
            nearest=(Neighbour("d0", 0.25, "Title", NOON, ("text",)),),
            kind="development",
            sentence="It adds something.",
        ),
    }
    return Verdict(**{**values, **changes})


def story(name: str, **changes) -> Story:
    values = {"id": name, "title": "T", "first_seen": NOON, "last_seen": NOON, "size": 1, "representative": "d1"}
    return Story(**{**values, **changes})


def step(index: int, *names: str, **changes) -> Step:
    values = {
        "index": index,
        "verdicts": tuple(verdict(name) for name in names),
        "positions": (Position("file", {"offset": 10 * index}),),
        "counts": {"seen": len(names)},
    }
    return Step(**{**values, **changes})


@pytest.fixture
def store(tmp_path):
    with Store(str(tmp_path / "news.db")) as opened:
        yield opened


def test_what_goes_in_comes_out_exactly(store):
    sent = step(0, "d1", "d2", stories=(story("s1", sources=("a", "b"), key_terms=("x",), reason="why"),))
    store.write_step(sent)
    assert store.verdicts() == sent.verdicts
    assert store.stories() == sent.stories


def test_a_closed_store_is_read_but_not_written(tmp_path):
    with Store(str(tmp_path / "news.db")) as closed:
        closed.write_step(step(0, "d1"))
    for write in (
        lambda: closed.write_step(step(1, "d2")),
        lambda: closed.write_state(0, b"x"),
        lambda: closed.keep_settings({}),
        lambda: closed.add_feedback("d1", True),
    ):
        with pytest.raises(StoreError, match="closed"):
            write()
    assert closed.last_step() == 0 and len(closed.verdicts()) == 1


def test_topics_of_the_last_step_and_of_an_earlier_one(store):
    old, new = (Topic("t1", (("storm", 0.5),), 1.0, (0.5, 1.0), 0),), (Topic("t2", (("fire", 0.25),), 1.0, (), 1),)
    store.write_step(step(0, topics=old))
    store.write_step(step(1, topics=new))
    assert store.topics() == new
    assert store.topics(at=0) == old


def test_the_history_of_topics_and_what_happened_to_them(store):
    topics = [(Topic("t1", (("storm", 0.5),), 1.0, (1.0,), 0),), (Topic("t2", (("fire", 0.25),), 1.0, (), 1),)]
    born = TopicEvent(0, "born", "t1", (), 1.0, "there from the start")
    split = TopicEvent(1, "split", "t2", ("t1",), 0.5, "t1 = 0.50 t1, 0.50 t2")
    faded = TopicEvent(1, "faded", "t1", (), 0.01, "share 1.0%, once 9.0%")
    store.write_step(step(0, "d1", topics=topics[0], topic_events=(born,)))
    store.write_step(step(1, "d2", topics=topics[1], topic_events=(split, faded)))
    assert store.topic_events() == (split, faded, born)
    assert store.topic_events("t1") == (faded, born)
    assert store.topic_events(limit=1) == (split,)
    assert [(index, found) for index, _, found in store.topic_history()] == [(0, topics[0]), (1, topics[1])]
    assert [index for index, _, _ in store.topic_history(limit=1)] == [1]


def test_growth_is_that_at_the_end_of_the_stream(store):
    hour = int(NOON.timestamp() // 3600)
    later = NOON + timedelta(days=10)
    stories = (
        story("s1", growth=6.5, hours=((hour, 40), (hour + 100, 6)), last_seen=NOON + timedelta(hours=100)),
        story("s2", growth=1.0, hours=((hour + 240, 7),), last_seen=later),
        story("s3", growth=9.0, hours=((hour, 63),), status="faded"),
        story("s4", growth=3.0, hours=((hour + 240, 21),), status="merged", merged_into="s2", last_seen=later),
    )
    store.write_step(step(0, "d1", stories=stories))
    found = store.stories(order="growth")
    assert [(one.id, one.growth) for one in found] == [("s2", 1.0), ("s1", round(6 / 7, 4)), ("s3", 0.0)]
    assert {one.id: one.growth for one in store.stories(merged=True)} == {"s1": 0.8571, "s2": 1.0, "s3": 0.0, "s4": 0.0}
    assert store.stories(order="growth", limit=1) == (store.story("s2"),) and store.story("s9") is None
    assert store.merged_into(["s1", "s2"]) == {"s1": [], "s2": ["s4"]}


def test_texts_are_found_again_by_their_numbers_in_the_steps_before(store):
    large = 2**64 - 1
    store.write_step(step(0, "d1", "d2", fingerprints=(7, large)))
    store.write_step(step(1, "d3", fingerprints=(7,)))
    # The first by its time came later in its step: the other one is its copy.
    pair = (verdict("d4", duplicate_of="d5"), verdict("d5"))
    store.write_step(step(2, verdicts=pair, fingerprints=(8, 8)))
    assert store.first_with([7, large, 8, 9], before=3) == {7: "d1", large: "d2", 8: "d5"}
    assert store.first_with([7, large, 8], before=1) == {7: "d1", large: "d2"}
    assert store.first_with([7], before=0) == store.first_with([], before=3) == {}


def test_positions_and_stories_are_replaced_and_the_rest_is_kept(store):
    store.write_step(step(0, "d1", stories=(story("s1"),)), reached=5)
    store.write_step(step(1, "d2", stories=(story("s1", size=2),)), reached=6)
    assert store.positions() == {"file": Position("file", {"offset": 10})}
    assert [s.size for s in store.stories()] == [2]
    assert (store.last_step(), store.last_reached()) == (1, 6)
    assert store.known_ids(["d1", "d2", "d3"]) == {"d1", "d2"}
    assert store.status()["counts"] == {"seen": 2}


def test_a_step_is_all_or_nothing(store):
    store.write_step(step(0, "d1"))
    before = store.dump()
    with pytest.raises(StoreError):
        store.write_step(step(1, "d2", "d1", quarantined=(Quarantined("x", "y", Position("f", {}), "z"),)))
    assert store.dump() == before


def test_only_the_latest_state_is_kept(store):
    store.write_step(step(0), state=b"one")
    store.write_step(step(1))
    assert store.last_state() == (0, b"one")
    store.write_state(1, b"two" * 1000)
    assert store.last_state() == (1, b"two" * 1000)


def test_recorded_steps_come_back_in_order(store):
    for index, names in enumerate((["d1", "d2"], [], ["d3"])):
        store.write_step(step(index, *names))
    found = [(index, [v.document.id for v in verdicts]) for index, verdicts in store.recorded(after=0)]
    assert found == [(1, []), (2, ["d3"])]


def test_search_finds_words_whatever_the_accents_and_is_not_fooled_by_syntax(store):
    store.write_step(step(0, "d1", "d2"))
    assert {v.document.id for v in store.search("uberschwemmung text")} == {"d1", "d2"}
    assert [v.document.id for v in store.search("d2")] == ["d2"]
    for hostile in ('"', "a OR", "NEAR(", "title:x", "*", "\0", "'; DROP TABLE documents; --"):
        store.search(hostile)


def test_quarantine_keeps_reason_and_position(store):
    bad = Quarantined("wrong-json", "the line must be ...", Position("f", {"line": 3}), '{"te')
    store.write_step(step(0, quarantined=(bad,)))
    assert store.quarantined() == (bad,)
    assert store.status()["quarantine_reasons"] == {"wrong-json": 1}


def test_feedback_is_kept_and_must_name_a_document(store):
    store.write_step(step(0, "d1"))
    store.add_feedback("d1", True)
    store.add_feedback("d1", None)
    assert [row["useful"] for row in store.feedback()] == [True, None]
    with pytest.raises(StoreError, match=r"no document d9.*firststory story STORY --json"):
        store.add_feedback("d9", True)


def test_foreign_keys_and_write_ahead_log_are_on(store, tmp_path):
    with store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_the_migrations_make_exactly_the_tables_of_the_schema(tmp_path):
    Store(str(tmp_path / "news.db")).close()
    with sqlite3.connect(tmp_path / "news.db") as connection:
        for name, table in schema.metadata.tables.items():
            made = {row[1]: bool(row[3] or row[5]) for row in connection.execute(f"PRAGMA table_info({name})")}
            assert made == {column.name: not column.nullable for column in table.columns}, name
    connection.close()


@pytest.fixture
def migrated(tmp_path, monkeypatch):
    """A store of this version, opened by a firststory that has one more migration."""

    def upgrade(connection):
        connection.exec_driver_sql("ALTER TABLE stories ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
        if broken:
            raise RuntimeError("the power failed")

    broken = []
    number = schema.VERSION + 1
    with Store(str(tmp_path / "news.db")) as made:
        made.write_step(step(0, "d1", stories=(story("s1"),)))
    module = types.SimpleNamespace(upgrade=upgrade)
    monkeypatch.setitem(sys.modules, f"firststory.store.migrations.m{number:04d}", module)
    monkeypatch.setattr(schema, "VERSION", number)
    return tmp_path / "news.db", broken


def raw(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def test_a_store_of_an_earlier_schema_is_brought_up_to_date_once(migrated):
    path, _ = migrated
    for _ in range(2):  # the second time there is nothing to do: the column would be there already
        with Store(str(path)) as opened:
            assert [one.id for one in opened.stories()] == ["s1"] and opened.known_ids(["d1"])
    assert raw(path, "SELECT mood FROM stories") == [("calm",)]
    assert raw(path, "SELECT value FROM meta WHERE key = 'schema'") == [(str(schema.VERSION),)]


def test_a_migration_that_fails_changes_nothing(migrated):
    path, broken = migrated
    broken.append(True)
    with pytest.raises(RuntimeError, match="power failed"):
        Store(str(path))
    assert "mood" not in [row[1] for row in raw(path, "PRAGMA table_info(stories)")]
    assert raw(path, "SELECT value FROM meta WHERE key = 'schema'") == [(str(schema.VERSION - 1),)]


def test_a_newer_schema_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "news.db"
    Store(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema'")
    connection.close()
    with pytest.raises(SchemaError, match=r"newer firststory.*pip install --upgrade"):
        Store(str(path))


def test_things_that_are_no_store_say_so(tmp_path):
    other = tmp_path / "other.db"
    other.write_bytes(b"this is not a database, not at all, " * 200)
    with pytest.raises(StoreError, match="not a firststory store"):
        Store(str(other))
    with pytest.raises(StoreError, match="folder exists"):
        Store(str(tmp_path / "no" / "such" / "folder.db"))
    with pytest.raises(StoreError, match="Fill it first"):
        Store(str(tmp_path / "absent.db"), create=False)
    with pytest.raises(StoreError, match="--store"):
        Store("mysql://host/db")


def test_there_is_one_writer(tmp_path):
    with Store(str(tmp_path / "a.db")) as first, Store(str(tmp_path / "a.db")) as second:
        first.claim()
        with pytest.raises(StoreError, match="Another run"):
            second.claim()
    with Store(str(tmp_path / "a.db")) as third:
        third.claim()


def test_a_reader_sees_whole_steps_while_the_writer_writes(tmp_path):
    with Store(str(tmp_path / "a.db")) as writer, Store(str(tmp_path / "a.db"), create=False) as reader:
        writer.write_step(step(0, "d1"))
        with writer._writing() as connection:
            connection.exec_driver_sql("INSERT INTO meta VALUES ('half', 'done')")
            assert reader.last_step() == 0
            assert len(reader.verdicts()) == 1


def test_a_full_disk_loses_nothing(store):
    store.write_step(step(0, "d1"))
    before = store.dump()
    with store._reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreFullError, match="Make room and run again"):
        store.write_step(step(1, *(f"d{i}" for i in range(2, 400))), state=os.urandom(100_000))
    assert store.dump() == before
    store.close()
    with Store(store.url) as again:
        again.write_step(step(1, "d2"))
        assert [v.document.id for v in again.verdicts()] == ["d1", "d2"]


@pytest.fixture
def tiny_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_really_full_disk_loses_nothing(tiny_disk):
    with Store(str(tiny_disk / "news.db")) as store:
        store.write_step(step(0, "d1"))
        before = store.dump()
        with pytest.raises(StoreFullError):
            store.write_step(step(1, "d2"), state=os.urandom(2_000_000))
        assert store.dump() == before
    with Store(str(tiny_disk / "news.db")) as store:
        store.write_step(step(1, "d2"))
        assert store.last_step() == 1

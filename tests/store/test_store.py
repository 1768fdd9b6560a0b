"""The store, in every database: one transaction a step, exact round trips, clear refusals."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event, func, inspect, select, update

from firststory.errors import SchemaError, StateError, StoreError
from firststory.records import (
    Document,
    Position,
    Quarantined,
    Topic,
    TopicEvent,
)
from firststory.store import driver, schema
from firststory.store.engine import database_of, holds_store, parse_url
from firststory.store.store import Store
from store.made import NOON, step, story, verdict


@pytest.fixture
def store(new_store):
    with Store(new_store()) as opened:
        yield opened


def test_what_goes_in_comes_out_exactly(store):
    sent = step(0, "d1", "d2", stories=(story("s1", sources=("a", "b"), key_terms=("x",), reason="why"),))
    store.write_step(sent)
    assert store.verdicts() == sent.verdicts
    assert store.stories() == sent.stories


def test_what_no_database_can_hold_is_replaced_where_it_stands_and_nowhere_else(store):
    texts = {"d1": "plain", "d2": "caf\udce9", "d3": "a\0b", "d4": "Überschwemmung 😀"}
    store.write_step(
        step(0, verdicts=tuple(verdict(name, document=Document(name, text)) for name, text in texts.items()))
    )
    told = {one.document.id: one.document.text for one in store.verdicts()}
    assert told == texts | {"d2": "caf\ufffd", "d3": "a\ufffdb"}


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


def test_the_last_two_states_are_kept(store):
    store.write_step(step(0), state=b"one")
    store.write_step(step(1))
    assert store.last_state() == (0, b"one")
    store.write_state(1, b"two" * 1000)
    assert store.last_state() == (1, b"two" * 1000) and store.saved_steps() == [1, 0]
    store.write_state(1, b"again")
    store.write_step(step(2), state=b"three")
    assert store.saved_steps() == [2, 1] and store.state(1) == b"again" and store.replayable_from() == -1
    store.write_state(2, b"alone", alone=True)
    assert store.saved_steps() == [2] and store.last_state() == (2, b"alone") and store.replayable_from() == 2


def test_a_damaged_state_says_so(store):
    store.write_step(step(0), state=b"model" * 1000)
    with store._writing() as connection:
        connection.execute(update(schema.states).values(state=b"not a frame"))
    with pytest.raises(StateError, match=r"saved after step 0 is damaged.*Restore a backup"):
        store.last_state()


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


def test_the_migrations_make_exactly_the_tables_of_the_schema(store):
    with store._reading() as connection:
        found = inspect(connection)
        for name, table in schema.metadata.tables.items():
            keys = found.get_pk_constraint(name)["constrained_columns"]
            made = {one["name"]: not one["nullable"] or one["name"] in keys for one in found.get_columns(name)}
            assert made == {column.name: not column.nullable for column in table.columns}, name
            indexed = {tuple(index["column_names"]) for index in found.get_indexes(name) if not index["unique"]}
            assert indexed == {tuple(column.name for column in index.columns) for index in table.indexes}, name


@pytest.fixture
def migrated(new_store, monkeypatch):
    """A store of this version, opened by a firststory that has one more migration."""

    def upgrade(connection):
        connection.exec_driver_sql("ALTER TABLE stories ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
        if broken:
            raise RuntimeError("the power failed")

    broken = []
    number = schema.VERSION + 1
    with Store(new_store("news")) as made:
        made.write_step(step(0, "d1", stories=(story("s1"),)))
    module = types.SimpleNamespace(upgrade=upgrade)
    monkeypatch.setitem(sys.modules, f"firststory.store.migrations.m{number:04d}", module)
    monkeypatch.setattr(schema, "VERSION", number)
    return new_store("news"), broken


def raw(url, query):
    engine = database_of(parse_url(url)).open_engine(read_only=True)
    with engine.connect() as connection:
        found = connection.exec_driver_sql(query).fetchall()
    engine.dispose()
    return [tuple(row) for row in found]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_an_earlier_schema_is_brought_up_to_date_once(migrated, read_only):
    url, _ = migrated
    for _ in range(2):  # the second time there is nothing to do: the column would be there already
        with Store(url, read_only=read_only) as opened:
            assert [one.id for one in opened.stories()] == ["s1"] and opened.known_ids(["d1"])
    assert raw(url, "SELECT mood FROM stories") == [("calm",)]
    assert raw(url, "SELECT value FROM meta WHERE key = 'schema'") == [(str(schema.VERSION),)]


def test_a_migration_that_fails_changes_nothing(migrated):
    url, broken = migrated
    broken.append(True)
    with pytest.raises(RuntimeError, match="power failed"):
        Store(url)
    with pytest.raises(Exception, match="mood"):
        raw(url, "SELECT mood FROM stories")
    assert raw(url, "SELECT value FROM meta WHERE key = 'schema'") == [(str(schema.VERSION - 1),)]


def test_a_newer_schema_is_refused_and_left_alone(new_store):
    with Store(new_store("news")) as store, store._writing() as connection:
        connection.exec_driver_sql("UPDATE meta SET value = '999' WHERE key = 'schema'")
    for read_only in (False, True):
        with pytest.raises(SchemaError, match=r"newer firststory.*pip install --upgrade"):
            Store(new_store("news"), read_only=read_only)


def test_a_store_that_is_not_there_is_not_made_by_a_reader(new_store):
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(StoreError, match="Fill it first"):
            Store(new_store("absent"), **options)
    assert not holds_store(new_store("absent"))
    Store(new_store("absent")).close()
    assert holds_store(new_store("absent"))


def test_there_is_one_writer(new_store):
    url = new_store("a")
    with Store(url) as first, Store(url) as second:
        first.claim()
        with pytest.raises(StoreError, match=r"of this very process.*monitor\.close\(\)"):
            second.claim()
        second.write_step(step(0, "d1"))
        second.add_feedback("d1", True)  # people may speak while a run writes
    with Store(url) as third:
        third.claim()
        code = f"""
from firststory.store.store import Store
try:
    Store({url!r}).claim()
except RuntimeError as error:
    print(error)
"""
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert f"Another run (process {os.getpid()} on " in said.stdout, said


def test_a_reader_sees_the_store_of_one_moment_while_the_writer_writes(new_store):
    with Store(new_store("a")) as writer, Store(new_store("a"), read_only=True) as reader:
        writer.claim()
        writer.write_step(step(0, "d1"))
        with writer._writing() as connection:
            connection.exec_driver_sql("INSERT INTO meta VALUES ('half', 'done')")
            assert reader.last_step() == 0
            assert len(reader.verdicts()) == 1
        with reader._reading() as connection:
            count = select(func.count()).select_from(schema.documents)
            assert connection.execute(count).scalar() == 1
            writer.write_step(step(1, "d2"))  # does not wait for the reader
            assert connection.execute(count).scalar() == 1
        assert reader.last_step() == 1
        with pytest.raises(StoreError, match="reading only"):
            reader.add_feedback("d1", True)
        with pytest.raises(StoreError), reader._reading() as connection:
            connection.exec_driver_sql("DELETE FROM meta")


HOSTILE = "a\0b \udce9 \ud83d \\N \t \r\n ' \" % \x1b 😀 \u202e"


def test_what_no_database_holds_is_replaced_and_all_else_is_exact(store):
    clean = HOSTILE.replace("\0", "\ufffd").replace("\udce9", "\ufffd").replace("\ud83d", "\ufffd")
    one = replace(verdict("d1").document, text=HOSTILE, title=HOSTILE, source=HOSTILE, extra={HOSTILE: HOSTILE})
    at = Position("caf\udce9.jsonl", {"offset": 2**62, "name": HOSTILE})
    bad = Quarantined("wrong-json", HOSTILE, at, HOSTILE)
    sent = step(0, verdicts=(verdict("d1", document=one),), positions=(at,), quarantined=(bad,))
    store.write_step(sent)
    found = store.verdicts()[0].document
    assert found.text == found.title == found.source == clean
    assert store.quarantined()[0].excerpt == clean
    assert list(store.positions()) == ["caf\udce9.jsonl"]
    assert store.positions()["caf\udce9.jsonl"].at["offset"] == 2**62


def test_extreme_numbers_come_back_exactly(store):
    numbers = (5e-324, 1.7976931348623157e308, 0.1 + 0.2, -1.0)
    sent = step(0, verdicts=tuple(verdict(f"d{i}", novelty=x, p_value=x) for i, x in enumerate(numbers)))
    store.write_step(sent, state=bytes(range(256)) * 10)
    assert [(v.novelty, v.p_value) for v in store.verdicts()] == [(x, x) for x in numbers]
    assert [str(v.novelty) for v in store.verdicts()] == [str(x) for x in numbers]
    assert store.last_state() == (0, bytes(range(256)) * 10)


def test_both_databases_hold_the_same_rows(postgres, tmp_path):
    dumps = []
    for url in (str(tmp_path / "a.db"), postgres.new_schema()):
        with Store(url) as store:
            store.write_step(step(0, "d1", "d2", fingerprints=(7, 2**64 - 1), stories=(story("s1"),)), state=b"x")
            store.add_feedback("d1", None)
            dumps.append(store.dump(state=True))
    assert dumps[0] == dumps[1]


def test_many_ids_at_once(store):
    store.write_step(step(0, *(f"d{i}" for i in range(1200))))
    assert len(store.known_ids([f"d{i}" for i in range(2000)])) == 1200


@pytest.fixture
def statements(store, monkeypatch):
    """Every statement that reaches the driver, with the values that it had last."""
    last = {}

    class Recorded:
        def __init__(self, driver):
            self._driver = driver

        def execute(self, statement, given=()):
            last[statement] = given
            return self._driver.execute(statement, given)

        def executemany(self, statement, given):
            last[statement] = given
            return self._driver.executemany(statement, given)

    straight = driver._sqlite
    monkeypatch.setattr(driver, "_sqlite", lambda connection: Recorded(straight(connection)))
    event.listen(store._engine, "before_cursor_execute", lambda *given: last.__setitem__(given[2], given[3]))
    return last


@pytest.mark.parametrize("new_store", ["sqlite"], indirect=True)
def test_no_statement_is_left_with_a_model_in_it(store, statements):
    """SQLite's driver keeps the values that a statement had last."""
    blob = os.urandom(100_000)
    store.write_step(step(0, "d1"), state=blob)
    store.write_state(0, blob)
    assert store.last_state() == (0, blob)
    assert len(statements) > 10 and max(len(str(values)) for values in statements.values()) < 10_000


def test_statements_are_few_however_many_rows_they_have(store, statements):
    """Drivers keep the statements that they saw last, with their values."""
    for index in range(70):
        names = [f"d{100 * index + i}" for i in range(index + 1)]
        given = step(index, *names, fingerprints=range(len(names)), stories=tuple(map(story, names)))
        store.write_step(given)
        assert store.known_ids([*names, "none"]) == set(names)
        assert len(store.first_with(range(len(names)), before=index + 1)) == len(names)
        if index == 7:
            few = len(statements)
    assert len(statements) <= few + 5 * 4  # of 16, 32, 64 and 128: two look-ups and the tables that are written
    assert store.dump()["documents"] and len(store.stories(limit=None)) == 70 * 71 // 2

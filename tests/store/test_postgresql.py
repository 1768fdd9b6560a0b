"""What a store in PostgreSQL does beside the contract: refusals, lost connections, full disks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import unquote

import pytest

from firststory.errors import StoreError, StoreFullError, StoreLostError
from firststory.store import postgresql, step_writing
from firststory.store import store as module
from firststory.store.engine import parse_url
from firststory.store.file_lock import has_ended, this_process
from firststory.store.store import Store
from private_postgres import PrivatePostgres
from store.made import step


def test_tables_of_another_program_are_left_alone(postgres):
    url = postgres.new_database()
    database = url.split("/")[3].split("?")[0]
    postgres.say("CREATE TABLE invoices (n INT)", database)
    for options in ({}, {"read_only": True}):
        with pytest.raises(StoreError, match=r"tables of another program.*search_path.*Nothing was changed"):
            Store(url, **options)
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    assert postgres.say(tables, database) == [("invoices",)]
    postgres.say("CREATE SCHEMA news", database)
    with Store(url + "&options=-csearch_path%3Dnews") as store:
        store.claim()
        store.write_step(step(0, "d1"))
    assert postgres.say(tables, database) == [("invoices",)]
    assert postgres.say("SELECT id FROM news.documents", database) == [("d1",)]


def test_two_schemas_have_two_writers(postgres):
    url = postgres.new_database()
    database = url.split("/")[3].split("?")[0]
    for name in ("one", "two"):
        postgres.say(f"CREATE SCHEMA {name}", database)
    with Store(url + "&options=-csearch_path%3Done") as one, Store(url + "&options=-csearch_path%3Dtwo") as two:
        one.claim()
        two.claim()


def test_what_is_wrong_with_a_url_is_said_without_the_password(postgres):
    with pytest.raises(StoreError, match=r'database "absent" does not exist.*createdb') as problem:
        Store(f"postgresql://tests:secret@/absent?host={postgres.folder}")
    with pytest.raises(StoreLostError, match="Check that the server runs"):
        Store("postgresql://tests:secret@127.0.0.1:1/news")
    assert "secret" not in str(problem.value)
    postgres.say("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    with pytest.raises(StoreError, match=r"LATIN1.*createdb --encoding UTF8"):
        Store(postgres.url("latin"))
    with pytest.raises(StoreError, match="postgresql://"):
        parse_url("mysql://host/db")


def test_short_and_long_schemes_are_the_same(postgres):
    url = postgres.new_database()
    Store(url).close()
    for scheme in ("postgres", "postgresql+psycopg"):
        with Store(url.replace("postgresql", scheme, 1), create=False) as store:
            assert unquote(store.name) == url


def test_who_may_only_read_reads(postgres):
    url = postgres.new_database()
    database = url.split("/")[3].split("?")[0]
    with Store(url) as store:
        store.write_step(step(0, "d1"))
    postgres.say("DROP ROLE IF EXISTS guest")
    postgres.say("CREATE ROLE guest LOGIN")
    postgres.say("GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest", database)
    with Store(postgres.url(database, "guest"), read_only=True) as store:
        assert [v.document.id for v in store.search("text")] == ["d1"]
    with Store(postgres.url(database, "guest")) as store, pytest.raises(StoreError, match="right to write"):
        store.write_step(step(1, "d2"))


@pytest.fixture(scope="module")
def own_server():
    """A server that tests may stop."""
    server = PrivatePostgres()
    yield server
    server.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["restarted", "crashed"])
def test_a_server_that_is_restarted_in_the_middle_of_a_step_loses_and_doubles_nothing(own_server, how, monkeypatch):
    url = own_server.new_database()
    with Store(url) as store:
        store.claim()
        store.write_step(step(0, "d1"), state=b"first")
        for index, moment in enumerate(("documents", "verdicts", "positions"), 1):
            _restart_before(moment, own_server, how, monkeypatch)
            store.write_step(step(index, f"d{index + 1}"), state=b"%d" % index)
            assert [v.document.id for v in store.verdicts()] == [f"d{n + 1}" for n in range(index + 1)]
            assert store.last_state() == (index, b"%d" % index)
        with Store(url) as second, pytest.raises(StoreError, match="this very process"):
            second.claim()  # the lock was taken again


def test_a_server_that_goes_away_again_while_a_step_is_written_again(own_server, monkeypatch):
    with Store(own_server.new_database()) as store:
        store.claim()
        store.write_step(step(0, "d1"))
        _restart_before("documents", own_server, signal.SIGQUIT, monkeypatch, times=3)
        store.write_step(step(1, "d2"), state=b"second")
        assert [v.document.id for v in store.verdicts()] == ["d1", "d2"] and store.last_state() == (1, b"second")


def _restart_before(table, server, how, monkeypatch, times=1):
    """Restart the server when the next step is half written."""
    done = []

    def wrap(name):
        original = getattr(step_writing, name)

        def wrapped(connection, target, rows):
            if target.name == table and len(done) < times:
                done.append(True)
                server.stop(how)
                server.start()
            original(connection, target, rows)

        monkeypatch.setattr(step_writing, name, wrapped)

    wrap("insert_rows")
    wrap("replace_rows")


def test_a_step_that_was_committed_when_the_answer_was_lost_is_not_written_twice(own_server, monkeypatch):
    with Store(own_server.new_database()) as store:
        store.claim()
        store.write_step(step(0, "d1"))
        told = StoreLostError(owner="store", parameter="x", allowed="x", received="x", remedy="x")
        writing = store._writing

        @contextmanager
        def lost_answer():
            with writing() as connection:
                yield connection
            monkeypatch.undo()
            raise told

        monkeypatch.setattr(store, "_writing", lost_answer)
        store.write_step(step(1, "d2"))
        assert [v.document.id for v in store.verdicts()] == ["d1", "d2"]


def test_a_server_that_stays_away_ends_the_run_with_a_clear_message(own_server, monkeypatch):
    monkeypatch.setattr(postgresql, "PATIENCE", 0.2)
    monkeypatch.setattr(module, "SECONDS_OF_LOSSES", 0.1)
    with Store(own_server.new_database()) as store:
        store.claim()
        store.write_step(step(0, "d1"))
        own_server.stop()
        with pytest.raises(StoreLostError, match=r"Every whole step is safe: run again"):
            store.write_step(step(1, "d2"))
        own_server.start()
        store.write_step(step(1, "d2"))
        assert store.last_step() == 1


def test_a_reader_waits_for_a_server_that_is_restarting(own_server):
    with Store(own_server.new_database()) as store:
        own_server.stop()
        with ThreadPoolExecutor(1) as reader:
            asked = reader.submit(store.last_step)
            own_server.start()
            assert asked.result() == -1


def test_a_really_full_disk_loses_nothing(own_server):
    folder = own_server.folder / "small"
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small file system")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        shutil.chown(folder, own_server.folder.owner())
        own_server.say(f"CREATE TABLESPACE small LOCATION '{folder}'")
        own_server.say("CREATE DATABASE tiny TABLESPACE small")
        with Store(own_server.url("tiny")) as store:
            store.claim()
            store.write_step(step(0, "d1"))
            before = store.dump()
            with pytest.raises(StoreFullError, match="Make room and run again"):
                store.write_step(step(1, "d2"), state=os.urandom(16_000_000))
            assert store.dump() == before
            store.write_step(step(1, "d2"))
            assert store.last_step() == 1
    finally:
        own_server.stop(signal.SIGQUIT)
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_without_psycopg_the_extra_is_named():
    code = """
import sys
sys.modules["psycopg"] = None
from firststory.store.store import Store
try:
    Store("postgresql://tests@/news")
except ImportError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'firststory[postgres]'" in said.stdout, said


def test_a_lock_of_a_run_that_was_killed_is_waited_for(postgres, monkeypatch):
    """The server may need a moment to see that a client is no more."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    name = this_process().replace(str(os.getpid()), str(ended.pid))
    url = postgres.new_schema()
    with Store(url) as store, Store(url) as other:
        store.claim()
        held = store._lock.connection
        held.exec_driver_sql(f"SET application_name = '{postgresql.PREFIX}{name}'")
        held.commit()
        looked = []

        def sleep(seconds):
            looked.append(seconds)
            if len(looked) == 3:
                store._lock.release()

        monkeypatch.setattr(postgresql.time, "sleep", sleep)
        other.claim()
        assert len(looked) >= 3
        other.write_step(step(0, "d1"))

        monkeypatch.setattr(postgresql, "SECONDS_TO_NOTICE", -1.0)
        other._lock.connection.exec_driver_sql(f"SET application_name = '{postgresql.PREFIX}{name}'")
        other._lock.connection.commit()
        with pytest.raises(StoreError, match=rf"Another run \(process {ended.pid} on "):
            store.claim()


def test_only_a_process_of_this_machine_is_known_to_have_ended():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    number, machine = this_process().split(" on ")
    assert has_ended(f"{ended.pid} on {machine}")
    for holder in (
        f"{number} on {machine}",
        f"1 on {machine}",
        f"{ended.pid} on elsewhere{machine}",
        "",
        "x on y",
        machine,
    ):
        assert not has_ended(holder)
    assert not has_ended(f"{10**30} on {machine}")

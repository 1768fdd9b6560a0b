"""What a store in a SQLite file does beside the contract: read-only folders, foreign files, full disks."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from firststory.errors import StoreError, StoreFullError
from firststory.store.engine import holds_store
from firststory.store.store import Store
from store.made import step, story


@pytest.fixture
def store(tmp_path):
    with Store(str(tmp_path / "news.db")) as opened:
        yield opened


def test_foreign_keys_and_write_ahead_log_are_on(store, tmp_path):
    with store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_things_that_are_no_store_say_so(tmp_path):
    other = tmp_path / "other.db"
    other.write_bytes(b"this is not a database, not at all, " * 200)
    with pytest.raises(StoreError, match="not a firststory store"):
        Store(str(other))
    with pytest.raises(StoreError, match="folder exists"):
        Store(str(tmp_path / "no" / "such" / "folder.db"))
    with pytest.raises(StoreError, match="is a folder"):
        Store(str(tmp_path))
    assert list(tmp_path.iterdir()) == [other]
    with pytest.raises(StoreError, match="--store"):
        Store("mysql://host/db")


def picture(folder):
    """Every file of a folder with its bytes and its time."""
    return {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) for path in folder.iterdir()
    }


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("make", ["CREATE TABLE x (a)", "CREATE TABLE meta (a)", "PRAGMA application_id = 77"])
def test_a_database_of_another_program_is_refused_untouched(tmp_path, make, journal):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute(make)
        connection.commit()
    before = picture(tmp_path)
    for open_it in (Store, holds_store, lambda url: Store(url, read_only=True)):
        with pytest.raises(StoreError, match=r"not a firststory store.*was not changed"):
            open_it(str(path))
    assert picture(tmp_path) == before


def test_a_database_of_another_program_that_is_in_use_is_refused(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE x (a)")  # lies in the -wal still
        with pytest.raises(StoreError, match="not a firststory store"):
            Store(str(path))
        assert [row[0] for row in connection.execute("SELECT name FROM sqlite_master")] == ["x"]


def test_an_empty_file_becomes_a_store_that_says_whose_it_is(tmp_path):
    path = tmp_path / "news.db"
    path.touch()
    Store(str(path)).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"fsty", "big"),)
        connection.execute("PRAGMA application_id = 0")  # as stores before that were
    assert holds_store(str(path))


def test_the_file_of_the_lock_is_there_while_someone_writes(tmp_path):
    with Store(str(tmp_path / "a.db")) as store:
        store.claim()
        assert (tmp_path / "a.db-writer").read_text().startswith(f"{os.getpid()} on ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
    (tmp_path / "a.db-writer").write_text("4711 on elsewhere")  # as a killed run leaves it
    with Store(str(tmp_path / "a.db")) as store:
        store.claim()


READ = """
import sys
from firststory.store.store import Store
with Store(sys.argv[1], read_only=True) as store:
    print(store.last_step(), [v.document.id for v in store.search("text")], flush=True)
    sys.stdin.read()
    print(store.last_step())
"""


class Reader:
    """Another user, who may read the store but write neither it nor its folder."""

    def __init__(self, path):
        command = [sys.executable, "-c", READ, str(path)]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/"
        )

    def first(self):
        return self.process.stdout.readline().strip()

    def rest(self):
        return self.process.communicate()[0].strip(), self.process.returncode


@pytest.fixture
def shelf():
    """A folder that others may read and not write."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv to become another user")
    with TemporaryDirectory(prefix="fs-shelf-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def closed_to_writing(folder):
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def test_who_may_not_write_the_store_reads_it(shelf):
    with Store(str(shelf / "news.db")) as store:
        store.write_step(step(0, "d1"))
    closed_to_writing(shelf)
    before = picture(shelf)
    reader = Reader(shelf / "news.db")
    assert (reader.first(), reader.rest()) == ("0 ['d1']", ("0", 0))
    assert picture(shelf) == before


def test_who_may_not_write_the_store_reads_on_while_it_is_written(shelf):
    with Store(str(shelf / "news.db")) as store:
        store.write_step(step(0, "d1"))
    reader = Reader(shelf / "news.db")
    assert reader.first() == "0 ['d1']"
    with Store(str(shelf / "news.db")) as store:  # begins after the reader did
        store.write_step(step(1, "d2"))
        another = Reader(shelf / "news.db")
        assert another.first() in ("1 ['d1', 'd2']", "1 ['d2', 'd1']")
        store.write_step(step(2, "d3"))
        assert (reader.rest(), another.rest()) == (("2", 0), ("2", 0))


def test_what_a_killed_run_left_is_read_by_who_may_not_write_it(shelf):
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from store.made import step, story
from firststory.store.store import Store
store = Store({str(shelf / "news.db")!r})
store.claim()
store.write_step(step(0, "d1"))
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (shelf / "news.db-wal").stat().st_size > 0
    closed_to_writing(shelf)
    reader = Reader(shelf / "news.db")
    assert (reader.first(), reader.rest()) == ("0 ['d1']", ("0", 0))


def test_a_store_that_may_not_be_written_says_so(shelf):
    with Store(str(shelf / "news.db")) as store:
        store.write_step(step(0, "d1"))
    closed_to_writing(shelf)
    code = f"""
from firststory.store.store import Store
try:
    with Store({str(shelf / "news.db")!r}) as store:
        store.claim()
except RuntimeError as error:
    print(error)
"""
    command = [sys.executable, "-c", code]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    said = subprocess.run(command, capture_output=True, text=True, cwd="/")
    assert "may write there" in said.stdout or "cannot be written to" in said.stdout, said


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


COMMANDS = """
import sys
from firststory.cli.main import main
for words in (["status"], ["stories"], ["alerts"], ["storylines"], ["topics"], ["digest"], ["story", "s1"],
              ["stories", "--search", "text"], ["store", "check"]):
    try:
        main([*words, "--store", sys.argv[1]])
    except SystemExit as end:
        print(words, "ended with", end.code)
"""


def test_every_command_that_reads_works_for_who_may_not_write(shelf):
    with Store(str(shelf / "news.db")) as store:
        store.write_step(step(0, "d1", stories=(story("s1"),)))
    closed_to_writing(shelf)
    before = picture(shelf)
    command = [sys.executable, "-c", COMMANDS, str(shelf / "news.db")]
    if os.geteuid() == 0:
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    ended = [line for line in done.stdout.splitlines() if "ended with" in line]
    assert len(ended) == 9 and all(line.endswith("ended with 0") for line in ended), done.stdout + done.stderr
    assert picture(shelf) == before

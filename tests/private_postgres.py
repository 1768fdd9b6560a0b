"""A PostgreSQL server of the tests' own: a temporary folder, a socket in it, and a process that ends with the tests."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

REASON = "needs PostgreSQL: the Debian package postgresql, and pip install 'firststory[postgres]'"


def find_programs():
    """The folder that has initdb and postgres, the newest of several; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


class PrivatePostgres:
    """A server with no network, no password and no care for power failures."""

    def __init__(self):
        programs = find_programs()
        if programs is None:
            pytest.skip(REASON)
        pytest.importorskip("psycopg", reason=REASON)
        self.programs = programs
        memory = Path("/dev/shm")
        in_memory = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 30
        self.folder = Path(tempfile.mkdtemp(prefix="fs-pg-", dir=memory if in_memory else None))
        self._as = []
        if os.geteuid() == 0:  # the server refuses to run as root
            user = next((name for name in ("postgres", "nobody") if _has_user(name)), None)
            if user is None or shutil.which("setpriv") is None:
                pytest.skip("needs a user postgres or nobody, and setpriv")
            shutil.chown(self.folder, user, pwd.getpwnam(user).pw_gid)
            self._as = ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
        self._data = self.folder / "data"
        self._count = 0
        made = ["initdb", "-D", self._data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run(*made)
        self.process = None
        self.start()

    def start(self):
        """Start the server and wait until it answers."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.folder,
            "fsync": "off",
            "full_page_writes": "off",
            "shared_buffers": "16MB",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        died = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
        command = [*self._as, *died, self.programs / "postgres", "-D", self._data, *options]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd="/", stdout=log, stderr=log)
        give_up = time.monotonic() + 60
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < give_up, (self.folder / "log").read_text()
            time.sleep(0.02)

    def stop(self, how=signal.SIGINT):
        """Stop it: SIGINT ends its sessions and goes, SIGQUIT is a crash."""
        self.process.send_signal(how)
        self.process.wait(60)

    def url(self, name="postgres", user="tests"):
        return f"postgresql://{user}@/{name}?host={self.folder}"

    def new_database(self):
        """The URL of a new, empty database."""
        self._count += 1
        name = f"store_{self._count}"
        self.say(f"CREATE DATABASE {name}")
        return self.url(name)

    def new_schema(self):
        """The URL of a new, empty schema of one database: quicker to make than a database."""
        self._count += 1
        self.say(f"CREATE SCHEMA store_{self._count}")
        return self.url() + f"&options=-csearch_path%3Dstore_{self._count}"

    def say(self, statement, database="postgres"):
        """Run one statement as the owner of everything."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.stop(signal.SIGQUIT)  # nothing of it is wanted any more
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self):
        import psycopg

        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program, *arguments):
        done = subprocess.run([*self._as, self.programs / program, *arguments], cwd="/", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def _has_user(name):
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True

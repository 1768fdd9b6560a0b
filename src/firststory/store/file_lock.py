"""The writer's lock of a SQLite store: a file beside it that is there while someone writes."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import IO

from firststory.errors import StoreError

NUMBER_OF_WRITERS = "the number of writers"
"""What the error about a second writer is about."""


class FileLock:
    """A lock that ends with the process, however it ends. The file says which process has it."""

    connection = None

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + "-writer")
        self._file: IO[bytes] | None = None

    def take(self) -> None:
        """Become the writer, or say that there is one already."""
        while self._file is None:
            file = self._open()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                file.seek(0)
                holder = file.read(200).decode("utf-8", "replace").strip()
                file.close()
                raise taken(holder) from error
            if self._is_current(file):
                file.truncate(0)
                file.write(this_process().encode())
                file.flush()
                self._file = file
            else:  # the writer before us removed it between our opening and our locking
                file.close()

    def release(self) -> None:
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def _open(self) -> IO[bytes]:
        try:
            return self._path.open("a+b")
        except OSError as error:
            raise StoreError(
                owner="store",
                parameter="the folder",
                allowed="one that can be written to",
                received=f"{self._path.parent}: {error.strerror}",
                remedy="Choose another place for the store.",
                message=f"The folder {self._path.parent} cannot be written to: {error.strerror}.",
            ) from error

    def _is_current(self, file: IO[bytes]) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        return False


def this_process() -> str:
    """The number of this process and the name of its machine: numbers alone are the same in many containers."""
    return f"{os.getpid()} on {socket.gethostname()[:40]}"


def has_ended(holder: str) -> bool:
    """Whether a process that `this_process` named was one of this machine, and is no more."""
    number, _, machine = holder.partition(" on ")
    if machine != this_process().partition(" on ")[2] or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def taken(holder: str) -> StoreError:
    """The error for a second writer; `holder` is what `this_process` says in the first, where it is known."""
    if holder == this_process():
        message = "Another Monitor or Store of this very process is writing to this store."
        remedy = "Close it first: monitor.close(), or use `with fs.Monitor(...) as monitor:`."
    else:
        message = f"Another run{f' (process {holder})' if holder else ''} is writing to this store."
        remedy = "Wait for it to end, or use another store."
    return StoreError(
        owner="store",
        parameter=NUMBER_OF_WRITERS,
        allowed="one",
        received="a second",
        remedy=remedy,
        message=message,
    )

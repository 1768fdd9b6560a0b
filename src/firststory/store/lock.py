"""One writer at a time: two runs into one store would mix their steps."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from firststory.errors import StoreError


class WriterLock:
    """A lock that ends with the process, however it ends."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(database.name + "-writer")
        self._file: IO[bytes] | None = None

    def take(self) -> None:
        """Become the writer, or say that there is one already."""
        if self._file is not None:
            return
        try:
            self._file = self._path.open("ab")
        except OSError as error:
            raise StoreError(
                owner="store",
                parameter="the folder",
                allowed="one that can be written to",
                received=f"{self._path.parent}: {error.strerror}",
                remedy="Choose another place for the store.",
                message=f"The folder {self._path.parent} cannot be written to: {error.strerror}.",
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            raise StoreError(
                owner="store",
                parameter="the number of writers",
                allowed="one",
                received="a second",
                remedy="Wait for it to end, or use another store.",
                message="Another run is writing to this store.",
            ) from error

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

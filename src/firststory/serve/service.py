"""The service: a store that many read at once, and whether it may be written."""

from __future__ import annotations

from firststory.store.store import Store


class Service:
    """An open store and what runs on it.

    Parameters
    ----------
    url : str
        The store; it must exist.
    """

    def __init__(self, url: str) -> None:
        self.reader = Store(url, create=False, read_only=True)
        """The store, for reading."""

    def close(self) -> None:
        """Give the store back."""
        self.reader.close()

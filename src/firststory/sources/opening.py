"""What is named on the command line as sources that can be read: paths, globs, folders, or addresses."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from firststory.errors import not_one_of
from firststory.sources.follow import open_files
from firststory.sources.source import Options, Source, wrong_address

SCHEMES = {
    # of an address: the module that reads it, and the class in it
    "redis": ("redis_streams", "RedisStream"),
    "rediss": ("redis_streams", "RedisStream"),
    "nats": ("nats", "NatsSubject"),
    "tls": ("nats", "NatsSubject"),
    "kafka": ("kafka", "KafkaTopic"),
    **dict.fromkeys(("ws", "wss", "bluesky", "bluesky+ws", "mastodon", "mastodon+ws"), ("websockets", "Websocket")),
    "rss+https": ("feeds", "Feed"),
    "rss+http": ("feeds", "Feed"),
    "opml+https": ("opml", "open_list"),
    "opml+http": ("opml", "open_list"),
}
LIST_OF_FEEDS = ".opml"


def is_address(name: str) -> bool:
    """Whether a source is an address rather than a path."""
    return "://" in name or name.endswith(LIST_OF_FEEDS)


def is_live(names: Sequence[str], follow: bool = False) -> bool:
    """Whether any of the sources has no end."""
    return follow or any(is_address(name) for name in names)


def open_address(address: str, options: Options) -> list[Source]:
    """The sources at an address; a missing extra or a mistake in the address is told at once."""
    scheme = address.partition("://")[0].lower() if "://" in address else "opml+https"
    if scheme not in SCHEMES:
        known = [f"{name}://" for name in SCHEMES]
        raise not_one_of("source", "SOURCE", known, f"{scheme}://", "Name a file, or an address of this kind.")
    module, name = SCHEMES[scheme]
    opened: Callable[[str, Options], Source | list[Source]] = getattr(
        import_module(f"firststory.sources.{module}"), name
    )
    found = opened(address, options)
    return found if isinstance(found, list) else [found]


def with_folders(names: Sequence[str]) -> list[str]:
    """The same names, with the files in each folder in place of the folder, in the order of their names."""
    found: list[str] = []
    for name in names:
        if not is_address(name) and Path(name).is_dir():
            files = [file for file in sorted(Path(name).iterdir()) if file.is_file() and not file.name.startswith(".")]
            if not files:
                raise wrong_address(name, "a folder with files in it", "Put the files there first.")
            found += [os.fspath(file) for file in files]
        else:
            found.append(name)
    return found


def open_sources(names: Sequence[str], options: Options) -> list[Source]:
    """Every source that is named, none twice."""
    found: dict[str, Source] = {}
    for name in with_folders(names):
        for source in open_address(name, options) if is_address(name) else open_files(name, options):
            if source.name in found:
                source.close()
            else:
                found[source.name] = source
    return list(found.values())


def identity_of(store: str) -> str:
    """A name for the reader that fills one store: the same in every run, and another for another store.

    A database has one wherever the run is and whoever logs in. A file has its own on each host: the same path elsewhere
    is another file.
    """
    file = store.removeprefix("sqlite:///")
    if "://" in file:
        parts = urlsplit(file)
        place = f"{parts.scheme.partition('+')[0]} {parts.hostname or ''}:{parts.port or ''}{parts.path}?{parts.query}"
    else:
        place = f"{socket.gethostname()} {Path(file).absolute()}"
    return "firststory-" + hashlib.sha256(place.encode()).hexdigest()[:10]

"""The streams of a fleet, as a TOML file has them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firststory.errors import ParameterError
from firststory.pipeline.build import check_settings
from firststory.settings import Settings, gather, resolve
from firststory.sources.files import STDIN
from firststory.sources.opening import SCHEMES, is_address
from firststory.store.engine import parse_url

UNKEPT = ("ws", "wss", "bluesky", "bluesky+ws", "mastodon", "mastodon+ws")
"""Schemes of senders that keep nothing: what they send while a stream waits for its turn would be lost."""
EXAMPLE = '[streams.sport] with sources = ["sport/*.jsonl"] and store = "sport.db"'
NAME = "{name}"


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream of a fleet."""

    name: str
    sources: tuple[str, ...]
    store: str
    named: Mapping[str, Any]
    """The settings that the file names, parsed."""

    @property
    def settings(self) -> Settings:
        """Complete, but for what the store was begun with."""
        return resolve(self.named)


def read_streams(path: Path) -> list[Stream]:
    """The streams of a file, in its order; a mistake in any of them is told before any of them runs.

    `[defaults]` has settings for all, `[streams.NAME]` those of one; {name} in `store` and `sources` stands for NAME.
    Paths are those beside the file.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        raise _wrong("the file", "a readable TOML file", f"{path}: {problem}") from error
    if unknown := sorted(set(told) - {"defaults", "streams"}):
        raise _wrong("a table", "defaults or streams.NAME", ", ".join(unknown))
    tables, defaults = told.get("streams", {}), told.get("defaults", {})
    is_sound = isinstance(tables, dict) and all(isinstance(one, dict) for one in (*tables.values(), defaults))
    if not is_sound or not tables:
        raise _wrong("streams", f"at least one, as {EXAMPLE}", "none")
    streams = [_stream(name, {**defaults, **table}, path.absolute().parent) for name, table in tables.items()]
    owners: dict[str, str] = {}
    for stream in streams:
        if stream.store in owners:
            raise _wrong(f"store of {stream.name}", "a store of its own", f"that of {owners[stream.store]}")
        owners[stream.store] = stream.name
    return streams


def _stream(name: str, table: dict[str, Any], folder: Path) -> Stream:
    sources, store = table.pop("sources", None), table.pop("store", None)
    if isinstance(sources, str):
        sources = [sources]
    if not isinstance(sources, list) or not sources or not all(isinstance(one, str) for one in sources):
        raise _wrong(f"sources of {name}", "a list of files, folders, globs or addresses", sources)
    for source in sources:
        scheme = source.partition("://")[0].lower()
        if source == STDIN or scheme in UNKEPT or ("://" in source and scheme not in SCHEMES):
            raise _wrong(
                f"sources of {name}", "files, feeds and queues, which wait until the stream has its turn", source
            )
    if not isinstance(store, str):
        raise _wrong(f"store of {name}", "given", "nothing")
    if "engine" in table:
        raise _wrong(f"engine of {name}", "left out: the fleet has one for all streams", table["engine"])
    url = store.replace(NAME, name)
    if "://" not in url:
        url = str(folder / url)
    named = gather({**table, "store": parse_url(url)})
    check_settings(resolve(named))
    places = [one.replace(NAME, name) for one in sources]
    places = [one if is_address(one) and "://" in one else str(folder / one) for one in places]
    return Stream(name, tuple(places), named["store"], named)


def _wrong(parameter: str, allowed: str, received: object) -> ParameterError:
    return ParameterError(
        owner="fleet", parameter=parameter, allowed=allowed, received=received, remedy=f"A stream is {EXAMPLE}."
    )

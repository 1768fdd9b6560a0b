"""An engine by what people type: serial, threads, threads:2, dask://host:8786, dask://local."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

from firststory.engines.engine import Engine
from firststory.errors import MissingExtraError, ParameterError

DEADLINE = 120.0
"""Seconds without a single finished piece after which a worker is taken to hang."""
LOCAL = "local"
_THREADS = re.compile(r"threads(?::(?P<number>[1-9][0-9]{0,3}))?")
_DASK = re.compile(
    r"dask://(?:local(?::(?P<workers>[1-9][0-9]{0,3}))?|(?P<host>[^\s/?#:]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{1,5}))"
    r"/?(?:\?deadline=(?P<deadline>[0-9]+(?:\.[0-9]+)?))?"
)


class Wanted(NamedTuple):
    """An engine as it was typed, taken apart."""

    kind: str
    number: int = 0
    """Threads, or workers of a cluster of our own; 0 is one for each core."""
    address: str = LOCAL
    deadline: float = DEADLINE


def parse_engine(text: str) -> Wanted:
    """What an engine's text means.

    Examples
    --------
    >>> parse_engine("threads:2").number, parse_engine("dask://10.0.0.7:8786?deadline=30").address
    (2, 'tcp://10.0.0.7:8786')
    """
    if text == "serial":
        return Wanted("serial")
    if found := _THREADS.fullmatch(text):
        return Wanted("threads", int(found["number"] or 0))
    if found := _DASK.fullmatch(text):
        deadline = float(found["deadline"] or DEADLINE)
        if found["host"] is None:
            return Wanted("dask", int(found["workers"] or 0), LOCAL, deadline)
        if 0 < int(found["port"]) < 65536 and deadline > 0:
            return Wanted("dask", 0, f"tcp://{found['host']}:{found['port']}", deadline)
    raise ParameterError(
        owner="settings",
        parameter="engine",
        allowed="none, serial, threads, threads:NUMBER, dask://HOST:PORT, dask://local or dask://local:WORKERS",
        received=text,
        remedy="Leave it out for one thread, or name the scheduler of a cluster as dask://host:8786.",
    )


def check_engine(text: str) -> None:
    """Refuse what is no engine, or what needs an extra that is not installed; nothing is started or reached."""
    if parse_engine(text).kind == "dask" and find_spec("distributed") is None:
        raise MissingExtraError("settings", "distributed", "dask")


def open_engine(text: str, say: Callable[[str], None] = lambda sentence: None) -> Engine:
    """The engine that a text names, ready to compute; `say` is told of workers that are lost, or of no use.

    Examples
    --------
    >>> with open_engine("threads:2") as engine:
    ...     engine.map(str.upper, ["a", "b"])
    ['A', 'B']
    """
    check_engine(text)
    wanted = parse_engine(text)
    if wanted.kind == "serial":
        from firststory.engines.serial import SerialEngine

        return SerialEngine()
    if wanted.kind == "threads":
        from firststory.engines.threads import ThreadsEngine

        return ThreadsEngine(wanted.number)
    from firststory.engines.dask_cluster import DaskEngine

    return DaskEngine(wanted, text, say)

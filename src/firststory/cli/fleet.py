"""`firststory fleet`: hundreds of streams, each with its own sources and store, on a machine or a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.fleet.fleet import Standing
    from firststory.fleet.streams import Stream


def fleet(
    streams: Annotated[Path, typer.Argument(metavar="FILE", help="The streams, in TOML.")],
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, metavar="NUMBER", help="Streams that run at once (default: one for each core)."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--engine", metavar="ENGINE", help="Run them on a cluster: dask://host:8786 or dask://local."),
    ] = None,
    slice_seconds: Annotated[
        float, typer.Option("--slice", min=0.01, metavar="SECONDS", help="How long a stream runs before it makes room.")
    ] = 10.0,
    lease_seconds: Annotated[
        float,
        typer.Option("--lease", min=1.0, metavar="SECONDS", help="After this silence another may take a stream over."),
    ] = 30.0,
    status: Annotated[bool, typer.Option("--status", help="Say where every stream stands, and run nothing.")] = False,
    json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Run many independent streams until all of them are done; run again to resume where they stopped.

    Each stream has a table in the file, with sources, a store of its own and any setting:

    [defaults]
    language = "en"
    store = "stores/{name}.db"

    [streams.sport]
    sources = ["sport/*.jsonl"]

    A stream runs for some seconds on a worker, is saved, and makes room for the next one. Its store is leased
    meanwhile: every step checks that, so that no stream ever has two writers, even where a worker that was thought
    dead wakes up. A worker that dies or hangs is replaced. Ctrl-C or SIGTERM stops all, with everything saved.
    """
    from firststory.cli.guard import ERROR, complain
    from firststory.cli.interrupt import interruptible
    from firststory.fleet.fleet import Fleet
    from firststory.fleet.streams import read_streams

    wanted = read_streams(streams)
    if status:
        _print([_stored(stream) for stream in wanted], json)
        return
    say = (lambda sentence: None) if quiet else complain
    with interruptible() as interrupt, _workers(cluster, workers, lease_seconds, say) as places:
        running = Fleet(wanted, places, seconds=slice_seconds, lease_seconds=lease_seconds, say=complain)
        told = _Telling(running.standings, quiet)
        for _ in running.run(lambda: not interrupt.wanted):
            told.now_and_then()
        if not quiet or json:
            _print([_told(one) for one in running.standings], json)
        interrupt.check()
    if any(one.failures for one in running.standings):
        complain("some streams could not be finished; run again to resume them.")
        raise typer.Exit(ERROR)


def _workers(engine: str | None, number: int | None, lease_seconds: float, say: Any) -> Any:
    """The workers, as a context."""
    import os
    from contextlib import closing, contextmanager

    from firststory.engines.opening import open_engine, parse_engine
    from firststory.errors import ParameterError
    from firststory.fleet.workers import EngineWorkers, ProcessWorkers

    if engine is None:
        return closing(ProcessWorkers(number or len(os.sched_getaffinity(0))))
    if parse_engine(engine).kind != "dask":
        raise ParameterError(
            owner="fleet",
            parameter="--engine",
            allowed="one of dask://HOST:PORT, dask://local",
            received=engine,
            remedy="Leave it out for processes of this machine.",
        )

    @contextmanager
    def on_cluster() -> Any:
        with open_engine(engine, say) as opened:
            found: int = getattr(opened, "n_workers", 1)
            yield EngineWorkers(opened, number or found)

    return on_cluster()


class _Telling:
    """A line now and then."""

    def __init__(self, standings: list[Standing], quiet: bool) -> None:
        from time import monotonic

        self._standings, self._quiet, self._clock = standings, quiet, monotonic
        self._begin = self._last = monotonic()

    def now_and_then(self) -> None:
        import sys

        now = self._clock()
        if self._quiet or now - self._last < 5.0:
            return
        self._last = now
        done = sum(one.end == "done" for one in self._standings)
        failing = sum(one.failures > 0 for one in self._standings)
        documents = sum(one.documents for one in self._standings)
        said = f"{done:,} of {len(self._standings):,} streams done, {documents:,} documents"
        said += f", {documents / (now - self._begin):,.0f} documents/s"
        print(said + (f", {failing:,} failing" if failing else ""), file=sys.stderr, flush=True)


def _told(one: Standing) -> dict[str, Any]:
    """What this call did for a stream."""
    return {
        "stream": one.stream.name,
        "end": one.end,
        "documents": one.documents,
        "alerts": one.alerts,
        "slices": one.slices,
        "store": one.stream.store,
        "message": one.message,
    }


def _stored(stream: Stream) -> dict[str, Any]:
    """What the store of a stream says."""
    from firststory.store.engine import holds_store
    from firststory.store.store import Store

    found: dict[str, Any] = {"stream": stream.name, "documents": 0, "alerts": 0, "running": "", "last": ""}
    found["store"] = stream.store
    if holds_store(stream.store):
        with Store(stream.store, read_only=True) as store:
            told, holder, last = store.status(), store.lease_holder(), store.last_time()
        found["documents"] = told["documents"]
        found["alerts"] = sum(told["alert_counts"].values())
        found["running"] = holder.owner.rpartition(" ")[0] if holder.is_live() else ""
        found["last"] = last.isoformat() if last else ""
    return found


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    from json import dumps

    from firststory.cli.output import console
    from firststory.harmless import harmless

    if as_json:
        for row in rows:
            print(dumps(row))
        return
    from rich.table import Table

    shown = [name for name in rows[0] if name != "store"]
    table = Table(box=None, padding=(0, 1))
    for name in shown:
        table.add_column(name, justify="right" if isinstance(rows[0][name], int) else "left")
    for row in rows:
        table.add_row(*(f"{row[n]:,}" if isinstance(row[n], int) else harmless(str(row[n]), 200) for n in shown))
    console().print(table)

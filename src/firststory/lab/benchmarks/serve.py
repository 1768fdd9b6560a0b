"""`firststory serve` under load: listeners, readers and pushed documents at once, on loopback.

`firststory bench serve --seconds 60` makes it shorter than its ten minutes.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from firststory.lab.benchmarks import load_stream
from firststory.lab.benchmarks.http_client import Connection, Listener
from firststory.lab.benchmarks.served_process import ServedProcess, Spent, wait_until

TITLE = "The service under load"

LISTENERS, REQUESTS_PER_SECOND, DOCUMENTS_PER_SECOND = 200, 500, 1_000
PER_PUSH = 100
STEP = 250
"""Documents of a step: four steps a second at this rate."""
CONNECTIONS = 64
FIRST = 5_000
"""Documents that are judged before the clock starts, so that there is something to read."""
LONGEST_PART = 20.0
"""Seconds of each part that is measured by itself."""
MARKS = 11

READS = (
    "/alerts?limit=50",
    "/stories?limit=50",
    "/verdicts?limit=50&order=newest",
    "/storylines?limit=50",
    "/topics",
    "/status",
    "/search?q=flood&limit=20",
    "/",
)
PLAIN = {
    READS[0]: "SELECT * FROM alerts ORDER BY n DESC LIMIT 50",
    READS[1]: "SELECT * FROM stories ORDER BY last_seen DESC LIMIT 50",
    READS[2]: "SELECT * FROM documents JOIN verdicts USING (n) ORDER BY n DESC LIMIT 50",
    READS[3]: "SELECT * FROM storylines ORDER BY last_seen DESC LIMIT 50",
    READS[4]: "SELECT * FROM topics WHERE step = (SELECT max(step) FROM topics)",
    READS[6]: "SELECT d.* FROM documents d JOIN (SELECT rowid FROM search WHERE search MATCH 'flood' "
    "ORDER BY rank, rowid LIMIT 20) f ON d.n = f.rowid",
}

TEXT = """\
One `firststory serve` with an embedded store judges what is pushed to it, {documents:,} documents a second in requests
of {per_push} (`--step {step}`), while {listeners} listeners hold `/events` open, with all that it tells by default,
and {requests} requests a second ask for lists, a search and the page in turn, over {connections} connections. The time
of a request counts from the moment when it was due, so that waiting for a free connection counts too. Service, load
and measurement share {cores} cores (load average at the start {load:.1f}); {seconds:.0f} seconds after {first:,}
documents to begin with.

| | asked for | done | errors | p50 ms | p95 ms | p99 ms |
|---|---|---|---|---|---|---|
{rows}

{listened} {lag}

Memory of the processes that answer and judge at equal distances: {memory} MB.

What it takes of a processor, each part alone for {part:.0f} seconds, then everything at once, as processor seconds a
second at the rates above; the last column is the load itself, which runs on the same cores.

| | answering | judging | measuring |
|---|---|---|---|
{spent}

Alone, a read costs {per_read:.0f} us of the answering process, a pushed document {per_document:.0f} us of it and
{per_judged:.0f} us of the one that judges, and an event sent to one listener {per_event:.2f} us.

| read | p50 ms | p95 ms | the same rows by SQL alone, p50 ms |
|---|---|---|---|
{paths}
"""


@dataclass
class Tally:
    """What became of the requests of one kind."""

    times: list[float] = field(default_factory=list)
    errors: int = 0

    def row(self, name: str, wanted: float) -> str:
        p50, p95, p99 = percentiles(self.times, 50, 95, 99)
        return f"| {name} | {wanted:,.0f} | {len(self.times):,} | {self.errors:,} | {p50:.1f} | {p95:.1f} | {p99:.1f} |"


@dataclass
class Load:
    """What is asked for at once, and what came of it."""

    share: float = 1.0
    reads: bool = True
    pushes: bool = True
    tallies: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    """By path; pushes have none."""
    memory: list[tuple[int, int]] = field(default_factory=list)

    async def run(self, served: ServedProcess, made: Iterator[str], seconds: float) -> None:
        """Every request has its moment."""
        loop = asyncio.get_running_loop()
        due: asyncio.Queue[tuple[float, str, bytes]] = asyncio.Queue()
        workers = [asyncio.create_task(self._work(served.port, due)) for _ in range(CONNECTIONS)]
        begin = loop.time()
        marks = iter(np.linspace(0, seconds, MARKS)[1:])
        mark = next(marks)
        for moment, path in self._moments(seconds):
            if (wait := begin + moment - loop.time()) > 0:
                await asyncio.sleep(wait)
            body = b"" if path else "".join(itertools.islice(made, PER_PUSH)).encode()
            due.put_nowait((begin + moment, path, body))
            if moment >= mark:
                self.memory.append(served.memory())
                mark = next(marks, np.inf)
        with suppress(TimeoutError):
            await asyncio.wait_for(due.join(), 60)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    def _moments(self, seconds: float) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = []
        if self.reads:
            every = 1 / (REQUESTS_PER_SECOND * self.share)
            found += [(n * every, READS[n % len(READS)]) for n in range(int(seconds / every))]
        if self.pushes:
            every = PER_PUSH / (DOCUMENTS_PER_SECOND * self.share)
            found += [(n * every, "") for n in range(int(seconds / every))]
        return sorted(found)

    async def _work(self, port: int, due: asyncio.Queue[tuple[float, str, bytes]]) -> None:
        connection, loop = Connection(port), asyncio.get_running_loop()
        while True:
            moment, path, body = await due.get()
            tally = self.tallies[path]
            try:
                status = await (connection.get(path) if path else connection.post("/documents", body))
                if status in (200, 202, 304):
                    tally.times.append(loop.time() - moment)
                else:
                    tally.errors += 1
            except OSError:
                tally.errors += 1
                connection = Connection(port)
            finally:
                due.task_done()

    def all_reads(self) -> Tally:
        found = [tally for path, tally in self.tallies.items() if path]
        return Tally([time for tally in found for time in tally.times], sum(tally.errors for tally in found))


def run(*, quick: bool, seconds: float | None = None) -> str:
    """Start the service, load it, and tell."""
    seconds = 5.0 if quick else seconds or 600.0
    with (
        tempfile.TemporaryDirectory() as folder,
        ServedProcess(Path(folder), "--language", "en", "--step", str(STEP)) as served,
        asyncio.Runner(loop_factory=_loop) as runner,
    ):
        return runner.run(_measured(served, seconds, 0.1 if quick else 1.0))


async def _measured(served: ServedProcess, seconds: float, share: float) -> str:
    load = os.getloadavg()[0]
    part = min(seconds / 3, LONGEST_PART)
    made = load_stream.documents(10**9)
    first = int(FIRST * share)
    served.wait_until_ready()
    served.push(list(itertools.islice(made, first)))
    wait_until(lambda: served.judged() >= first, 600)

    spent: dict[str, Spent] = {}
    await _part(spent, "reads", Load(share, pushes=False), served, made, part)
    await _part(spent, "pushes", Load(share, reads=False), served, made, part)
    ears = [Listener(served.port) for _ in range(int(LISTENERS * share))]
    await asyncio.gather(*(ear.open() for ear in ears))
    await asyncio.sleep(1.0)
    await _part(spent, "pushes and listeners", Load(share, reads=False), served, made, part)
    events = sum(ear.heard for ear in ears)
    heard, had = [ear.heard for ear in ears], sum(ear.bytes for ear in ears)
    whole = Load(share, memory=[served.memory()])
    await _part(spent, "everything", whole, served, made, seconds, settles=False)
    told = [ear.heard - before for ear, before in zip(ears, heard, strict=True)]
    sent = (sum(ear.bytes for ear in ears) - had) / max(len(ears), 1) / seconds
    cut, behind = sum(ear.is_cut for ear in ears), served.waiting()
    for ear in ears:
        ear.close()

    documents, requests = DOCUMENTS_PER_SECOND * share, REQUESTS_PER_SECOND * share
    listening = spent["pushes and listeners"].answering - spent["pushes"].answering
    return TEXT.format(
        documents=int(documents),
        per_push=PER_PUSH,
        step=STEP,
        listeners=len(ears),
        requests=int(requests),
        connections=CONNECTIONS,
        cores=os.cpu_count(),
        load=load,
        seconds=seconds,
        first=first,
        rows="\n".join(
            (
                whole.all_reads().row("reads", requests * seconds),
                whole.tallies[""].row("pushes", documents / PER_PUSH * seconds),
            )
        ),
        listened=f"Listeners heard {min(told):,} to {max(told):,} events each, {sent / 1e3:,.0f} kB a second; "
        f"{cut} lost their connection.",
        lag=f"At the end {behind:,} of {whole_pushed(whole):,} pushed documents waited to be judged.",
        memory=", ".join(f"{one / 1e6:,.0f} + {other / 1e6:,.0f}" for one, other in whole.memory),
        part=part,
        spent="\n".join(
            _spent_row(name, used, seconds if name == "everything" else part) for name, used in spent.items()
        ),
        per_read=spent["reads"].answering / (requests * part) * 1e6,
        per_document=spent["pushes"].answering / (documents * part) * 1e6,
        per_judged=spent["pushes"].judging / (documents * part) * 1e6,
        per_event=max(listening, 0.0) / max(events, 1) * 1e6,
        paths="\n".join(_path_row(served, path, whole.tallies[path]) for path in READS),
    )


async def _part(
    spent: dict[str, Spent],
    name: str,
    load: Load,
    served: ServedProcess,
    made: Iterator[str],
    seconds: float,
    *,
    settles: bool = True,
) -> None:
    """Load the service in one way, and note what that took; where it settles, until everything is judged."""
    before = served.spent()
    await load.run(served, made, seconds)
    while settles and served.waiting():
        await asyncio.sleep(0.2)
    spent[name] = served.spent().since(before)


def _spent_row(name: str, used: Spent, seconds: float) -> str:
    return f"| {name} | {' | '.join(f'{one / seconds:.2f}' for one in used)} |"


def whole_pushed(load: Load) -> int:
    return PER_PUSH * len(load.tallies[""].times)


def percentiles(times: list[float], *which: float) -> list[float]:
    """In milliseconds."""
    return [float(one) for one in np.percentile(times, which) * 1e3] if times else [float("nan")] * len(which)


def _path_row(served: ServedProcess, path: str, tally: Tally) -> str:
    p50, p95 = percentiles(tally.times, 50, 95)
    plain = f"{_plain(served, PLAIN[path]):.2f}" if path in PLAIN else ""
    return f"| `{path}` | {p50:.1f} | {p95:.1f} | {plain} |"


def _plain(served: ServedProcess, query: str) -> float:
    times = []
    with closing(served.connect()) as connection:
        for _ in range(20):
            begin = time.perf_counter()
            connection.execute(query).fetchall()
            times.append(time.perf_counter() - begin)
    return float(np.median(times)) * 1e3


def _loop() -> asyncio.AbstractEventLoop:
    """The quicker one, where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()

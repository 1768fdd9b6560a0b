"""FusedNovelty in segments: what a document costs by the window, on one and two workers, and what much larger ones need."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from firststory.detectors.fused_novelty import FusedNovelty
from firststory.detectors.fused_segments import SegmentedIndex
from firststory.engines import open_engine
from firststory.engines.engine import Engine, Residents
from firststory.engines.residents import LocalResidents
from firststory.engines.serial import SerialEngine
from firststory.errors import MissingExtraError
from firststory.lab.benchmarks.scaling import scaling
from firststory.state import State

TITLE = "Scale: a window in segments, and what millions of documents would need"

WINDOWS, MEASURED_STEPS, STEP = (10_000, 50_000, 100_000), 6, 100
ROUND_TRIPS = 60
TERMS, WIDTH, SHIFT = 9, 60_000, 2.7
RATES, LARGE_WINDOWS = (6_000, 100_000), (10_000_000, 100_000_000)
MACHINE_CORES, MACHINE_GIB, NETWORK_MB = 16, 64, 1_000
"""The machines of the simulation: cores, memory, and megabytes a second on the wire."""


def _bytes_on_the_wire(value: Any) -> int:
    """What dask would send."""
    try:
        from distributed.protocol import dumps, to_serialize
    except ImportError as error:
        raise MissingExtraError("firststory bench scale", "distributed", "dask") from error
    return sum(memoryview(frame).nbytes for frame in dumps(to_serialize(value)))


class Weighed:
    """Objects in this thread that note how long they compute, and what a network would have to carry."""

    def __init__(self, inner: LocalResidents) -> None:
        self.n_wanted, self._inner = inner.n_wanted, inner
        self.place, self.close = inner.place, inner.close
        self.forget()

    def forget(self) -> None:
        self.seconds, self.broadcast, self.reduced, self.steps = 0.0, 0, 0, 0
        self.own: dict[int, float] = {}

    def ask(self, own: Mapping[int, Any], shared: Any) -> dict[int, Any]:
        answers: dict[int, Any] = {}
        for number, given in own.items():
            begin = time.process_time()
            answers |= self._inner.ask({number: given}, shared)
            spent = time.process_time() - begin
            self.own[number] = self.own.get(number, 0.0) + spent
            self.seconds += spent
        self.broadcast += _bytes_on_the_wire((shared, own))
        self.reduced += _bytes_on_the_wire(answers)
        self.steps += 1
        return answers


class WeighingEngine(SerialEngine):
    """Serial, and everything is weighed."""

    def settle(self, load: Callable[[Any], Any], call: Callable[[Any, Any, Any], Any]) -> Residents:
        self.weighed = Weighed(LocalResidents(self, 1, load, call))
        return self.weighed


class Cost(NamedTuple):
    """Of one document, in microseconds of processor time; bytes of a row of the window; bytes a document sends."""

    window: int
    whole: float
    exact: float
    segments: float
    driver: float
    largest_of_two: float
    broadcast: float
    reduced: float
    asks: float
    """Questions to the segments for each step of STEP documents."""
    segment_bytes: float
    driver_bytes: float


def rows(n: int, seed: int) -> sp.csr_matrix:
    """Headlines as far as their counts go: Zipf-Mandelbrot terms, the most frequent one in a third of the rows."""
    random = np.random.default_rng(seed)
    weights = 1.0 / (np.arange(WIDTH) + SHIFT) ** 1.05
    terms = random.choice(WIDTH, size=(n, TERMS), p=weights / weights.sum())
    made = sp.csr_matrix((np.ones(n * TERMS), (np.repeat(np.arange(n), TERMS), terms.ravel())), (n, WIDTH))
    made.sum_duplicates()
    return made


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    windows = (1_000, 2_000) if quick else WINDOWS
    states = {window: filled(window).get_state() for window in windows}
    measured(windows[0], states[windows[0]], 2)  # kernels that are not compiled yet are not to be measured
    costs = [measured(window, state, 2 if quick else MEASURED_STEPS) for window, state in states.items()]
    told_walls, walls = _walls(states, 2 if quick else MEASURED_STEPS)
    work = {cost.window: (cost.segments, cost.largest_of_two) for cost in costs}
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    told = f"{cores} cores; load average at the end {load:.1f}. Made-up headlines of {TERMS} terms (Zipf), with times, steps of {STEP}."
    parts = [told, "", _costs(costs), told_walls, scaling(work, walls, windows), simulated(costs, round_trip())]
    return "\n".join(parts)


def filled(window: int, **parameters: Any) -> FusedNovelty:
    """A detector whose window is full."""
    detector = FusedNovelty(window=window, n_neighbours=8, **parameters)
    times = 10.0 * np.arange(window)
    for at in range(0, window, 5_000):
        size = min(5_000, window - at)
        detector.score_then_learn(rows(size, at), times=times[at : at + size])
    return detector


def measured(window: int, state: State, n_steps: int) -> Cost:
    """One core: without an engine, and in one and two segments, on the same rows in turns."""
    steps = [rows(STEP, 10**6 + i) for i in range(n_steps + 1)]
    detectors = {name: FusedNovelty.from_state(state) for name in ("whole", "exact", "one", "two")}
    detectors["exact"].max_postings = 10**9
    engines = {"one": WeighingEngine(), "two": WeighingEngine()}
    for name, n_segments in {"one": 1, "two": 2}.items():
        detectors[name].max_postings = 10**9
        detectors[name]._engine = engines[name]
        detectors[name].index_ = SegmentedIndex(detectors[name].index_, engines[name], n_segments)
    spent = dict.fromkeys(detectors, 0.0)
    for number, batch in enumerate(steps):
        times = np.full(STEP, 10.0 * (window + number * STEP))
        for name, detector in detectors.items():
            begin = time.process_time()
            detector.score_then_learn(batch, times=times)
            if number > 0:
                spent[name] += time.process_time() - begin
            elif name in engines:
                engines[name].weighed.forget()
    one, two, per = engines["one"].weighed, engines["two"].weighed, 1e6 / (n_steps * STEP)
    index = detectors["one"].index_
    held = one._inner._held[0].nbytes
    log = sum(part.nbytes for part in (index.log_terms, index.log_weights, index.log_start, index.log_length))
    kept = log + sum(getattr(index, name).nbytes for name in (*index.per_slot, *index.per_cluster, "free"))
    return Cost(
        window, spent["whole"] * per, spent["exact"] * per, one.seconds * per, (spent["one"] - one.seconds) * per,
        max(two.own.values()) * per, one.broadcast / (n_steps * STEP), one.reduced / (n_steps * STEP),
        one.steps / n_steps, held / window, kept / window,
    )  # fmt: skip


def _costs(costs: list[Cost]) -> str:
    lines = [
        (
            "**A document in µs of processor time**, in turns on the same rows. *One core*: without an engine, as it is and with "
            "`max_postings` out of reach (all neighbours exact, as they are in the segments here). *Segments*: the work of a worker "
            "that has all of it, of the busier one of two, and of the driver, pickling left out."
        ),
        "",
        (
            "| window | one core | one core, exact | segments, 1 worker | 2 workers, the busier | driver | asks a step | sent, bytes/document | "
            "returned, bytes/document | bytes/row, worker | bytes/row, driver |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {c.window:,} | {c.whole:.0f} | {c.exact:.0f} | {c.segments:.0f} | {c.largest_of_two:.0f} | {c.driver:.0f} | "
        f"{c.asks:.1f} | {c.broadcast:,.0f} | {c.reduced:,.0f} | {c.segment_bytes:,.0f} | {c.driver_bytes:,.0f} |"
        for c in costs
    ]
    return "\n".join([*lines, ""])


def _walls(states: Mapping[int, State], n_steps: int) -> tuple[str, dict[tuple[int, str], float]]:
    """Wall clock on real engines: the table, and the best step in ms by window and engine."""
    lines = [
        f"**Wall clock**, ms for a step of {STEP}: median (best) of {n_steps} in turns; one core without an engine first.",
        "",
        "| window | engine | ms | same bits as serial |",
        "|---|---|---|---|",
    ]
    engines: dict[str, Engine] = {}
    best: dict[tuple[int, str], float] = {}
    skipped = ""
    for name in ("serial", "threads:2", "dask://local:1", "dask://local:2"):
        try:
            engines[name] = open_engine(name)
        except MissingExtraError as error:
            skipped = error.without_owner
    for window, state in states.items():
        detectors = {name: FusedNovelty.from_state(state) for name in ("none", *engines)}
        for name, engine in engines.items():
            detectors[name].use_engine(engine)
        walls: dict[str, list[float]] = {name: [] for name in detectors}
        scores: dict[str, list[bytes]] = {name: [] for name in detectors}
        for number in range(n_steps + 1):
            batch, times = rows(STEP, 10**7 + number), np.full(STEP, 10.0 * (window + number * STEP))
            for name, detector in detectors.items():
                begin = time.perf_counter()
                found = detector.score_then_learn(batch, times=times)
                walls[name].append(1e3 * (time.perf_counter() - begin))
                scores[name].append(found.tobytes())
        for name, detector in detectors.items():
            taken = sorted(walls[name][1:])
            best[window, name] = taken[0]
            same = "" if name == "none" else "yes" if scores[name] == scores["serial"] else "NO"
            lines.append(f"| {window:,} | {name} | {taken[len(taken) // 2]:.1f} ({taken[0]:.1f}) | {same} |")
            detector.use_engine(None)  # the workers' memory is for the next window
    for engine in engines.values():
        engine.close()
    if skipped:
        lines.append(f"| | dask | skipped: {skipped} | |")
    return "\n".join([*lines, ""]), best


def handed_back(resident: Any, own: Any, shared: Any) -> Any:
    """An answer that takes no time."""
    return own


def round_trip() -> float:
    """Milliseconds from a question to a worker of this machine to its answer, 20 kB each; the best of ROUND_TRIPS."""
    try:
        with open_engine("dask://local:1") as engine:
            residents, given = engine.settle(list, handed_back), np.zeros(2_500)
            residents.place({0: []})
            taken = []
            for _ in range(ROUND_TRIPS):
                begin = time.perf_counter()
                residents.ask({0: given}, given)
                taken.append(time.perf_counter() - begin)
            return 1e3 * min(taken)
    except MissingExtraError:
        return float("nan")


def simulated(costs: list[Cost], trip: float) -> str:
    """What rates and windows that nobody here has would need, from what was measured above and nothing else.

    A worker's work for a document is taken to be `fixed + slope * rows`, by least squares over the windows above. A step
    ends when its slowest worker has answered: work is shared out evenly, and the driver works in between. So beside cores
    there is a limit in time: questions take their round trips one after the other, however many workers there are.
    """
    sizes = np.array([c.window for c in costs], dtype=float)
    slope, fixed = np.polyfit(sizes, np.array([c.segments for c in costs]), 1)
    slope, fixed, last = max(slope, 0.0), max(fixed, 0.0), costs[-1]
    lines = [
        (
            f"**Simulation.** A worker needs {fixed:.0f} µs + {1e6 * slope:,.0f} µs per million rows for a document (a straight line through "
            f"the table above), the driver {last.driver:.0f} µs; {last.segment_bytes:,.0f} and {last.driver_bytes:,.0f} bytes a row; "
            f"{last.broadcast:,.0f} bytes sent to each machine and {last.reduced:,.0f} returned by each for a document. A round trip takes {trip:.1f} ms. Machines of {MACHINE_CORES} cores, "
            f"{MACHINE_GIB} GiB and {NETWORK_MB:,} MB/s. Windows are {LARGE_WINDOWS[0] / last.window:,.0f} and "
            f"{LARGE_WINDOWS[1] / last.window:,.0f} times the largest that was measured: read it as an order of magnitude."
        ),
        "",
        (
            "| documents/s | window | cores for segments | machines | memory of workers, GiB | memory of the driver, GiB | MB/s at the driver | "
            "driver, cores | documents/s that round trips and the driver allow | what breaks first |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for rate in RATES:
        for window in LARGE_WINDOWS:
            cores = rate * (fixed + slope * window) / 1e6
            memory, log = window * last.segment_bytes / 2**30, window * last.driver_bytes / 2**30
            machines = int(np.ceil(max(cores / MACHINE_CORES, memory / MACHINE_GIB, 1.0)))
            network = rate * machines * (last.broadcast + last.reduced) / 1e6
            busy = rate * last.driver / 1e6
            most = STEP / (last.asks * trip / 1e3 + STEP * last.driver / 1e6)
            limits = {
                "time: steps come one after the other": rate / most,
                "the driver's core": busy,
                "the driver's network": network / NETWORK_MB,
                "the driver's memory": log / MACHINE_GIB,
            }
            worst = max(limits, key=limits.__getitem__)
            breaks = f"{worst}, {limits[worst]:,.1f} times too small" if limits[worst] > 1 else "nothing"
            lines.append(
                f"| {rate:,} | {window:,} | {cores:,.0f} | {machines:,} | {memory:,.0f} | {log:,.1f} | {network:,.0f} | {busy:.1f} | {most:,.0f} | "
                f"{breaks} |"
            )
    return "\n".join([*lines, ""])

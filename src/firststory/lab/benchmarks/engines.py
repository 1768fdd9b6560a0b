"""What engines cost and bring: the overhead of a step, the bytes on the way, and where reading in blocks pays."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from firststory.engines import Engine, open_engine
from firststory.engines.serial import SerialEngine
from firststory.errors import MissingExtraError
from firststory.lab.benchmarks.engine_texts import vectorizing

TITLE = "Engines: overhead, bytes, and what is worth sharing out"

ENGINES = ("serial", "threads:2", "dask://local:2")
PIECES, SHARED_BYTES = 8, 1_000_000
STEPS, STEP_DOCUMENTS, TERMS, WIDTH, ATOMS = 5, 2_000, 120, 40_000, 200
BLOCK_LINES = 1_500


def nothing(piece: Any, shared: Any) -> Any:
    """The piece as it is: what is left is overhead."""
    return piece


def parsed(lines: Sequence[str]) -> list[Any]:
    """The documents of a block of lines."""
    from firststory.sources.parse import document_from

    return [document_from(json.loads(line)) for line in lines]


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    opened: dict[str, Engine] = {}
    skipped = ""
    try:
        for name in ENGINES:
            try:
                opened[name] = open_engine(name)
            except MissingExtraError as error:
                skipped = f"\n`{name}` is skipped: {error.without_owner}\n"
        parts = [
            _overhead(opened, quick), _dictionary(opened, quick), _topics(opened, quick), _reading(opened, quick),
            vectorizing(opened, quick),
        ]  # fmt: skip
    finally:
        for engine in opened.values():
            engine.close()
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    return (
        "\n".join(
            [f"{cores} cores; load average at the end {load:.1f}, of which this program is at most 3.", "", *parts]
        )
        + skipped
    )


def _overhead(engines: dict[str, Engine], quick: bool) -> str:
    """A map that computes nothing."""
    repeats = 3 if quick else 50
    shared = np.zeros(SHARED_BYTES // 8)
    lines = [
        (
            f"**Overhead.** {PIECES} pieces that compute nothing, with {SHARED_BYTES / 1e6:.0f} MB that they share; wall clock, "
            f"median and best of {repeats}. Per document: the median over steps of 100 and of {STEP_DOCUMENTS:,} documents."
        ),
        "",
        (
            "| engine | a map, ms: median (best) | µs per document, step of 100 | µs per document, step of "
            f"{STEP_DOCUMENTS:,} |"
        ),
        "|---|---|---|---|",
    ]
    for name, engine in engines.items():
        engine.map(nothing, list(range(PIECES)), shared)
        times = [_wall(partial(engine.map, nothing, list(range(PIECES)), shared)) for _ in range(repeats)]
        middle = median(times)
        lines.append(
            f"| {name} | {1e3 * middle:.2f} ({1e3 * min(times):.2f}) | {1e6 * middle / 100:.1f} "
            f"| {1e6 * middle / STEP_DOCUMENTS:.2f} |"
        )
    return "\n".join([*lines, ""])


class Weighed(SerialEngine):
    """Counts the bytes that a cluster would have to carry."""

    def __init__(self) -> None:
        self.sent = self.shared = self.returned = 0

    def map(self, function: Callable[..., Any], pieces: Sequence[Any], *shared: Any) -> list[Any]:
        found = super().map(function, pieces, *shared)
        self.sent += _bytes(list(pieces))
        self.shared += _bytes(shared)
        self.returned += _bytes(found)
        return found


def _bytes(value: Any) -> int:
    """Of the arrays in it."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    return sum(map(_bytes, value)) if isinstance(value, (list, tuple)) else 0


def _dictionary(engines: dict[str, Engine], quick: bool) -> str:
    """OnlineL1Dictionary, step by step."""
    from firststory.detectors.online_l1 import OnlineL1Dictionary

    n_steps, size = (2, 300) if quick else (STEPS, STEP_DOCUMENTS)
    steps = _rows(n_steps, size)
    weighed = Weighed()
    models: dict[str, Any] = {name: OnlineL1Dictionary(n_atoms=ATOMS) for name in ("none", *engines, "weighed")}
    for name, model in models.items():
        model.use_engine(weighed if name == "weighed" else engines.get(name))
    times: dict[str, list[float]] = {name: [] for name in models}
    scores: dict[str, list[bytes]] = {name: [] for name in models}
    for number, rows in enumerate(steps):
        if number == 1:
            weighed.sent = weighed.shared = weighed.returned = 0
        for name, model in models.items():  # interleaved: the machine is the same for all
            begin = time.perf_counter()
            found = model.score_then_learn(rows)
            times[name].append(time.perf_counter() - begin)
            scores[name].append(found.tobytes())
    per = (n_steps - 1) * size
    lines = [
        (
            f"**OnlineL1Dictionary**, {ATOMS} atoms, steps of {size:,} documents of about {TERMS} terms over {WIDTH:,} (Zipf), wall "
            f"clock, best of {n_steps - 1} interleaved steps after the first. Coding, clipping and the multipliers are computed "
            "in blocks; sums over documents and the projection on the driver. Bytes per document for a cluster: "
            f"{weighed.sent / per:,.0f} sent, {weighed.returned / per:,.0f} returned; per step {weighed.shared / (n_steps - 1):,.0f} "
            "bytes of atoms to every worker."
        ),
        "",
        "| engine | ms per step | µs per document | same bits |",
        "|---|---|---|---|",
    ]
    for name in ("none", *engines):
        best = min(times[name][1:])
        same = "yes" if scores[name] == scores["none"] else "NO"
        lines.append(f"| {name} | {1e3 * best:.0f} | {1e6 * best / size:.0f} | {same} |")
    return "\n".join([*lines, ""])


def _topics(engines: dict[str, Engine], quick: bool) -> str:
    """OnlineNMF, step by step."""
    from firststory.topics.online_nmf import OnlineNMF

    n_steps, size = (2, 300) if quick else (STEPS, STEP_DOCUMENTS)
    lines = [
        (
            f"**OnlineNMF**, steps of {size:,} documents as above, wall clock, best of {n_steps - 1} interleaved steps after the "
            "first. Documents are coded in blocks; sums and topics are computed on the driver."
        ),
        "",
        "| topics | engine | ms per step | same bits |",
        "|---|---|---|---|",
    ]
    for n_topics in (20,) if quick else (20, 100):
        models = {name: OnlineNMF(n_topics, random_state=0) for name in ("none", *engines)}
        times: dict[str, list[float]] = {name: [] for name in models}
        for name, model in models.items():
            model.use_engine(engines.get(name))
        for rows in _rows(n_steps, size):
            for name, model in models.items():
                times[name].append(_wall(partial(model.partial_fit, rows)))
        for name, model in models.items():
            same = "yes" if np.array_equal(model.components_, models["none"].components_) else "NO"
            lines.append(f"| {n_topics} | {name} | {1e3 * min(times[name][1:]):.0f} | {same} |")
    return "\n".join([*lines, ""])


def _rows(n_steps: int, size: int) -> list[sp.csr_matrix]:
    """Rows whose terms fall off as words do."""
    random = np.random.default_rng(0)
    weights = 1.0 / np.arange(1, WIDTH + 1) ** 0.9
    weights /= weights.sum()
    made = []
    for _ in range(n_steps):
        columns = random.choice(WIDTH, size=(size, TERMS), p=weights)
        rows = sp.csr_matrix(
            (np.ones(size * TERMS), (np.repeat(np.arange(size), TERMS), columns.ravel())), (size, WIDTH)
        )
        rows.sum_duplicates()
        rows.data *= 1.0 - np.log(weights[rows.indices])
        made.append(rows)
    return made


def _reading(engines: dict[str, Engine], quick: bool) -> str:
    """JSON lines to documents, in this thread and in blocks."""
    import firststory as fs

    lines = [
        (
            f"**Reading.** JSON lines to documents, blocks of {BLOCK_LINES:,} lines, wall clock, best of 3. A headline is the first "
            "sentence of a made-up article of twelve."
        ),
        "",
        "| engine | µs per headline | µs per article |",
        "|---|---|---|",
    ]
    count = 300 if quick else 6_000
    news = fs.datasets.make_story_stream(count, count // 10, sentences=12).documents
    kinds = [[json.dumps({"id": d.id, "text": text}) for d in news for text in [_text(d, k)]] for k in (1, 12)]
    for name, engine in engines.items():
        cells = []
        for texts in kinds:
            blocks = [texts[at : at + BLOCK_LINES] for at in range(0, count, BLOCK_LINES)]
            engine.map(parsed, blocks[:1])
            best = min(_wall(partial(engine.map, parsed, blocks)) for _ in range(3))
            cells.append(f"{1e6 * best / count:.1f}")
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return "\n".join([*lines, ""])


def _text(document: Any, sentences: int) -> str:
    return ". ".join(document.text.split(". ")[:sentences])


def _wall(job: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin

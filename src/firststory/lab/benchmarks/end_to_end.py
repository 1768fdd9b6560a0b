"""The whole step of `firststory run`, text in and verdict out, with a full window: speed, latency, memory."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from firststory.pipeline.build import build_core
from firststory.pipeline.garbage import tune_collection
from firststory.records import Batch, Document
from firststory.settings import load
from firststory.state import pack_state
from firststory.store.step_to_write import Threshold
from firststory.store.store import Store

BATCH = 100
"""Documents of a step: what `firststory run` takes by default."""
SINGLE = 400
"""Documents that come one at a time, for the latency."""
SAVE_EVERY = 200
"""Steps between two copies of the model in the store, by default."""
START = datetime(2018, 1, 1, tzinfo=UTC)
EVERY = timedelta(minutes=1)


def head(window: int, measured: int) -> list[str]:
    """What is measured, and the head of the table."""
    return [
        (
            f"End to end: the step that `firststory run` takes, with its default settings (detector fused, 20 alerts a "
            f"day, language found by itself, {BATCH} documents a step): duplicates, vectorizer, novelty, p-values, "
            "budget, near copies, stories, storylines, alerts, evidence. *Topics* are the topics (NMF) that are on by "
            f"default and have no part in a verdict. All {window:,} documents of the window went through the same step before; where the "
            "corpus is smaller, the first ones are spliced from halves of two of its documents each, so that no text "
            f"comes twice. Then {measured:,} new documents are measured, and {SINGLE} more one at a time. *With "
            f"store*: the same with every step written to SQLite; a copy of the whole model, taken every {SAVE_EVERY} "
            "steps so that a stopped run can go on, is given beside it. Memory is the largest that the process had."
        ),
        "",
        "| stream | topics | documents/s | with store | one document, median / p99 | a copy of the model | memory |",
        "|---|---|---|---|---|---|---|",
    ]


def line(name: str, texts: Sequence[str], topics: str, window: int, measured: int) -> str:
    """One line of the table."""
    documents = stream(texts, window, measured + SINGLE)
    core = build_core(load({"topics": topics, "window": window}))
    batches = [Batch(i, documents[k : k + BATCH]) for i, k in enumerate(range(0, window + measured, BATCH))]
    filled = -(-window // BATCH)
    tune_collection()  # as `firststory run` does
    for batch in batches[:filled]:
        core.step(batch)
    with tempfile.TemporaryDirectory() as folder, Store(f"sqlite:///{Path(folder) / 'bench.db'}") as store:
        steps, step_s = _timed(core.step, batches[filled:])
        _, store_s = _timed(lambda step: store.write_step(step, threshold=Threshold(None, None, "")), steps)
    took = []
    for i, document in enumerate(documents[window + measured :]):
        took.append(1e3 * _timed(core.step, [Batch(len(batches) + i, (document,))])[1])
    _, save_s = _timed(lambda _: pack_state(core.get_state()), [None])
    return (
        f"| {name} | {topics} | {measured / step_s:,.0f} | {measured / (step_s + store_s):,.0f} | "
        f"{np.median(took):.2f} / {np.quantile(took, 0.99):.2f} ms | {save_s:,.1f} s | "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB |"
    )


def stream(texts: Sequence[str], window: int, new: int) -> tuple[Document, ...]:
    """`window` documents of the past and `new` ones, a minute apart; no text twice."""
    past, latest = list(texts[:-new]), list(texts[-new:])
    halves = [(text[: text.find(" ", len(text) // 2)], text[text.find(" ", len(text) // 2) :]) for text in past]
    missing = max(0, window - len(past))
    # The n-th time round, the second half comes from n documents further on.
    spliced = [halves[i % len(past)][0] + " " + halves[(i + 1 + i // len(past)) % len(past)][1] for i in range(missing)]
    every = [*spliced, *past][-window:] + latest
    return tuple(
        Document(id=f"d{i}", text=text, time=START + i * EVERY, source=f"source {i % 40}")
        for i, text in enumerate(every)
    )


def _timed(job: Any, inputs: Sequence[Any]) -> tuple[list[Any], float]:
    """What the job made of each input, and the CPU seconds that it took for all."""
    start = time.process_time()
    found = [job(one) for one in inputs]
    return found, time.process_time() - start

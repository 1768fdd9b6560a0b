"""The benchmark of the whole run: every part of it is timed, and the clocks are taken away again."""

from __future__ import annotations

import re

from firststory.lab.benchmarks import whole_run
from firststory.pipeline.step import StreamCore
from firststory.records import Document

PLACES = ["Porto", "Genoa", "Lima", "Oslo"]


def some_documents(n: int) -> list[Document]:
    what = ["Storm", "Fire", "Strike", "Flood", "Vote"]
    return [
        Document(id=str(i), text=f"{what[i % 5]} in {PLACES[i % 4]} closes bridge {i}, mayor says") for i in range(n)
    ]


def test_every_part_of_a_run_is_timed():
    judge, place = StreamCore.judge, StreamCore.place
    row = whole_run._row("made up", some_documents(300), 100, 1)
    assert (StreamCore.judge, StreamCore.place) == (judge, place)
    parts = dict(zip(whole_run.STAGES, map(float, re.findall(r"[\d.]+", row)[-len(whole_run.STAGES) :]), strict=True))
    assert all(parts[name] > 0.0 for name in ("reading", "look-ups", "judging", "topics", "store"))


def test_single_documents_have_a_row():
    row = whole_run._row_alone("made up", some_documents(60))
    mean, median, p95, p99, largest = map(float, re.findall(r"[\d.]+", row))
    assert 0.0 < median <= p95 <= p99 <= largest and mean <= largest

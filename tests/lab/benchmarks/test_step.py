"""The benchmark of the step: every stage is timed, and the clocks are taken away again."""

from __future__ import annotations

from firststory.lab.benchmarks import step as benchmark
from firststory.pipeline import step
from firststory.records import Document

PLACES = ["Porto", "Genoa", "Lima", "Oslo"]


def some_documents(n: int) -> list[Document]:
    what = ["Storm", "Fire", "Strike", "Flood", "Vote"]
    return [
        Document(id=str(i), text=f"{what[i % 5]} in {PLACES[i % 4]} closes bridge {i}, mayor says") for i in range(n)
    ]


def test_every_stage_is_timed_and_the_step_is_as_before():
    judge = step.judge
    whole, stages = benchmark._least(some_documents(300), repeats=1)
    assert step.judge is judge
    assert list(stages) == list(benchmark.STAGES) and whole > 0.0
    assert all(stages[stage] > 0.0 for stage in ("text", "phrases", "novelty", "stories", "alerts", "verdicts"))


def test_the_table_has_a_row_for_each_stage_and_says_what_was_skipped():
    found = {"headlines": (250.0, dict.fromkeys(benchmark.STAGES, 1.0)), "articles": "skipped: no data"}
    rows = list(benchmark._rows(found))
    assert rows[0] == "articles: skipped: no data"
    assert sum(row.startswith(tuple(f"| {stage}:" for stage in benchmark.STAGES)) for row in rows) == len(
        benchmark.STAGES
    )
    assert rows[-1] == "| documents per second | 4,000 |"

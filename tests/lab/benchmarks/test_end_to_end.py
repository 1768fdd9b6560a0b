"""The end-to-end table: every stream and kind of topics has a line; the filled window repeats no text."""

from __future__ import annotations

import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest

from firststory import datasets
from firststory.lab.benchmarks import end_to_end, fused


@pytest.fixture
def texts():
    rng = np.random.default_rng(0)
    return [" ".join(f"word{w}" for w in rng.integers(0, 400, size=12)) for _ in range(120)]


def test_a_short_corpus_fills_a_long_window_without_a_repeated_text(texts):
    documents = end_to_end.stream(texts, window=300, new=30)
    assert len(documents) == 330
    assert [document.text for document in documents[-30:]] == texts[-30:]
    assert len({document.text for document in documents}) == 330
    assert all(a.time < b.time for a, b in itertools.pairwise(documents))


def test_a_line_tells_speed_store_latency_and_memory(monkeypatch, texts):
    monkeypatch.setattr(end_to_end, "SINGLE", 10)
    monkeypatch.setattr(end_to_end, "BATCH", 20)
    for topics in ("none", "nmf"):
        line = end_to_end.line("texts", texts, topics, window=200, measured=40)
        number = r"[\d,.]+"
        assert re.fullmatch(
            rf"\| texts \| {topics} \| {number} \| {number} \| {number} / {number} ms \| {number} s \| {number} MB \|",
            line,
        )
    assert len(end_to_end.head(200, 40)) == 4


def test_the_quick_run_prints_all_tables(monkeypatch, texts):
    corpus = SimpleNamespace(texts=texts)
    monkeypatch.setattr(datasets, "load_headlines", lambda: corpus, raising=False)
    monkeypatch.setattr(datasets, "load_articles", lambda: corpus, raising=False)
    monkeypatch.setattr(fused, "QUICK_WINDOW", 150)
    monkeypatch.setattr(fused, "QUICK_MEASURED", 20)
    monkeypatch.setattr(fused, "PEER_DOCUMENTS", 5)
    monkeypatch.setattr(end_to_end, "SINGLE", 10)
    text = fused.run(quick=True)
    assert text.count("| none |") == text.count("| nmf |") == 2
    assert text.count("firststory FusedNovelty") == 2


def test_missing_corpora_are_skipped_with_their_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRSTSTORY_DATA", str(tmp_path))
    text = fused.run(quick=True)
    assert text.count("skipped") >= 4

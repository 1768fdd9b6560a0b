"""The benchmark runs, and says so where a corpus is missing."""

from __future__ import annotations

import os

import pytest

from firststory.lab.benchmarks import vectorizer


def test_small_version_prints_every_job(monkeypatch):
    if not os.environ.get("FIRSTSTORY_DATA"):
        pytest.skip("FIRSTSTORY_DATA is not set: no corpora to measure on")
    monkeypatch.setattr(vectorizer, "CORPORA", {"News Articles 2017": "load_news2017"})
    monkeypatch.setattr(vectorizer, "QUICK_DOCUMENTS", 30)
    monkeypatch.setattr(vectorizer, "_peak", lambda *_: 1.0)
    text = vectorizer.run(quick=True)
    assert all(f"| {job.replace('|', ' | ')} |" in text for job in vectorizer.JOBS)
    monkeypatch.undo()


def test_missing_corpora_are_skipped_with_their_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRSTSTORY_DATA", str(tmp_path))
    monkeypatch.setattr(vectorizer, "CORPORA", {"All About headlines": "load_headlines"})
    assert "skipped, " in vectorizer.run(quick=True)

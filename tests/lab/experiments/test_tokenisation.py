"""The experiment runs in small and names every rule."""

from __future__ import annotations

import os

import pytest

from firststory.datasets import load_localnews
from firststory.lab.experiments import tokenisation


def test_small_version_has_a_line_a_rule(tmp_path, monkeypatch):
    if not os.environ.get("FIRSTSTORY_DATA"):
        pytest.skip("FIRSTSTORY_DATA is not set: no corpora")
    monkeypatch.setattr(tokenisation, "STREAMS", {"localnews incidents": load_localnews})
    text = tokenisation.run(quick=True, out=tmp_path)
    assert all(f"| {rule} | 0." in text for rule in tokenisation.RULES)

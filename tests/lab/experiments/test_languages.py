"""The experiment on streams in several languages."""

from __future__ import annotations

import pytest

from firststory.datasets import load_crisislex, load_news2017
from firststory.errors import DataError
from firststory.lab.experiments import EXPERIMENTS, languages


def test_quick_version_tells_every_part(tmp_path):
    try:
        load_crisislex(), load_news2017()
    except DataError:
        pytest.skip("the corpora are not here")
    text = languages.run(quick=True, out=tmp_path)
    assert EXPERIMENTS["languages"] == "languages"
    assert "| **all** |" in text and "| it |" in text
    assert "\nAn English stream (the first lines of 300 articles of news2017): 0 rows" in text

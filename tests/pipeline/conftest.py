"""Small streams for the tests of the pipeline."""

from __future__ import annotations

import pytest

from firststory.datasets import make_story_stream
from firststory.records import Position
from firststory.settings import load


@pytest.fixture(scope="session")
def news():
    """Two hundred made-up documents with re-posted texts among them."""
    return make_story_stream(200, 30, duplicates=0.1, sentences=3).documents


@pytest.fixture(scope="session")
def arrivals(news):
    return [(document, Position("news", {"line": i})) for i, document in enumerate(news)]


@pytest.fixture
def quick():
    """Settings with the plain neighbour and an English stream."""

    def make(**changes):
        return load(
            {"detector": "neighbour", "language": "en", "step": 20, "topics": "none", "save_every": 3} | changes
        )

    return make

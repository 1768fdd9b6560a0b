"""Stories of one kind are told apart: two floods share their words, not their story."""

from __future__ import annotations

import firststory as fs
from firststory.evaluate import evaluate_stream
from firststory.settings import Settings


def test_planted_stories_of_the_same_kind_stay_apart():
    stream = fs.datasets.make_story_stream(500, 50, background=0.0, random_state=3)
    said = evaluate_stream(stream, Settings(detector="fused", language="en", step=50, topics="none"))
    scores = said.story_scores()
    assert scores.f1 > 0.9
    assert 45 <= scores.n_stories <= 60

"""Events found from bodies: planted ones come back, and only first lines are shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from firststory.lab.experiments.headlines import group, headlines
from firststory.records import Document


def test_planted_events_come_back():
    rng = np.random.default_rng(0)
    everyday = [f"everyday{k}" for k in range(40)]
    documents, planted = [], []
    for i in range(60):
        event = int(rng.integers(5))
        own = [f"event{event}word{k}" for k in range(60)]
        body = " ".join([*rng.choice(own, 80), *rng.choice(everyday, 20)])
        time = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(hours=i)
        documents.append(Document(id=str(i), text=f"Headline {i}\n{body}", time=time))
        planted.append(event)
    found = headlines(documents, days=5.0)
    assert [d.text for d in found] == [f"Headline {i}" for i in range(60)]
    same = np.equal.outer([d.label for d in found], [d.label for d in found])
    np.testing.assert_array_equal(same, np.equal.outer(planted, planted))
    assert len(headlines([*documents, documents[0]], days=5.0, most=7)) == 7


def test_what_lies_days_apart_is_another_event():
    bodies = ["storm harbour bridge flood"] * 3 + ["fire forest smoke wind"] * 2
    assert group(bodies, np.array([0.0, 1.0, 30.0, 30.0, 30.5]), days=5.0) == [0, 0, 1, 2, 2]

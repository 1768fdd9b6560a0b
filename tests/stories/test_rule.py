"""The kernels do what the rule says: the same stories and log-odds as the plain version, on random streams."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.records import Document
from firststory.state import flatten, pack_state, unflatten, unpack_state
from firststory.stories.candidate import StoryCandidate
from firststory.stories.members import MAX_MEMBERS
from firststory.stories.tracker import StoryTracker
from stories.stories_twin import PlainTracker

START = datetime(2020, 1, 1, tzinfo=UTC)
N_DIMENSIONS = 5


def random_stream(seed, n, longest, with_times, with_vectors, in_common):
    """Documents of a few sources of words: candidates whose neighbours are some earlier documents of the same."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(6, N_DIMENSIONS))
    made, sources, day = [], [], 0.0
    for number in range(n):
        source = int(rng.integers(6))
        size = int(rng.integers(1, longest))
        origin = np.where(rng.random(size) < in_common, 1000, 100 * source)
        words = np.unique(origin + rng.integers(0, max(10, longest // 2), size=size))
        counts = rng.integers(1, 4, size=len(words)).astype(float)
        weights = rng.random(len(words)) + 0.1
        weights /= np.linalg.norm(weights)
        vector = centres[source] + 0.5 * rng.normal(size=N_DIMENSIONS)
        near = [k for k in range(number) if sources[k] == source or rng.random() < 0.05]
        day += rng.exponential(0.2)
        time = START + timedelta(days=day) if with_times and rng.random() < 0.95 else None
        candidate = StoryCandidate(
            Document(id=f"d{number}", text="", time=time),
            words,
            weights,
            ordinal=number,
            neighbours=rng.permutation(near[-20:])[:8],
            title_columns=words[rng.random(len(words)) < 0.2],
            counts=counts,
            vector=(vector / np.linalg.norm(vector)).astype(np.float32) if with_vectors else None,
        )
        made.append(candidate)
        sources.append(source)
    return made


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    longest=st.sampled_from([8, 40, 150]),
    with_times=st.booleans(),
    with_vectors=st.booleans(),
    in_common=st.sampled_from([0.02, 0.5]),
    step=st.sampled_from([1, 7, 40]),
)
def test_stories_are_those_of_the_plain_rule(seed, longest, with_times, with_vectors, in_common, step):
    candidates = random_stream(seed, 160, longest, with_times, with_vectors, in_common)
    tracker = StoryTracker(fade=1e9)
    plain = PlainTracker(tracker._rule, N_DIMENSIONS, MAX_MEMBERS)
    name_of = {}
    for start in range(0, len(candidates), step):
        block = candidates[start : start + step]
        keys = [plain.add(candidate, start + i) for i, candidate in enumerate(block)]
        assigned = tracker.assign(block)
        for i, (key, one) in enumerate(zip(keys, assigned, strict=True)):
            assert one.opened == (key == start + i)
            assert name_of.setdefault(key, one.story) == one.story
            assert one.closeness == pytest.approx(1 / (1 + np.exp(-plain.odds[start + i])), abs=1e-5)
        merged = {story.id: story.merged_into for story in tracker.end_step().stories if story.merged_into}
        assert merged == {name_of[key]: name_of[into] for key, into in plain.end_step().items()}
        tracker = StoryTracker.from_state(unflatten(unpack_state(pack_state(flatten(tracker.get_state())))))
    for number, key in plain.story_of.items():
        assert tracker.story_of(f"d{number}") == name_of[key]
    for story in tracker.stories():
        assert story.size == sum(name_of[key] == story.id for key in plain.story_of.values())

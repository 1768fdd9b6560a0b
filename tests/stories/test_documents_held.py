"""The documents of a story in the store are as many as the story says, through merges and resuming."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import numpy as np
import pytest

from firststory.growth import growth
from firststory.pipeline.runner import Runner
from firststory.records import Document, Position
from firststory.settings import Settings
from firststory.store.store import Store
from firststory.units import HOUR_SECONDS

START = datetime(2020, 1, 1, tzinfo=UTC)


def planted(seed):
    """Short texts of stories that are told in pieces: what stands alone at first joins, or is merged, later."""
    rng = np.random.default_rng(seed)

    def words(name, n, among):
        return [f"{name}n{k}" for k in rng.choice(among, size=n, replace=False)]

    stories = [[" ".join(words("everyday", 8, among=300)) for _ in range(60)]]
    for number in range(8):
        texts = []
        for _ in range(18):
            text = " ".join(words(f"story{number}", 7, among=16))
            texts += [text] * (1 + (rng.random() < 0.2))
            texts += [f"{text} {words('word', 1, among=20)[0]}"] * (rng.random() < 0.2)
        stories.append(texts)
    turns = rng.permutation(np.repeat(np.arange(len(stories)), [len(texts) for texts in stories]))
    texts = [iter(texts) for texts in stories]
    return [
        Document(f"d{i}", next(texts[which]), START + timedelta(hours=i), source=f"source {i % 5}")
        for i, which in enumerate(turns.tolist())
    ]


def arrivals(documents, store):
    done = store.status()["documents"]
    return ((document, Position("test", {})) for document in documents[done:])


def check(store):
    """Every story has the documents that it says it has; those of merged stories are in the one that is left."""
    listed = store.stories()
    now = max(verdict.document.time for verdict in store.verdicts()).timestamp()
    for story in listed:
        held = store.verdicts(story=story.id)
        assert sum(verdict.duplicate_of is None for verdict in held) == story.size
        assert sum(verdict.duplicate_of is not None for verdict in held) == story.duplicates
        assert story.representative in {verdict.document.id for verdict in held}
        assert set(story.sources) == {verdict.document.source for verdict in held}
        hours = [(int(verdict.document.time.timestamp() // HOUR_SECONDS), 1) for verdict in held]
        assert growth(story.hours, now) == growth(hours, now)
    ids = {story.id for story in listed}
    for story in store.stories(merged=True):
        (one,) = {verdict.story for verdict in store.verdicts(story=story.id)}
        assert one in ids and (one == story.id) == (story.status != "merged")
    texts = {verdict.document.id: verdict for verdict in store.verdicts()}
    assert all(v.story == texts[v.duplicate_of].story for v in texts.values() if v.duplicate_of and v.story)


@pytest.mark.parametrize("seed,step", [(0, 1), (1, 7), (2, 20), (3, 60)])
def test_what_a_story_says_it_has_is_what_the_store_has(tmp_path, seed, step):
    n_merged = 0
    with Store(tmp_path / "stories.db") as store:
        runner = Runner(Settings(topics="none", language="en", step=step), store)
        for n, taken in enumerate(runner.run(arrivals(planted(seed), store))):
            n_merged += sum(story.merged_into is not None for story in taken.stories)
            if step > 1 or n % 20 == 0:
                check(store)
        check(store)
    assert n_merged >= 3


def test_documents_are_where_they_were_after_a_replay(tmp_path):
    settings = Settings(topics="none", language="en", step=7, save_every=4)
    documents = planted(1)
    with Store(tmp_path / "whole.db") as whole:
        list(Runner(settings, whole).run(arrivals(documents, whole)))
        expected = whole.dump()
    n_runs, is_done = 0, False
    while not is_done:
        n_runs += 1
        with Store(tmp_path / "cut.db") as store:
            runner = Runner(settings, store)
            runner.save = lambda: None  # as in a killed process: what came after the last save is replayed
            n_steps = 1 + n_runs % 6
            is_done = len(list(islice(runner.run(arrivals(documents, store)), n_steps))) < n_steps
            if is_done:
                check(store)
                assert store.dump() == expected
    assert n_runs > 5

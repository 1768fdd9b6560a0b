"""Boilerplate: what was planted under the texts of one source is found there, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.state import flatten, pack_state, unflatten, unpack_state
from firststory.stories import boilerplate as module
from firststory.stories.boilerplate import Boilerplate

N_WORDS = 2000
FOOTER = np.arange(10, 16)


class Stream:
    """Documents of several sources; those of "footed" have most of the words of a footer."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.frequency = np.zeros(N_WORDS)
        self.n_documents = 0

    def document(self, source, extra=()):
        columns = self.rng.choice(np.arange(100, N_WORDS), size=30, replace=False)
        if source == "footed":
            columns = np.concatenate([columns, FOOTER[self.rng.random(len(FOOTER)) < 0.9]])
        columns = np.unique(np.concatenate([columns, np.asarray(extra, dtype=np.int64)]))
        self.frequency[columns] += 1
        self.n_documents += 1
        return columns

    def learn(self, boilerplate, source, extra=()):
        columns = self.document(source, extra)
        boilerplate.learn(source, columns, lambda asked: self.frequency[asked], self.n_documents)


def stripped(boilerplate, source, columns):
    weights = np.full(len(columns), len(columns) ** -0.5)
    return columns[boilerplate.strip(source, columns, weights) == 0.0].tolist()


def filled(n=150):
    stream, boilerplate = Stream(), Boilerplate()
    for i in range(n):
        stream.learn(boilerplate, ("footed", "plain", "other")[i % 3], extra=[1] if i % 4 else [])
    return stream, boilerplate


def test_a_planted_footer_is_ignored_in_its_source_alone():
    _, boilerplate = filled()
    columns = np.array([1, *FOOTER, 500, 900])  # 1 is everywhere: that is not a publisher's
    assert stripped(boilerplate, "footed", columns) == FOOTER.tolist()
    assert stripped(boilerplate, "plain", columns) == stripped(boilerplate, None, columns) == []
    assert stripped(boilerplate, "never heard of", columns) == []


def test_what_is_left_has_the_length_that_the_row_had():
    _, boilerplate = filled()
    weights = np.array([0.5, 0.5, 0.7, 0.1])
    found = boilerplate.strip("footed", np.array([10, 11, 500, 900]), weights)
    assert found[:2].tolist() == [0.0, 0.0] and found @ found == pytest.approx(weights @ weights)
    assert found[2] / found[3] == pytest.approx(7.0)
    only = boilerplate.strip("footed", np.array([10, 11]), np.array([0.6, 0.8]))
    assert only.tolist() == [0.6, 0.8]


def test_a_burst_in_one_source_is_no_boilerplate_but_a_word_that_stays_is():
    stream, boilerplate = Stream(1), Boilerplate()
    for i in range(200):
        stream.learn(boilerplate, "other")
        stream.learn(boilerplate, "third")
        stream.learn(boilerplate, "bursty", extra=[50] if 80 <= i < 96 else [])
        assert stripped(boilerplate, "bursty", np.array([50, 700])) == []
    for _ in range(48):
        stream.learn(boilerplate, "bursty", extra=[50])
        stream.learn(boilerplate, "other")
    assert stripped(boilerplate, "bursty", np.array([50, 700])) == [50]
    for _ in range(48):
        stream.learn(boilerplate, "bursty")
    assert stripped(boilerplate, "bursty", np.array([50, 700])) == []


def test_nothing_is_ignored_of_a_source_that_is_most_of_the_stream():
    stream, boilerplate = Stream(2), Boilerplate()
    for i in range(200):
        stream.learn(boilerplate, "footed" if i % 5 else "other")
    assert stripped(boilerplate, "footed", np.append(FOOTER, 700)) == []


def test_sources_are_bounded_and_those_not_heard_for_longest_go(monkeypatch):
    monkeypatch.setattr(module, "MAX_SOURCES", 5)
    stream, boilerplate = Stream(3), Boilerplate()
    for i in range(100):
        stream.learn(boilerplate, f"source {i}")
        stream.learn(boilerplate, "footed")
        stream.learn(boilerplate, "plain")
    assert boilerplate.get_state()["sources"] == ["source 97", "source 98", "source 99", "footed", "plain"]
    assert stripped(boilerplate, "footed", np.append(FOOTER, 700)) == FOOTER.tolist()


def test_state_and_new_numbers_give_the_same_future():
    stream, boilerplate = filled(140)
    blob = pack_state(flatten(boilerplate.get_state()))
    twin = Boilerplate.from_state(unflatten(unpack_state(blob)))
    assert pack_state(flatten(twin.get_state())) == blob
    moved = Boilerplate.from_state(unflatten(unpack_state(blob)))
    in_use = moved.columns_in_use()
    assert set(FOOTER.tolist()) <= set(in_use.tolist())
    new = np.full(N_WORDS, -1)
    new[in_use] = 3 + np.arange(len(in_use))
    moved.renumber(new)
    assert stripped(moved, "footed", np.append(new[FOOTER], 1900)) == new[FOOTER].tolist()
    for i in range(60):
        source = ("footed", "plain")[i % 2]
        columns = stream.document(source)
        for one in (boilerplate, twin):
            one.learn(source, columns, lambda asked: stream.frequency[asked], stream.n_documents)
    assert pack_state(flatten(twin.get_state())) == pack_state(flatten(boilerplate.get_state()))

"""Texts are read in blocks: the same rows, columns and state on every engine, and as without one."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.datasets import make_story_stream
from firststory.engines import open_engine
from firststory.engines.serial import SerialEngine
from firststory.state import pack_state
from firststory.text import StreamVectorizer, block_counting

NEWS = [document.text for document in make_story_stream(260, 30, sentences=4).documents]
TEXTS = [*NEWS, "", "The of and", "Ångström #StormDamage x" * 3, *(f"Only{i} once{i}" for i in range(40))]
PIPELINE = {"language": "en", "weighting": "count", "norm": None, "surface_weight": 2.0, "short": 30}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(block_counting, "BLOCK_TEXTS", 37)


class Watched(SerialEngine):
    maps = 0

    def map(self, *arguments):
        self.maps += 1
        return super().map(*arguments)


def learnt(engine, parameters):
    vectorizer = StreamVectorizer(**parameters)
    vectorizer.use_engine(engine)
    found = [
        vectorizer.partial_fit_with_counts(part) for part in (TEXTS[:90], TEXTS[90:100], TEXTS[100:], TEXTS[40:95])
    ]
    told = [vectorizer.last_tokens().of(3), vectorizer.last_surface_forms()[5], vectorizer.last_languages]
    return found, told, pack_state(vectorizer.get_state()), vectorizer.transform(TEXTS[:20])


def assert_same(one, other):
    for mine, its in zip(one[0], other[0], strict=True):
        for name in ("weights", "counts"):
            a, b = getattr(mine, name), getattr(its, name)
            assert a.shape == b.shape
            for part in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
                assert getattr(a, part).dtype == getattr(b, part).dtype
    assert one[1] == other[1] and one[2] == other[2]
    assert (one[3] != other[3]).nnz == 0


@pytest.mark.parametrize(
    "more", [{}, {"max_terms": 200}, {"weighting": "binary"}, {"language": None}, {"language": "de"}], ids=str
)
def test_serial_and_threads_are_what_no_engine_is(more):
    parameters = PIPELINE | more
    plain, watched = learnt(None, parameters), Watched()
    assert_same(learnt(watched, parameters), plain)
    assert watched.maps == 3
    for text in ("threads:2", "threads:3"):
        with open_engine(text) as engine:
            assert_same(learnt(engine, parameters), plain)


@pytest.mark.parametrize(
    "more",
    [{"weighting": "tfidf"}, {"norm": "l2"}, {"sublinear": True}, {"half_life": 9.0}, {"language": "auto"}],
    ids=str,
)
def test_where_a_row_depends_on_others_nothing_is_read_in_blocks(more):
    watched = Watched()
    assert_same(learnt(watched, PIPELINE | more), learnt(None, PIPELINE | more))
    assert not watched.maps


def test_a_cluster_of_one_two_or_three_workers_gives_the_same_bits(cluster):
    plain = learnt(None, PIPELINE)
    for n_workers in (1, 2, 3):
        while len(cluster.workers) < n_workers:
            cluster.workers.append(cluster.start_worker())
        with open_engine(cluster.address) as engine:
            assert_same(learnt(engine, PIPELINE), plain)

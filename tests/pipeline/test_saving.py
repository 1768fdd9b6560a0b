"""When the model is saved: often while it is small, and never for more than a part of the work."""

from __future__ import annotations

from dataclasses import fields

import pytest

from firststory.pipeline import resuming
from firststory.pipeline.build import build_core
from firststory.pipeline.parts import OF_JUDGING, OF_PLACING
from firststory.pipeline.resuming import Work
from firststory.records import Batch, Document
from firststory.settings import load
from firststory.state import pack_state, unpack_state


@pytest.fixture(params=["storylines", "nmf"])
def news_core(request):
    core = build_core(load({"topics": request.param, "language": "en", "topic_step": 20}))
    texts = [f"Flood {i % 7} closes Bremen bridge {i % 11}, police of town {i} say" for i in range(60)]
    for index in range(3):
        some = enumerate(texts[20 * index : 20 * index + 20], 20 * index)
        core.step(Batch(index, tuple(Document(f"d{i}", text, source=f"paper {i % 3}") for i, text in some)))
    return core


def saved_at(documents, step, save_every, window=10**9):
    """After how many documents a stream saves its model."""
    work, found, last = Work(), [], 0
    for n in range(1, documents // step + 1):
        with work.counted(step):
            pass
        if work.is_save_due(n - last, save_every):
            with work.saved(min(n * step, window)):
                pass
            found.append(n * step)
            last = n
    return found


def test_a_model_twice_as_large_is_saved_half_as_often():
    assert saved_at(200_000, step=100, save_every=200) == [20_000, 40_000, 80_000, 160_000]
    assert saved_at(4_000, step=1, save_every=200) == [200, 400, 800, 1_600, 3_200]


def test_a_full_window_is_saved_whenever_it_was_filled_anew():
    assert saved_at(80_000, step=100, save_every=200, window=20_000) == [20_000, 40_000, 60_000, 80_000]


def test_half_the_steps_are_half_the_documents():
    *_, one, other = saved_at(200_000, step=100, save_every=100, window=40_000)
    assert other - one == 20_000
    assert saved_at(100, step=10, save_every=1) == list(range(10, 101, 10))


def test_saving_costs_the_same_for_every_document_however_long_the_stream():
    for documents in (10**4, 10**5, 10**6):
        held = saved_at(documents, step=100, save_every=200)
        assert sum(held) <= 2 * documents


def test_the_model_packed_at_once_is_the_model_that_was_copied(news_core):
    halves = news_core.pieces_of_judging(), news_core.pieces_of_placing()
    packed = [(length, b"".join(pieces)) for length, pieces in halves]
    assert all(length == len(blob) for length, blob in packed)
    apart = [unpack_state(blob) for _, blob in packed]
    assert not set(apart[0]) & set(apart[1])
    whole = news_core.get_state()
    assert pack_state(apart[0] | apart[1]) == pack_state(whole)
    assert pack_state(unpack_state(b"".join(blob for _, blob in packed))) == pack_state(whole)


def test_every_part_that_learns_is_of_one_half(news_core):
    parts = news_core.parts
    learns = {one.name for one in fields(parts) if hasattr(getattr(parts, one.name), "get_state")}
    assert not OF_JUDGING & OF_PLACING and learns <= OF_JUDGING | OF_PLACING
    assert {name.split("/")[1] for name in news_core.get_state() if name.startswith("parts/")} == learns


def test_much_work_is_saved_whatever_the_size(monkeypatch):
    clock = iter(range(10**9))
    monkeypatch.setattr(resuming.time, "perf_counter", lambda: float(next(clock)))  # each step takes one second
    monkeypatch.setattr(resuming, "WORK_FOR_A_SAVE", 5)
    assert saved_at(400, step=10, save_every=1000) == [100, 200, 300, 400]

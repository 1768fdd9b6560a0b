"""When the model is saved: often while it is small, and never for more than a part of the work."""

from __future__ import annotations

from firststory.pipeline import resuming
from firststory.pipeline.resuming import Work


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
    assert saved_at(50_000, step=100, save_every=50) == [5_000, 10_000, 20_000, 40_000]
    assert saved_at(1_000, step=1, save_every=50) == [50, 100, 200, 400, 800]


def test_a_full_window_is_saved_whenever_it_was_filled_anew():
    assert saved_at(20_000, step=100, save_every=50, window=5_000) == [5_000, 10_000, 15_000, 20_000]


def test_half_the_steps_are_half_the_documents():
    *_, one, other = saved_at(30_000, step=100, save_every=25, window=10_000)
    assert other - one == 5_000
    assert saved_at(100, step=10, save_every=1) == list(range(10, 101, 10))


def test_saving_costs_the_same_for_every_document_however_long_the_stream():
    for documents in (10**4, 10**5, 10**6):
        held = saved_at(documents, step=1_000, save_every=1)
        assert sum(held) <= 60 * documents
        held = saved_at(documents, step=100, save_every=50)
        assert sum(held) <= 2.1 * documents


def test_much_work_is_saved_whatever_the_size(monkeypatch):
    clock = iter(range(10**9))
    monkeypatch.setattr(resuming.time, "perf_counter", lambda: float(next(clock)))  # each step takes one second
    monkeypatch.setattr(resuming, "WORK_FOR_A_SAVE", 5)
    assert saved_at(400, step=10, save_every=1000) == [100, 200, 300, 400]

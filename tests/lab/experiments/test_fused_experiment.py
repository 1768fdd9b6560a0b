"""The experiments on the default detector on tiny planted streams: nothing is left out, and no score looks ahead."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from firststory.detectors.fused_novelty import FusedNovelty
from firststory.lab.experiments import fused_details, fused_novelty, fused_trials, plain_neighbour
from firststory.lab.experiments.fused_measure import RecordingNovelty, Setting, Yardstick
from firststory.lab.experiments.fused_streams import LabelledRows, pieces, shuffled


def planted(corpus, seed, n=60, name="planted", timed=True):
    rng = np.random.default_rng(seed)
    order = np.sort(rng.integers(8, size=n) + rng.uniform(0, 2.5, size=n))
    labels = np.empty(n, dtype=object)
    labels[:] = [f"event {int(value)}" for value in order]
    topics = rng.dirichlet(np.full(80, 0.05), size=12)
    everyday = rng.dirichlet(np.full(80, 0.3))
    counts = np.stack([rng.multinomial(6, topics[int(value)]) + rng.multinomial(14, everyday) for value in order])
    rows = sp.csr_matrix(counts, dtype=float)
    return LabelledRows(f"{corpus}: {name}", corpus, rows, rows, 86400.0 * order if timed else None, labels)


def test_the_page_is_complete(monkeypatch, tmp_path):
    streams = [
        planted("one", 0, n=1000),
        planted("two", 1, n=1000, timed=False),
        planted("three", 2, name="planted (duplicates)", n=1000),
        planted("four", 3, name="planted (broad)"),
    ]
    monkeypatch.setattr(fused_novelty, "development_streams", lambda quick: iter(streams))
    text = fused_novelty.run(quick=True, out=tmp_path)
    for part in (
        "In short", "Each stream", "left out", "dense, with times", "shuffled", "short, without times",
        "duplicates, with times", "broad, horizon=", "Worst of these: ",
    ):  # fmt: skip
        assert part in text
    assert "nan" not in text and text.count("\n") < 80
    assert (tmp_path / "fused-novelty-shares.png").stat().st_size > 1000


def test_details_have_a_row_for_every_stream(monkeypatch, tmp_path):
    monkeypatch.setattr(
        fused_details, "development_streams", lambda quick: iter([planted("one", 0), planted("two", 1)])
    )
    text = fused_details.run(quick=True, out=tmp_path)
    assert text.count("| one: planted |") == text.count("| two: planted |") == 2
    assert all(name in text for name in (*fused_details.RULES, *fused_details.PARTS, "uniform clock", "ten a day"))
    assert "nan" not in text


def test_a_recorded_score_is_that_of_the_detector():
    stream = planted("one", 4, n=300)
    recording = RecordingNovelty()
    score = recording.score_then_learn(stream.effective, times=stream.times)
    np.testing.assert_array_equal(score, FusedNovelty().score_then_learn(stream.effective, times=stream.times))
    np.testing.assert_allclose(recording.score_with(Setting()), score, atol=1e-12)
    assert np.abs(recording.score_with(Setting(best=1)) - score).max() > 1e-3


def test_shares_are_of_the_plain_neighbour_and_paired():
    stream = planted("one", 5, n=200)
    yardstick = Yardstick(stream, 30)
    plain = yardstick.measure(plain_neighbour.plain_neighbour(stream.plain))
    assert plain.share == 1.0 and plain.auc_gain == 0.0 and plain.interval == (1.0, 1.0)
    perfect = yardstick.measure(stream.first.astype(float))
    assert perfect.share == 0.0 and perfect.auc == 1.0 and perfect.interval == (0.0, 0.0)


def test_a_shuffled_stream_has_the_same_documents_and_no_times():
    stream = planted("one", 6)
    mixed = shuffled(stream)
    assert mixed.times is None and sorted(mixed.labels) == sorted(stream.labels)
    assert (mixed.labels != stream.labels).any() and mixed.first.sum() == stream.first.sum()
    assert mixed.effective.sum() == stream.effective.sum()


def test_pieces_are_streams_of_their_own():
    lengths = [len(piece.labels) for piece in pieces(planted("one", 7, n=3500))]
    assert lengths and set(lengths) == {600, 2000}
    assert not list(pieces(planted("one", 7, n=700)))


@pytest.mark.parametrize(("name", "n", "kind"), [("planted", 60, "sparse"), ("planted", 600, "dense"),
                                                 ("planted (broad)", 60, "broad")])  # fmt: skip
def test_the_kind_of_a_stream(name, n, kind):
    assert planted("one", 8, n=n, name=name).kind == kind


def test_idf_knows_the_past_only():
    counts = planted("one", 2).plain
    whole = sp.vstack(list(plain_neighbour.tfidf_steps(counts, 20)))
    part = sp.vstack(list(plain_neighbour.tfidf_steps(counts[:40], 20)))
    np.testing.assert_array_equal(whole[:40].toarray(), part.toarray())
    one_by_one = sp.vstack(list(plain_neighbour.tfidf_steps(counts, 1)))
    np.testing.assert_allclose(plain_neighbour.tfidf_rows(counts).toarray(), one_by_one.toarray())


def test_every_trial_has_its_column(monkeypatch, tmp_path):
    monkeypatch.setattr(fused_trials, "development_streams", lambda quick: iter([planted("one", 0)]))
    text = fused_trials.run(quick=True, out=tmp_path)
    assert all(f"*{name}*" in text for name in fused_trials.TRIALS)
    assert text.count("| one: planted |") == 1 and "nan" not in text


def test_a_rank_knows_the_past_only():
    np.testing.assert_array_equal(fused_trials._rank_in_past(np.array([3.0, 1.0, 2.0, 9.0])), [1.0, 0.0, 0.5, 1.0])

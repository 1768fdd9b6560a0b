"""The fused-novelty experiment on a tiny planted stream: every table is there, and no score looks ahead."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from firststory.lab.experiments import fused_novelty, fused_trials, plain_neighbour
from firststory.lab.experiments.fused_streams import LabelledRows


def planted(corpus, seed):
    rng = np.random.default_rng(seed)
    order = np.sort(rng.integers(8, size=60) + rng.uniform(0, 2.5, size=60))
    labels = np.empty(60, dtype=object)
    labels[:] = [f"event {int(value)}" for value in order]
    topics = rng.dirichlet(np.full(80, 0.05), size=12)
    counts = np.stack([rng.multinomial(20, topics[int(value)]) for value in order])
    rows = sp.csr_matrix(counts, dtype=float)
    return LabelledRows(f"{corpus}: planted", corpus, rows, rows, rows, 86400.0 * order, labels)


def test_the_tables_are_complete(monkeypatch, tmp_path):
    streams = [planted("one", 0), planted("two", 1)]
    monkeypatch.setattr(fused_novelty, "development_streams", lambda quick: iter(streams))
    text = fused_novelty.run(quick=True, out=tmp_path)
    for part in ("Side by side", "Leave one corpus out", "uniform clock", "Against the goal", "l1-dictionary"):
        assert part in text
    assert text.count("| one: planted |") >= 3
    assert (tmp_path / "fused-novelty-ratios.png").stat().st_size > 1000


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

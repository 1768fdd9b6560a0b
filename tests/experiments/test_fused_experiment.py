"""The fused-novelty experiment on a tiny planted stream: every table is there, and no score looks ahead."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from firststory.experiments import fused_novelty
from firststory.experiments.fused_streams import LabelledRows


def planted(corpus, seed):
    rng = np.random.default_rng(seed)
    order = np.sort(rng.integers(8, size=60) + rng.uniform(0, 2.5, size=60))
    labels = np.empty(60, dtype=object)
    labels[:] = [f"event {int(value)}" for value in order]
    topics = rng.dirichlet(np.full(80, 0.05), size=12)
    counts = np.stack([rng.multinomial(20, topics[int(value)]) for value in order])
    rows = sp.csr_matrix(counts, dtype=float)
    return LabelledRows(f"{corpus}: planted", corpus, rows, rows, 86400.0 * order, labels)


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
    whole = sp.vstack(list(fused_novelty._tfidf_steps(counts, 20)))
    part = sp.vstack(list(fused_novelty._tfidf_steps(counts[:40], 20)))
    np.testing.assert_array_equal(whole[:40].toarray(), part.toarray())

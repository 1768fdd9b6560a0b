"""LSH with enough tables is the exact neighbour; k-term hashing is the share of unseen sets of terms."""

from __future__ import annotations

import os
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.lab.experiments.hashing_yardsticks import run
from firststory.lab.experiments.kterm_hashing import KTermHashing
from firststory.lab.experiments.lsh_neighbour import LshNeighbour

needs_data = pytest.mark.skipif(not os.environ.get("FIRSTSTORY_DATA"), reason="needs the corpora (FIRSTSTORY_DATA)")


def rows_of(n=120, width=40, seed=0):
    rng = np.random.default_rng(seed)
    return sp.csr_matrix(rng.random((n, width)) * (rng.random((n, width)) < 0.2))


def exact(rows):
    return fs.NearestNeighbour().score_then_learn(rows)


def test_enough_tables_find_the_exact_neighbour():
    """One bit and forty tables: two rows that share a term miss each other with a chance of at most 2^-40."""
    rows = rows_of()
    lsh = LshNeighbour(bits=1, tables=40, latest=0, bucket_size=1000)
    np.testing.assert_allclose(lsh.novelty(rows), exact(rows), atol=1e-9)


def test_few_tables_miss_neighbours_and_the_latest_documents_bring_them_back():
    rows = rows_of()
    few = LshNeighbour(bits=13, tables=2, latest=0)
    assert (few.novelty(rows) >= exact(rows) - 1e-9).all(), "a sample of neighbours is never nearer"
    assert few.novelty(rows).mean() > exact(rows).mean() + 0.1
    helped = LshNeighbour(bits=13, tables=2, latest=len(rows.indptr), far_distance=0.0)
    np.testing.assert_allclose(helped.novelty(rows), exact(rows), atol=1e-9)


def test_buckets_are_seeded_and_their_oldest_documents_leave():
    rows = rows_of()
    np.testing.assert_array_equal(LshNeighbour().novelty(rows), LshNeighbour().novelty(rows))
    repeated = sp.csr_matrix(np.vstack([np.eye(3)[0], *[[0.0, 1.0, 0.0]] * 4, np.eye(3)[0]]))
    forgets = LshNeighbour(bits=0, tables=2, latest=0, bucket_size=4)
    assert forgets.novelty(repeated)[-1] == 1.0, "four others came in between"
    assert LshNeighbour(bits=0, tables=2, latest=0, bucket_size=5).novelty(repeated)[-1] == 0.0


def test_k_terms_equal_sets_of_terms():
    rows = rows_of(n=60, width=30)
    seen, known = set(), []
    for row in rows:
        heavy = row.indices[np.argsort(-row.data, kind="stable")[:5]]
        shares = []
        for size in range(1, min(3, len(heavy)) + 1):
            sets = [frozenset(c) for c in combinations(heavy.tolist(), size)]
            shares.append(np.mean([s not in seen for s in sets]))
            seen.update(sets)
        known.append(np.mean(shares) if shares else 0.0)
    np.testing.assert_allclose(KTermHashing(max_terms=5).novelty(rows), known, atol=1e-12)


@needs_data
def test_the_experiment_prints_every_detector(tmp_path):
    text = run(quick=True, out=tmp_path)
    assert all(f"| {corpus}: " in text for corpus in ("news2017", "tweets", "tdt2"))
    assert text.count("k-term hashing ahead") + text.count("k-term hashing behind") + text.count(
        "k-term hashing not told apart"
    ) == text.count("\n- ")

"""The nearest rows against all cosines of the window."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from firststory.detectors.fused_novelty import KNOBS
from firststory.kernels.fused.index import FusedIndex
from firststory.kernels.fused.rows import longest_walked, nearest_rows
from firststory.kernels.neighbours.window import NEXT, OLDEST

GENTLE = KNOBS["gentle"]


def filled(rng, n, width, window):
    """An index that forgot its first rows: a few everyday terms, many rare ones."""
    likely = np.concatenate([np.full(6, 0.5), np.full(width - 6, 6.0 / width)])
    dense = np.where(rng.random((n, width)) < likely, 1.0 + rng.random((n, width)), 0.0)
    rows = sp.csr_matrix(dense)
    index, days = FusedIndex(), np.sort(rng.random(n)) * 40.0
    index.follow(
        rows.indptr, rows.indices, rows.data, days, days, width=width, k=3, window=window, max_age=math.inf, budget=1,
        knobs=GENTLE,
    )  # fmt: skip
    return index, dense, days


@pytest.mark.parametrize(("width", "n_terms"), [(40, 9), (2000, 6), (2000, 2), (60, 1)])
def test_the_k_best_are_the_true_ones(width, n_terms):
    rng = np.random.default_rng(width + n_terms)
    index, dense, days = filled(rng, 730, width, 500)
    lists, log, rows, idf2, common, _, _ = index._past()
    assert common.any() and rows.share.max() > 0.3
    alive = np.arange(index.meta[OLDEST], index.meta[NEXT])
    weighted = dense[alive] * idf2 * index.inverse[alive % len(index.born)][:, None]
    for _ in range(40):
        # Terms of a row of the window, and now and then everyday ones only.
        terms = np.sort(rng.permutation(np.flatnonzero(dense[rng.choice(alive)]))[:n_terms])
        if rng.random() < 0.3:
            terms = np.arange(min(n_terms, 6))
        values = 1.0 + rng.random(len(terms))
        query = values * idf2[terms]
        inverse_norm = 1.0 / math.sqrt(values @ query)
        cosines = np.minimum(1.0, weighted[:, terms] @ values * inverse_norm)
        aged = cosines * (1.0 + 41.0 - days[alive]) ** (-0.6 * (1.0 - cosines) ** 3)
        best = np.argsort(-aged, kind="stable")[:4]
        scores, found, ordinals = np.zeros(4), np.zeros(4), np.full(4, -1)
        nearest_rows(
            terms, values, query, inverse_norm, 41.0, 0.6, 3.0, 1, index.meta, lists, log, rows, common,
            index.scratch, scores, found, ordinals,
        )  # fmt: skip
        np.testing.assert_allclose(scores, aged[best], atol=1e-12)
        known = scores > 0.0
        np.testing.assert_allclose(found[known], cosines[ordinals[known] - alive[0]], atol=1e-12)
        assert len(set(ordinals[known])) == known.sum() and (ordinals[~known] == -1).all()
        assert not index.scratch.dots.any() and not index.scratch.spread.any()


def test_the_longest_lists_are_left_out_unless_they_weigh_much():
    length, terms = np.array([5, 500, 40, 90, 0]), np.array([0, 1, 2, 3, 4, 8])
    ones = np.ones(6)
    assert longest_walked(terms, ones, length, 1000) == 500
    assert 90 <= longest_walked(terms, ones, length, 200) < 500
    assert 40 <= longest_walked(terms, ones, length, 50) < 90
    assert longest_walked(terms, ones, length, 0) < 5
    heavy = np.where(terms == 3, 3.0, 1.0)
    assert 10 <= longest_walked(terms, heavy, length, 100) < 40

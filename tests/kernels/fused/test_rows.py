"""The nearest rows against all cosines of the window."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from firststory.kernels.fused.index import FusedIndex
from firststory.kernels.fused.layout import Batch, Nearest, Query
from firststory.kernels.fused.rows import NOT_WANTED, longest_walked, nearest_rows
from firststory.kernels.fused.rule import Rule
from firststory.kernels.neighbours.window import NEXT, OLDEST

RULE = Rule()


def filled(rng, n, width, window):
    """An index that forgot its first rows: a few everyday terms, many rare ones."""
    likely = np.concatenate([np.full(6, 0.5), np.full(width - 6, 6.0 / width)])
    dense = np.where(rng.random((n, width)) < likely, 1.0 + rng.random((n, width)), 0.0)
    rows = sp.csr_matrix(dense)
    index, days = FusedIndex(), np.sort(rng.random(n)) * 40.0
    batch = Batch(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)
    index.follow(batch, days, width=width, k=3, window=window, max_age=math.inf, max_postings=1, rule=RULE)
    return index, dense, days


@pytest.mark.parametrize(("width", "n_terms"), [(40, 9), (2000, 6), (2000, 2), (60, 1)])
@pytest.mark.parametrize(("kappa", "wanted"), [(3.0, False), (3.0, True), (0.0, True)])
def test_the_k_best_are_the_true_ones(width, n_terms, kappa, wanted):
    rng = np.random.default_rng(width + n_terms)
    index, dense, days = filled(rng, 730, width, 500)
    past = index.past(RULE)
    idf2 = past.idf2
    assert past.window.common.any() and past.window.rows.share.max() > 0.3
    alive = np.arange(index.meta[OLDEST], index.meta[NEXT])
    weighted = dense[alive] * idf2 * index.inverse[alive % len(index.born)][:, None]
    for _ in range(40):
        # Terms of a row of the window, and now and then everyday ones only.
        terms = np.sort(rng.permutation(np.flatnonzero(dense[rng.choice(alive)]))[:n_terms])
        if rng.random() < 0.3:
            terms = np.arange(min(n_terms, 6))
        values = 1.0 + rng.random(len(terms))
        inverse_norm = 1.0 / math.sqrt(values @ (values * idf2[terms]))
        cosines = np.minimum(1.0, weighted[:, terms] @ values * inverse_norm)
        aged = cosines * (1.0 + 0.5 * (41.0 - days[alive])) ** (-0.6 * (1.0 - cosines) ** kappa)
        best = np.argsort(-aged, kind="stable")[:4]
        nearest = Nearest(
            np.zeros(4),
            np.zeros(4),
            np.full(4, -1),
            np.zeros(4),
            np.zeros(4),
            np.full(1, 0.0 if wanted else NOT_WANTED),
            np.full(1, -1),
        )
        query = Query(terms, values, values * idf2[terms], inverse_norm, 41.0, 41.0, 0.5, 0.6, 0.4, kappa, 0.2)
        nearest_rows(query, 1, past.window, index.scratch, nearest)
        np.testing.assert_allclose(nearest.scores, aged[best], atol=1e-12)
        known = nearest.scores > 0.0
        ordinals = nearest.ordinals
        np.testing.assert_allclose(nearest.cosines[known], cosines[ordinals[known] - alive[0]], atol=1e-12)
        places = ordinals[known] - alive[0]
        np.testing.assert_allclose(nearest.ages[known], 0.5 * (41.0 - days[ordinals[known]]), atol=1e-12)
        single = (weighted[places][:, terms] * values).max(axis=1) * inverse_norm
        np.testing.assert_allclose(nearest.strongest[known], single, atol=1e-12)
        assert len(set(ordinals[known])) == known.sum() and (ordinals[~known] == -1).all()
        if wanted and cosines.max() > 0.0:
            # The best whatever its age.
            assert nearest.plain_cosine[0] == pytest.approx(cosines.max(), abs=1e-12)
            assert cosines[nearest.plain_ordinal[0] - alive[0]] == pytest.approx(cosines.max(), abs=1e-12)
        else:
            assert nearest.plain_ordinal[0] == -1
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

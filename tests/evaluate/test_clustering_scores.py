"""B-cubed against its definition, document by document."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.evaluate import b_cubed, clustering_scores


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
@settings(max_examples=80, deadline=None)
def test_b_cubed_equals_its_definition(pairs):
    truth, found = np.array(pairs).T
    precision = np.mean([np.mean(truth[found == found[i]] == truth[i]) for i in range(len(truth))])
    recall = np.mean([np.mean(found[truth == truth[i]] == found[i]) for i in range(len(truth))])
    result = b_cubed(truth, found)
    assert result.precision == pytest.approx(precision) and result.recall == pytest.approx(recall)


def test_perfect_and_unlabelled():
    scores = clustering_scores(["a", None, "b", "a"], ["x", "x", "y", "x"])
    assert scores["b_cubed_f1"] == scores["nmi"] == scores["ari"] == 1.0
    assert scores["n_clusters"] == 2

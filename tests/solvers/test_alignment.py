from __future__ import annotations

import numpy as np

from firststory.solvers.alignment import match_topics


def test_shuffled_topics_find_their_places():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(20, 0.1), size=6)
    shuffle = rng.permutation(6)
    moved = np.hstack([topics[shuffle], np.zeros((6, 3))]) + 1e-4
    np.testing.assert_array_equal(shuffle[match_topics(topics, moved)], np.arange(6))


def test_zero_rows_do_not_matter():
    assert sorted(match_topics(np.zeros((3, 4)), np.eye(3, 4))) == [0, 1, 2]

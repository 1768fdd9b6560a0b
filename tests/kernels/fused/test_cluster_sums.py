"""What clusters hold of each term against the same sums over dense rows."""

from __future__ import annotations

import numpy as np

from firststory.kernels.fused.cluster_sums import ClusterSums, add_row, remove_row
from firststory.kernels.fused.layout import Lists

WIDTH, N_CLUSTERS = 12, 7


def some_rows(n=40):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((n, WIDTH)) < 0.4, 1.0 + rng.random((n, WIDTH)), 0.0)
    return dense, rng.integers(0, N_CLUSTERS, size=n).astype(np.int32), rng.random(n)


def posting_lists(dense):
    length = (dense > 0).sum(axis=0)
    start = np.concatenate([[0], np.cumsum(length)[:-1]])
    return Lists(start, length, length.copy(), np.nonzero(dense.T)[1].astype(np.int32), dense.T[dense.T > 0])


def expected_sums(dense, cluster, inverse):
    sums = np.zeros((N_CLUSTERS, WIDTH))
    np.add.at(sums, cluster, dense * inverse[:, None])
    return sums


def as_dense(sums):
    found = np.zeros((N_CLUSTERS, WIDTH))
    for v in range(WIDTH):
        own = slice(sums.start[v], sums.start[v] + sums.length[v])
        np.add.at(found[:, v], sums.members[own], sums.weights[own])
    return found


def gathered(dense, cluster, inverse):
    sums = ClusterSums()
    sums.forget(WIDTH)
    sums.gather(None, posting_lists(dense), cluster, inverse, N_CLUSTERS)
    return sums


def test_sums_are_those_of_the_dense_rows():
    dense, cluster, inverse = some_rows()
    sums = gathered(dense, cluster, inverse)
    expected = expected_sums(dense, cluster, inverse)
    np.testing.assert_allclose(as_dense(sums), expected)
    np.testing.assert_array_equal(sums.length, (expected > 0).sum(axis=0))


def test_rows_come_and_go():
    dense, cluster, inverse = some_rows()
    sums = gathered(dense[:30], cluster[:30], inverse[:30])
    for i in range(30, 40):
        terms = np.flatnonzero(dense[i])
        sums.make_room(terms)
        add_row(terms, dense[i, terms], inverse[i], cluster[i], sums.lists, sums.used)
        oldest = np.flatnonzero(dense[i - 30]).astype(np.int32)
        remove_row(oldest, dense[i - 30, oldest], inverse[i - 30], cluster[i - 30], sums.lists)
    expected = expected_sums(dense[10:], cluster[10:], inverse[10:])
    np.testing.assert_allclose(as_dense(sums), expected, atol=1e-14)
    sums.forget(WIDTH)
    sums.gather(None, posting_lists(dense[10:]), cluster[10:], inverse[10:], N_CLUSTERS)
    np.testing.assert_allclose(as_dense(sums), expected)


def test_sums_are_gathered_when_their_terms_come():
    """A row comes after the sums were forgotten: the same bits as if all had been gathered at once."""
    dense, cluster, inverse = some_rows()
    at_once, later = gathered(dense[:39], cluster[:39], inverse[:39]), ClusterSums()
    later.forget(WIDTH)
    rows = posting_lists(dense[:39]), cluster[:39], inverse[:39], N_CLUSTERS
    terms = np.flatnonzero(dense[39])
    later.gather(terms, *rows)
    assert later.behind.sum() == WIDTH - len(terms) and (later.length > 0).sum() == len(terms)
    whole = []
    for sums in (at_once, later):
        sums.make_room(terms)
        add_row(terms, dense[39, terms], inverse[39], cluster[39], sums.lists, sums.used)
        whole.append(sums.gathered(*rows))
    assert whole[0] is at_once and not whole[1].is_behind
    assert later.behind.sum() == WIDTH - len(terms)  # asking for the whole changes nothing
    for name, part in whole[0].get_state().items():
        np.testing.assert_array_equal(part, whole[1].get_state()[name])


def test_it_grows_with_the_terms_and_gathers_whatever_the_room():
    dense, cluster, inverse = some_rows(400)
    sums = ClusterSums()
    sums.members, sums.weights = np.zeros(4, dtype=np.int32), np.zeros(4)
    sums.forget(WIDTH)
    sums.gather(None, posting_lists(dense), cluster, inverse, N_CLUSTERS)
    sums.widen(WIDTH + 5)
    assert sums.length[WIDTH:].tolist() == [0] * 5
    np.testing.assert_allclose(as_dense(sums), expected_sums(dense, cluster, inverse))


def test_state_is_the_lists_in_their_order():
    dense, cluster, inverse = some_rows()
    sums = gathered(dense, cluster, inverse)
    sums.widen(WIDTH + 3)
    again = ClusterSums.from_state(sums.get_state())
    for name, part in sums.get_state().items():
        np.testing.assert_array_equal(part, again.get_state()[name])
    np.testing.assert_array_equal(as_dense(again), as_dense(sums))

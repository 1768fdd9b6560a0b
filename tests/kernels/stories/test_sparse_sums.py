"""The heaviest entries of sparse rows, and whether rows are in order; sums over a story's members."""

from __future__ import annotations

import numpy as np

from firststory.kernels.stories.layout import Members, Stories
from firststory.kernels.stories.membership import add_up, centrality, heaviest_of
from firststory.kernels.stories.row_table import new_table
from firststory.kernels.stories.sparse_sums import heaviest, in_order, places_of_smallest

WIDTH = 40


def row(rng, n):
    columns = np.sort(rng.choice(WIDTH, size=n, replace=False)).astype(np.int32)
    return columns, rng.integers(1, 5, size=n) / 4.0


def test_the_heaviest_come_first_and_of_equals_the_smaller_column():
    rng = np.random.default_rng(2)
    for n in (0, 1, 3, 8, 50):
        columns, weights = row(rng, 25)
        expected = columns[np.lexsort((columns, -weights))[:n]]
        assert heaviest(columns, weights, n).tolist() == expected.tolist()
        mixed = rng.permutation(len(columns))
        assert heaviest(columns[mixed], weights[mixed], n).tolist() == expected.tolist()
    assert heaviest(np.empty(0, np.int32), np.empty(0), 5).tolist() == []


def test_the_smallest_stay_in_order_and_of_equals_the_first():
    rng = np.random.default_rng(4)
    for n, most in ((40, 3), (40, 1000), (1, 5), (7, 2)):
        values = rng.integers(0, most, size=n + int(rng.integers(1, 200))) / 8.0
        expected = np.sort(np.argsort(values, kind="stable")[:n])
        assert places_of_smallest(values, n).tolist() == expected.tolist()


def test_order_is_told():
    assert in_order(np.array([1, 2, 9], dtype=np.int32))
    assert in_order(np.empty(0, dtype=np.int32))
    assert not in_order(np.array([1, 1], dtype=np.int32))
    assert not in_order(np.array([2, 1], dtype=np.int32))


def members_and_stories(rng, sizes):
    """Stories of so many members, in any places; and the dense rows and title rows of each."""
    total = sum(sizes)
    rows = [row(rng, int(rng.integers(1, 20))) for _ in range(total)]
    length = np.array([len(columns) for columns, _ in rows])
    titles = [np.where(rng.random(n) < 0.5, rng.random(n), 0.0) * (rng.random() < 0.8) for n in length]
    members = Members(
        columns=np.concatenate([columns for columns, _ in rows]),
        weights=np.concatenate([weights for _, weights in rows]).astype(np.float32),
        title_weights=np.concatenate(titles).astype(np.float32),
        start=np.cumsum(length) - length,
        length=length,
        log_terms=np.log(length),
        time=np.zeros(total),
        ordinal=np.arange(total),
        vector=rng.normal(size=(total, 3)).astype(np.float32),
    )
    n = len(sizes)
    places = rng.permutation(total)
    its, at = np.zeros((n, max(sizes)), np.int64), 0
    for slot, size in enumerate(sizes):
        its[slot, :size] = np.sort(places[at : at + size])
        at += size
    whole = np.zeros(n, np.int64)
    stories = Stories(
        whole, whole, np.array(sizes), its, np.zeros(n), np.zeros(n), whole, whole, np.zeros(n), np.zeros((n, 3)),
        whole, np.zeros(n),
    )  # fmt: skip
    dense, dense_titles = np.zeros((total, WIDTH)), np.zeros((total, WIDTH))
    for m, (columns, weights) in enumerate(rows):
        dense[m, columns], dense_titles[m, columns] = weights, titles[m]
    return members, stories, dense, dense_titles


def test_sums_of_members_are_those_of_dense_rows():
    rng = np.random.default_rng(3)
    members, stories, dense, titles = members_and_stories(rng, [1, 4, 7])
    table = new_table(int(members.length.max()))
    found = heaviest_of(members, stories, np.array([2, 0]), 50)
    for k, slot in enumerate((2, 0)):
        total = dense[stories.members[slot, : stories.n_members[slot]]].sum(axis=0)
        expected = np.lexsort((np.arange(WIDTH), -total))[: np.count_nonzero(total)]
        assert found[k].tolist() == expected.tolist() + [-1] * (50 - len(expected))
    fits = centrality(members, stories, np.arange(3))
    for slot in range(3):
        its = stories.members[slot, : stories.n_members[slot]]
        add_up(stories, members, slot, table)
        np.testing.assert_allclose(stories.squared_norm[slot], (dense[its].sum(axis=0) ** 2).sum(), rtol=1e-6)
        np.testing.assert_allclose(stories.vector_sum[slot], members.vector[its].sum(axis=0), rtol=1e-5)
        said = np.where(titles[its].any(axis=1)[:, None], titles[its], dense[its])
        products = said @ dense[its].T + titles[its] @ titles[its].T
        others = (products.sum(axis=1) - np.diag(products)) / max(len(its) - 1, 1)
        np.testing.assert_allclose(fits[slot, : len(its)], others, rtol=1e-5)
        assert not fits[slot, len(its) :].any()

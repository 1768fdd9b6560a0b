"""The moment kernels against plain NumPy, and the (C4) form against a count of every ordered triple of positions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.kernels.topics.moments import MomentSums, add_documents, apply_pairs, mirror, project_documents
from firststory.solvers.moment_sketch import Documents, MomentSketch, pair_operator, project


def triples_by_hand(counts):
    """M2 and M3 of one document, by walking over all ordered pairs and triples of distinct positions."""
    d = len(counts)
    words = np.repeat(np.arange(d), np.asarray(counts, dtype=int))
    second, third = np.zeros((d, d)), np.zeros((d, d, d))
    for a, b in permutations(words, 2):
        second[a, b] += 1
    for a, b, c in permutations(words, 3):
        third[a, b, c] += 1
    return second / second.sum(), third / third.sum()


def corpus_by_hand(rows):
    pairs, triples = zip(*(triples_by_hand(row) for row in rows), strict=True)
    return np.mean(pairs, axis=0), np.mean(triples, axis=0)


def some_rows(seed, n=4, d=5, length=6):
    rng = np.random.default_rng(seed)
    return rng.multinomial(length, rng.dirichlet(np.ones(d)), size=n).astype(float)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), length=st.integers(3, 6))
def test_c4_equals_every_ordered_triple(seed, length):
    rows = some_rows(seed, length=length)
    d = rows.shape[1]
    second, third = corpus_by_hand(rows)
    sketch = MomentSketch(np.eye(d))
    sketch.add(Documents.of(sp.csr_matrix(rows)))
    np.testing.assert_allclose(sketch.pair_moment(), second, atol=1e-14)
    np.testing.assert_allclose(sketch.triple_moment(np.eye(d)), third, atol=1e-14)
    # contracted with any matrix, and seen through any frame
    frame = np.random.default_rng(seed).standard_normal((d, 3))
    expected = np.einsum("abc,ai,bj,ck->ijk", third, frame, frame, frame)
    np.testing.assert_allclose(sketch.triple_moment(frame), expected, atol=1e-14 * max(1.0, np.abs(expected).max()))


def test_moments_are_distributions_and_marginals_of_each_other():
    rows = some_rows(3, n=7, d=6, length=9)
    sketch = MomentSketch(np.eye(6))
    sketch.add(Documents.of(sp.csr_matrix(rows)))
    third = sketch.triple_moment(np.eye(6))
    assert sketch.pair_moment().sum() == pytest.approx(1.0)
    assert third.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(third.sum(axis=2), sketch.pair_moment(), atol=1e-14)
    np.testing.assert_allclose(third, third.transpose(1, 0, 2), atol=1e-14)
    np.testing.assert_allclose(third, third.transpose(2, 1, 0), atol=1e-14)


def twin(documents, sign, basis, sums):
    """`add_documents` in plain NumPy."""
    pairs, triples, word_triples, word_second, word_third, first = sums
    for begin, end in zip(documents.begin, documents.end, strict=True):
        c = np.zeros(basis.shape[0])
        np.add.at(c, documents.indices[begin:end], documents.data[begin:end])
        z, length = basis.T @ c, c.sum()
        s2 = sign / (length * (length - 1))
        s3 = s2 / (length - 2)
        pairs += np.tril(s2 * np.outer(z, z))
        full = s3 * np.einsum("a,b,c->abc", z, z, z)
        a, b, e = np.indices(full.shape)
        triples += np.where((a >= b) & (b >= e), full, 0.0)
        word_triples += s3 * np.outer(c, z)
        word_second += s2 * c
        word_third += s3 * c
        first += sign * c / length


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_add_documents_equals_its_twin(dtype, sign):
    rng = np.random.default_rng(1)
    rows = sp.csr_matrix(some_rows(2, n=6, d=9, length=12))
    rows.indices, rows.indptr = rows.indices.astype(dtype), rows.indptr.astype(dtype)
    basis = rng.standard_normal((9, 4))
    shapes = [(4, 4), (4, 4, 4), (9, 4), 9, 9, 9]
    ours, theirs = [np.zeros(s) for s in shapes], [np.zeros(s) for s in shapes]
    documents = Documents(rows.indptr[:-1], rows.indptr[1:], rows.indices, rows.data)
    add_documents(*documents, sign, basis, MomentSums(*ours))
    twin(documents, sign, basis, theirs)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-14)


def test_no_documents_and_huge_index():
    none = Documents.of(sp.csr_matrix((0, 4)))
    sketch = MomentSketch(np.eye(4))
    sketch.add(none)
    assert sketch.n_documents == 0 and not sketch.pair_moment().any()
    far = sp.csr_matrix(([1.0, 1.0, 2.0], ([0, 0, 0], [0, 69_999, 70_000])), shape=(1, 70_001))
    out = project(Documents.of(far), np.arange(70_001.0)[:, None])
    assert out[0, 0] == 69_999.0 + 140_000.0


def test_non_finite_input_stays_visible():
    rows = sp.csr_matrix([[2.0, np.nan, 2.0]])
    sketch = MomentSketch(np.eye(3))
    sketch.add(Documents.of(rows))
    assert np.isnan(sketch.pair_moment()).any()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_pair_operator_and_projection(dtype):
    rows = sp.csr_matrix(some_rows(5, n=8, d=7, length=10))
    rows.indices, rows.indptr = rows.indices.astype(dtype), rows.indptr.astype(dtype)
    documents = Documents(rows.indptr[:-1], rows.indptr[1:], rows.indices, rows.data)
    block = np.random.default_rng(0).standard_normal((7, 3))
    second, _ = corpus_by_hand(rows.toarray())
    np.testing.assert_allclose(pair_operator(documents, block), second @ block, atol=1e-14)
    np.testing.assert_allclose(project(documents, block), rows @ block, atol=1e-13)
    out = np.zeros((7, 3))
    apply_pairs(*documents, block, out)
    np.testing.assert_allclose(out / 8, second @ block, atol=1e-14)
    out = np.empty((8, 3))
    project_documents(*documents, block, out)
    np.testing.assert_allclose(out, rows @ block, atol=1e-13)


def test_mirror_fills_all_six_places():
    v = np.array([1.0, -2.0, 3.0])
    full = np.einsum("a,b,c->abc", v, v, v)
    a, b, e = np.indices(full.shape)
    out = np.full_like(full, np.nan)
    mirror(np.where((a >= b) & (b >= e), full, 0.0), out)
    np.testing.assert_array_equal(out, full)


def test_taking_documents_away_undoes_adding_them():
    rows = sp.csr_matrix(some_rows(8, n=10, d=6, length=8))
    kept, gone = Documents.of(rows[:6]), Documents.of(rows[6:])
    both, only = MomentSketch(np.eye(6)), MomentSketch(np.eye(6))
    both.add(kept)
    both.add(gone)
    both.add(gone, -1)
    only.add(kept)
    assert both.n_documents == 6
    np.testing.assert_allclose(both.pair_moment(), only.pair_moment(), atol=1e-14)
    np.testing.assert_allclose(both.triple_moment(np.eye(6)), only.triple_moment(np.eye(6)), atol=1e-14)

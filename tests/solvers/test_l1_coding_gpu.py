"""Exact l1 coding on a GPU beside the processor's; skipped where there is no GPU."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from firststory.detectors.online_l1 import OnlineL1Dictionary
from firststory.errors import FirststoryError, MissingExtraError
from firststory.solvers import l1_coding_gpu
from firststory.solvers.l1_coding import code_exactly, objective_of
from firststory.solvers.l1_coding_gpu import GpuAtoms, code_on_gpu, gpu


def has_gpu():
    try:
        gpu()
    except FirststoryError:
        return False
    return True


needs_gpu = pytest.mark.skipif(not has_gpu(), reason="there is no NVIDIA GPU with CuPy here")


def problem(n, k, m, density, seed, shared=True):
    """Documents and atoms of unit mass; where they are not `shared`, no two atoms have a term in common."""
    draw = np.random.default_rng(seed)
    documents = sp.random(n, m, density, format="csr", random_state=draw, data_rvs=lambda size: 1 - draw.random(size))
    atoms = sp.random(k, m, density, format="csr", random_state=draw, data_rvs=lambda size: 1 - draw.random(size))
    if not shared:
        first = np.unique(atoms.tocsc().indptr[:-1])
        atoms = atoms.tocsc()
        keep = np.zeros(atoms.nnz, bool)
        keep[first[first < atoms.nnz]] = True
        atoms.data[~keep] = 0.0
        atoms = atoms.tocsr()
        atoms.eliminate_zeros()
    return unit(documents), unit(atoms)


def unit(rows):
    sums = np.asarray(rows.sum(axis=1)).ravel()
    sums[sums == 0.0] = 1.0
    return sp.csr_matrix(sp.diags(1 / sums) @ rows)


def assert_equal_optima(documents, atoms, alpha, over, coding):
    exact = code_exactly(documents, atoms, alpha, over=over, duals=True)
    np.testing.assert_allclose(coding.objective, exact.objective, rtol=0, atol=1e-9)
    np.testing.assert_allclose(coding.nearest, exact.nearest, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(coding.survivors, exact.survivors)
    assert coding.violation.max(initial=0.0) <= 1e-9
    wide = sp.csr_matrix((atoms.data, atoms.indices, atoms.indptr), shape=(atoms.shape[0], documents.shape[1]))
    worth = objective_of(documents, wide, coding.codes, alpha, over)
    np.testing.assert_allclose(worth, exact.objective, rtol=0, atol=1e-9)
    assert coding.codes.data.min(initial=1.0) > 0 and coding.codes.has_sorted_indices
    bound = np.asarray(documents.sum(axis=1)).ravel() - np.asarray(documents.multiply(coding.duals).sum(axis=1)).ravel()
    np.testing.assert_allclose(bound, exact.objective, rtol=0, atol=1e-8)


@needs_gpu
@pytest.mark.parametrize("over", [1.0, 0.3, 0.0])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize(
    "shape",
    [(40, 8, 20, 0.3), (200, 60, 100, 0.15), (300, 300, 400, 0.05), (50, 5, 10, 0.9), (3, 1, 2, 1.0), (0, 3, 4, 0.5)],
)
def test_the_optimum_is_the_processors(shape, alpha, over):
    for seed in range(3):
        documents, atoms = problem(*shape, seed)
        coding = code_on_gpu(documents, GpuAtoms.of(atoms), alpha, over=over, duals=True)
        assert_equal_optima(documents, atoms, alpha, over, coding)


@needs_gpu
def test_nothing_goes_to_the_processor_that_has_room(monkeypatch):
    monkeypatch.setattr(l1_coding_gpu, "code_exactly", None)
    for seed in range(5):
        documents, atoms = problem(300, 400, 400, 0.1, seed)
        for over in (1.0, 0.3, 0.0):
            code_on_gpu(documents, atoms, 0.01, over=over)


@needs_gpu
def test_atoms_alone_on_their_terms_and_documents_that_are_wider():
    documents, atoms = problem(400, 50, 300, 0.1, 5, shared=False)
    wider = sp.csr_matrix(sp.hstack([documents, sp.csr_matrix(np.ones((400, 2)))]))
    assert_equal_optima(wider, atoms, 0.1, 1.0, code_on_gpu(wider, atoms, 0.1, duals=True))


@needs_gpu
def test_same_input_same_bits():
    documents, atoms = problem(500, 200, 300, 0.1, 9)
    one, two = (code_on_gpu(documents, atoms, 0.02, over=0.2, duals=True) for _ in range(2))
    for name in ("objective", "nearest", "violation", "iterations", "survivors"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.codes.data, two.codes.data)
    np.testing.assert_array_equal(one.codes.indices, two.codes.indices)
    np.testing.assert_array_equal(one.duals.data, two.duals.data)


@needs_gpu
def test_what_has_no_room_goes_to_the_processor():
    documents, atoms = problem(100, 80, 60, 0.3, 4)
    coding = code_on_gpu(documents, atoms, 0.01, over=0.1, duals=True, most_survivors=2)
    assert (coding.survivors > 2).any()
    assert_equal_optima(documents, atoms, 0.01, 0.1, coding)


@needs_gpu
def test_a_learner_scores_and_learns_alike():
    documents, _ = problem(600, 1, 200, 0.1, 2)
    scores = {}
    for device in ("cpu", "gpu"):
        model = OnlineL1Dictionary(n_atoms=40, device=device, random_state=0).fit(documents[:200])
        scores[device] = [model.score_then_learn(documents[a : a + 100]) for a in range(200, 600, 100)]
    np.testing.assert_allclose(scores["gpu"], scores["cpu"], rtol=0, atol=1e-9)


def test_a_learner_without_a_gpu_says_what_to_type(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    l1_coding_gpu.gpu.cache_clear()
    with pytest.raises(MissingExtraError, match="gpu"):
        OnlineL1Dictionary(n_atoms=2, device="gpu").fit(np.eye(3)).novelty(np.eye(3))
    l1_coding_gpu.gpu.cache_clear()


def test_without_cupy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    l1_coding_gpu.gpu.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'firststory\[gpu\]'"):
        code_on_gpu(sp.csr_matrix((1, 1)), sp.csr_matrix((1, 1)))
    l1_coding_gpu.gpu.cache_clear()

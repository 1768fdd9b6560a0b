"""The dictionary detectors: every option, bad input, planted novelty, and independence of the number of threads."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import firststory as fs
from firststory.errors import ParameterError
from firststory.state import pack_state


def stream(n=120, m=60, topics=4, seed=0, new=False):
    """Documents over blocks of words; `new` brings a block that was never there."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(topics, size=n)
    if new:
        chosen[: n // 4] = topics
    width = m // (topics + 1)
    counts = np.zeros((n, m))
    for i, t in enumerate(chosen):
        counts[i] = rng.multinomial(20, np.bincount(rng.integers(t * width, (t + 1) * width, 30), minlength=m) / 30)
    return sp.csr_matrix(counts), chosen == topics


def detectors():
    online = [{"multiplier": m} for m in ("carry", "reset", "inner", "dual")]
    online += [{"init": i} for i in ("documents", "kmeans")] + [{"loss": "asymmetric", "over_weight": 0.3}]
    yield from (fs.OnlineL1Dictionary(n_atoms=20, random_state=0, **options) for options in online)
    for options in (
        {},
        {"update_codes": False},
        {"update_codes": False, "method": "admm"},
        {"method": "admm", "max_rounds": 2},
    ):
        yield fs.BatchL1Dictionary(n_atoms=20, growth=3, **options)
    yield from (fs.BatchL2Dictionary(n_atoms=20, growth=3, squared=squared) for squared in (True, False))


@pytest.mark.parametrize("detector", list(detectors()), ids=repr)
def test_planted_novelty_is_found(detector):
    detector.fit(stream(seed=0)[0])
    detector.partial_fit(stream(seed=1)[0])
    rows, new = stream(seed=2, new=True)
    assert roc_auc_score(new, detector.novelty(rows)) > 0.95
    detector.partial_fit(rows)
    detector.partial_fit(stream(seed=3, new=True)[0])


@pytest.mark.parametrize("multiplier", ["carry", "inner", "dual"])
def test_threads_change_nothing(multiplier):
    blobs = []
    for n_jobs in (1, 3):
        model = fs.OnlineL1Dictionary(n_atoms=150, multiplier=multiplier, init_rounds=1, n_jobs=n_jobs)
        for seed in range(3):
            model.partial_fit(stream(n=300, m=200, seed=seed)[0])
        blobs.append(pack_state(model.set_params(n_jobs=1).get_state()))
    assert blobs[0] == blobs[1]


def test_score_then_learn_codes_each_document_once(monkeypatch):
    import firststory.detectors.l1_base as base

    model = fs.OnlineL1Dictionary(n_atoms=10).fit(stream()[0])
    calls = []
    real = base.code_exactly
    monkeypatch.setattr(base, "code_exactly", lambda *a, **k: calls.append(a[0].shape[0]) or real(*a, **k))
    model.score_then_learn(stream(seed=1)[0])
    assert calls == [120]


def test_the_worked_example_of_the_method_page():
    page = Path(__file__).parents[2] / "docs" / "methods" / "l1-dictionary.md"
    done = doctest.testfile(str(page), module_relative=False)
    assert done.attempted > 5 and done.failed == 0


def test_objective_codes_and_explanation_agree():
    model = fs.OnlineL1Dictionary(n_atoms=12).fit(stream()[0])
    rows = stream(seed=1, new=True)[0]
    residual = model.explain(rows)
    assert sp.issparse(residual) and residual.shape == rows.shape
    left = (
        np.abs(residual).sum(axis=1).A1 if hasattr(residual, "A1") else np.asarray(np.abs(residual).sum(axis=1)).ravel()
    )
    np.testing.assert_allclose(left + 0.1 * model.transform(rows).sum(axis=1), model.objective(rows), atol=1e-9)
    assert isinstance(model.explain(rows.toarray()), np.ndarray)
    # Codes and atoms give the documents back, up to the residual.
    unit = rows.toarray() / rows.sum(axis=1)
    np.testing.assert_allclose(model.transform(rows) @ model.components_ + residual.toarray(), unit, atol=1e-9)


def test_ties_are_ranked_by_the_nearest_atom_and_empty_rows_score_zero():
    model = fs.OnlineL1Dictionary(n_atoms=2, init=np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]))
    model.fit(np.eye(4)[:, [0, 1, 2, 3]] + 0.0)
    model.set_params(init="words")
    wide = np.array([[1.0, 0, 0, 0, 9.0], [0, 0, 0, 0, 1.0], [0, 0, 0, 0, 0.0]])
    scores = model.novelty(wide)
    assert scores[1] >= scores[0] and scores[2] == 0.0
    model.partial_fit(wide)
    assert model.n_empty_ == 1


def test_dead_atoms_are_recycled_and_counted():
    model = fs.OnlineL1Dictionary(n_atoms=20, recycle_after=2)
    model.fit(stream()[0])
    for seed in range(4):
        model.partial_fit(stream(seed=seed)[0][:, ::-1])  # other words now
    assert model.n_recycled_ > 0
    never = fs.OnlineL1Dictionary(n_atoms=20, recycle_after=None).fit(stream()[0])
    assert never.n_recycled_ == 0


def test_vocabulary_growth_costs_nothing_dense():
    model = fs.OnlineL1Dictionary(n_atoms=5, init_rounds=1).fit(stream()[0])
    size = len(pack_state(model.get_state()))
    rows = stream(seed=1)[0]
    huge = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], 3_000_000))
    model.partial_fit(huge)
    assert model.n_features_in_ == 3_000_000 and len(pack_state(model.get_state())) < 4 * size + 100_000


def test_batch_objective_never_rises_and_the_dictionary_grows():
    model = fs.BatchL1Dictionary(n_atoms=10, growth=4)
    for t in range(3):
        model.partial_fit(stream(seed=t)[0])
        assert (np.diff(model.history_) <= 0).all()
        assert model.components_.shape[0] == 10 + 4 * t and model.codes_.shape == (120 * (t + 1), 10 + 4 * t)
    windowed = fs.BatchL1Dictionary(n_atoms=10, growth=100, window=50)
    for t in range(3):
        windowed.partial_fit(stream(seed=t)[0])
    assert windowed.documents_.shape[0] == 50


@pytest.mark.parametrize("method", ["subgradient", "admm"])
def test_the_variant_of_2011_keeps_earlier_codes_and_lowers_the_loss(method):
    model = fs.BatchL1Dictionary(
        n_atoms=10, growth=4, update_codes=False, method=method, init="documents", random_state=0
    )
    model.partial_fit(stream(seed=0)[0])
    first = model.codes_.toarray()
    model.partial_fit(stream(seed=1)[0])
    np.testing.assert_array_equal(model.codes_.toarray()[:120, :10], first)
    assert not model.codes_[:120, 10:].nnz and model.codes_.shape == (240, 14)
    # The loss of all documents for their codes: that of the atoms kept, never above the one before.
    left = np.abs((model.documents_ - model.codes_ @ model.atoms_).toarray()).sum()
    assert model.history_[-1] == pytest.approx(left) and model.history_[-1] <= model.history_[0]
    if method == "subgradient":
        assert model.history_[-1] < model.history_[0]


CASES = {
    "more atoms than documents": (np.eye(3), {"n_atoms": 50}),
    "lambda zero": (np.eye(4) + 0.1, {"alpha": 0.0}),
    "one term": (np.ones((5, 1)), {}),
    "duplicate documents": (np.ones((6, 3)), {"init": "documents", "n_atoms": 4}),
    "all empty": (np.zeros((4, 3)), {}),
    "huge and tiny weights": (np.array([[1e300, 1e300], [1e-300, 1e-300], [0.0, 1e-310]]), {}),
}


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("name", ["OnlineL1Dictionary", "BatchL1Dictionary", "BatchL2Dictionary"])
def test_odd_input_gets_an_answer(name, case):
    X, options = CASES[case]
    model = getattr(fs, name)(**{"n_atoms": 3, "random_state": 0, **options}).fit(X).partial_fit(X)
    scores = model.novelty(X)
    assert np.isfinite(scores).all() and (scores >= 0).all()
    if case == "all empty":
        assert (scores == 0).all()


@pytest.mark.parametrize("name", ["OnlineL1Dictionary", "BatchL1Dictionary", "BatchL2Dictionary"])
def test_bad_input_is_refused(name):
    kind = getattr(fs, name)
    for bad in ([[-1.0, 2.0]], [[np.nan, 1.0]], [[np.inf, 1.0]]):
        with pytest.raises(ValueError):
            kind(n_atoms=2).fit(bad)
    for options in ({"n_atoms": 0}, {"alpha": -1.0}, {"init": "nonsense"}):
        with pytest.raises(ParameterError):
            kind(**options).fit(np.eye(3))


def test_an_array_as_dictionary_must_fit():
    for wrong in (np.ones((3, 2)), -np.ones((2, 2)), np.ones((2, 9)), np.full((2, 2), np.nan)):
        with pytest.raises(ParameterError, match="init"):
            fs.OnlineL1Dictionary(n_atoms=2, init=wrong).fit(np.eye(2))


def test_layout_of_the_rows_does_not_matter():
    rows = stream()[0]
    unsorted = rows.copy()
    for i in range(rows.shape[0]):
        at = slice(rows.indptr[i], rows.indptr[i + 1])
        unsorted.indices[at], unsorted.data[at] = rows.indices[at][::-1], rows.data[at][::-1]
    unsorted.has_sorted_indices = False
    wide = sp.csr_matrix((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape=rows.shape)
    base = fs.OnlineL1Dictionary(n_atoms=10).fit(rows).novelty(rows)
    for other in (unsorted, wide, rows.toarray(), rows.tocsc()):
        np.testing.assert_array_equal(fs.OnlineL1Dictionary(n_atoms=10).fit(other).novelty(other), base)

"""StepwiseEM against a dense twin of (C8), and the cases in which nothing can be learnt."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.errors import ParameterError


def documents(n=300, d=15, k=3, length=20, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.dirichlet(np.full(d, 0.2), size=k)
    topic = rng.choice(k, size=n)
    return sp.csr_matrix(np.stack([rng.multinomial(length, u[j]) for j in topic]).astype(float)), u


def dense_twin(batches, mu, mass, decay, smoothing):
    """(C8) written out over all words: expected counts mu (k x d), expected memberships mass (k)."""
    k, d = mu.shape
    for step, rows in enumerate(batches):
        delta = smoothing * mu.sum() / (k * d)
        u = (mu + delta) / (mu + delta).sum(axis=1, keepdims=True)
        joint = rows @ np.log(u.T) + np.log(mass)
        posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
        posterior /= posterior.sum(axis=1, keepdims=True)
        rate = (step + 2.0) ** -decay
        mu = (1 - rate) * mu + rate * posterior.T @ rows / len(rows)
        mass = (1 - rate) * mass + rate * posterior.mean(axis=0)
    delta = smoothing * mu.sum() / (k * d)
    return (mu + delta) / (mu + delta).sum(axis=1, keepdims=True), mass


@pytest.mark.parametrize("decay", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("batch", [1, 30])
def test_lazy_updates_equal_dense_ones(decay, batch):
    rows, _ = documents()
    model = fs.StepwiseEM(3, decay=decay, random_state=4)
    model._begin(rows[:batch])
    mu = model._counts_.T.copy()
    model = fs.StepwiseEM(3, decay=decay, random_state=4)
    batches = [rows[at : at + batch] for at in range(0, 300, batch)]
    for part in batches:
        model.partial_fit(part)
    u, w = dense_twin([part.toarray() for part in batches], mu, np.full(3, 1 / 3), decay, 1e-4)
    np.testing.assert_allclose(model.topic_word_, u, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.weights_, w, rtol=1e-8)


def test_the_common_factor_is_put_back_before_it_vanishes(monkeypatch):
    rows, _ = documents()
    runs = []
    for limit in (1e-30, 0.5):
        monkeypatch.setattr("firststory.topics.stepwise_em.SMALLEST_SCALE", limit)
        model = fs.StepwiseEM(3, random_state=0)
        for at in range(0, 300, 10):
            model.partial_fit(rows[at : at + 10])
        runs.append(model.topic_word_)
    np.testing.assert_allclose(runs[0], runs[1], rtol=1e-9)


def test_likelihood_improves_and_nears_the_truth():
    rows, u = documents(n=3000, seed=1)
    model = fs.StepwiseEM(3, decay=0.6, random_state=0)
    nll = []
    for at in range(0, 3000, 50):
        model.partial_fit(rows[at : at + 50])
        nll.append(model.predictive_nll(rows).mean())
    truth = -np.log((np.exp(rows @ np.log(np.maximum(u, 1e-12).T)) / 3).sum(axis=1)).mean()
    assert nll[-1] < nll[0] - 1 and nll[-1] < truth + 0.3


def test_empty_rows_say_nothing():
    rows, _ = documents(n=60)
    plain = fs.StepwiseEM(3, random_state=0).partial_fit(rows)
    mixed = fs.StepwiseEM(3, random_state=0).partial_fit(sp.vstack([sp.csr_matrix((2, 15)), rows]).tocsr())
    np.testing.assert_array_equal(plain.topic_word_, mixed.topic_word_)
    assert mixed.n_empty_ == 2 and mixed.n_documents_ == 60
    mixed.partial_fit(np.zeros((3, 15)))
    assert mixed.n_steps_ == 1
    np.testing.assert_array_equal(plain.topic_word_, mixed.topic_word_)


def test_first_batch_of_nothing_then_documents():
    rows, _ = documents(n=60)
    model = fs.StepwiseEM(3, random_state=0).partial_fit(np.zeros((2, 15)))
    assert np.isfinite(model.transform(rows)).all()
    assert np.isfinite(model.partial_fit(rows).topic_word_).all()


def test_new_words_favour_no_topic():
    rows, _ = documents(n=60)
    model = fs.StepwiseEM(3, random_state=0).partial_fit(rows)
    model.partial_fit(sp.hstack([rows, sp.csr_matrix((60, 2))]).tocsr())
    row = np.zeros((1, 17))
    row[0, 16] = 3.0
    assert model.topic_word_.shape == (3, 17)
    posterior = model.transform(row)
    assert np.isfinite(posterior).all() and np.isfinite(model.predictive_nll(row)).all()


def test_bad_decay_is_named():
    with pytest.raises(ParameterError, match="decay"):
        fs.StepwiseEM(decay=0.3).partial_fit(np.eye(3))

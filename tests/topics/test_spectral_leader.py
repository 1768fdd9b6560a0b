"""SpectralLeader against planted topics, its exact form, and the cases where moments have nothing to say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.errors import ParameterError
from firststory.topics.lineage import match_topics


def planted(n, *, k=3, d=12, length=20, seed=0, order=None):
    """Documents of a single-topic model with its truth; `order="blocks"` gives one topic after the other."""
    rng = np.random.default_rng(seed)
    w = rng.dirichlet(np.full(k, 8.0))
    u = rng.dirichlet(np.full(d, 0.2), size=k)
    topic = rng.choice(k, size=n, p=w)
    if order == "blocks":
        topic = np.sort(topic)
    rows = np.stack([rng.multinomial(length, u[j]) for j in topic]).astype(float)
    return sp.csr_matrix(rows), w, u, topic


def learn(model, rows, batch=100):
    for at in range(0, rows.shape[0], batch):
        model.partial_fit(rows[at : at + batch])
    return model


def assert_recovers(model, w, u, atol):
    order = match_topics(model.topic_word_, u)[0]
    np.testing.assert_allclose(model.weights_[order], w, atol=atol)
    np.testing.assert_allclose(model.topic_word_[order], u, atol=atol)


@pytest.mark.parametrize("order", [None, "blocks"])
@pytest.mark.parametrize("weights", ["tensor", "nnls"])
def test_planted_topics_are_found_whatever_their_order(order, weights):
    rows, w, u, _ = planted(3000, order=order)
    assert_recovers(learn(fs.SpectralLeader(3, weights=weights, random_state=0), rows), w, u, 0.03)


def test_frame_as_wide_as_the_vocabulary_equals_exact_whitening():
    rows, _, _, _ = planted(600, d=40, seed=3)
    whole = learn(fs.SpectralLeader(3, sketch=40, random_state=0), rows)
    exact = learn(fs.SpectralLeader(3, sketch=None, random_state=1), rows)
    order = match_topics(exact.topic_word_, whole.topic_word_)[0]
    np.testing.assert_allclose(exact.topic_word_[order], whole.topic_word_, atol=1e-7)
    np.testing.assert_allclose(exact.weights_[order], whole.weights_, atol=1e-7)


def test_small_frame_comes_close_to_exact_whitening():
    rows, w, u, _ = planted(2000, d=300, length=60, seed=4)
    small = learn(fs.SpectralLeader(3, sketch=9, random_state=0), rows)
    exact = learn(fs.SpectralLeader(3, sketch=None, update_every=400, random_state=0), rows)
    order = match_topics(small.topic_word_, exact.topic_word_)[0]
    assert np.abs(small.topic_word_[order] - exact.topic_word_).sum(axis=1).max() < 0.02
    assert_recovers(small, w, u, 0.03)


def test_permuting_words_permutes_topics():
    rows, _, _, _ = planted(800, seed=5)
    shuffle = np.random.default_rng(1).permutation(rows.shape[1])
    plain = learn(fs.SpectralLeader(3, random_state=0), rows)
    moved = learn(fs.SpectralLeader(3, random_state=0), rows[:, shuffle].tocsr())
    order = match_topics(moved.topic_word_, plain.topic_word_[:, shuffle])[0]
    np.testing.assert_allclose(moved.topic_word_[order], plain.topic_word_[:, shuffle], atol=1e-8)
    np.testing.assert_allclose(moved.weights_[order], plain.weights_, atol=1e-8)


def test_topics_keep_their_places():
    """No label switching: step by step each topic stays nearest to itself, and the lineage agrees."""
    rows, _, _, _ = planted(1500, seed=6)
    model = learn(fs.SpectralLeader(3, random_state=0), rows[:300])
    names = None
    for at in range(300, 1500, 50):
        before = model.topic_word_.copy()
        model.partial_fit(rows[at : at + 50])
        np.testing.assert_array_equal(match_topics(model.topic_word_, before)[0], np.arange(3))
        assert names is None or model.lineage_.ids == names
        names = list(model.lineage_.ids)


def test_reservoir_is_bounded_and_estimates_from_the_pool():
    rows, w, u, _ = planted(4000, seed=7)
    model = learn(fs.SpectralLeader(3, reservoir=500, random_state=0), rows)
    assert len(model._pool_) == 500 and model.n_documents_ == 4000
    assert_recovers(model, w, u, 0.08)
    # the sums, after all the coming and going, are those of the pool
    fresh = type(model._sketch_)(model._sketch_.basis)
    fresh.add(model._pool_.documents)
    np.testing.assert_allclose(model._sketch_.pair_moment(), fresh.pair_moment(), atol=1e-12)


def test_biased_reservoir_follows_a_drift_that_the_uniform_one_averages():
    before, _, _, _ = planted(2000, seed=8)
    after, w, u, _ = planted(2000, seed=9)
    rows = sp.vstack([before, after]).tocsr()
    error = {}
    for bias in (None, 1.0):
        model = learn(fs.SpectralLeader(3, reservoir=400, reservoir_bias=bias, random_state=0), rows)
        order = match_topics(model.topic_word_, u)[0]
        error[bias] = np.abs(model.topic_word_[order] - u).sum()
    assert error[1.0] < 0.3 * error[None]
    assert np.abs(model.weights_[order] - w).max() < 0.08


def test_update_every_waits():
    rows, _, _, _ = planted(400, seed=10)
    model = fs.SpectralLeader(3, update_every=150, random_state=0).partial_fit(rows[:150])
    before = model.topic_word_.copy()
    model.partial_fit(rows[150:250])
    np.testing.assert_array_equal(model.topic_word_, before)
    model.partial_fit(rows[250:300])
    assert np.abs(model.topic_word_ - before).max() > 0


def test_posterior_and_predictive_likelihood():
    rows, w, u, topic = planted(2000, seed=11)
    model = learn(fs.SpectralLeader(3, random_state=0), rows)
    order = match_topics(model.topic_word_, u)[0]
    posterior = model.transform(rows)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    assert (posterior[:, order].argmax(axis=1) == topic).mean() > 0.97
    joint = rows @ np.log(model.topic_word_.T) + np.log(model.weights_)
    np.testing.assert_allclose(model.predictive_nll(rows), -np.log(np.exp(joint).sum(axis=1)), rtol=1e-9)
    truth = -np.log(np.exp(rows @ np.log(np.maximum(u, 1e-12).T) + np.log(w)).sum(axis=1)).mean()
    assert abs(model.predictive_nll(rows).mean() - truth) < 0.05


def test_likelihood_steps_give_likelihood_back():
    rows, _, _, _ = planted(300, d=60, length=15, seed=12)
    plain = learn(fs.SpectralLeader(3, random_state=0), rows)
    polished = learn(fs.SpectralLeader(3, likelihood_steps=2, random_state=0), rows)
    assert polished.predictive_nll(rows).mean() < plain.predictive_nll(rows).mean()


def test_documents_of_fewer_than_three_words_are_counted_and_left_out():
    rows, _, _, _ = planted(200, seed=13)
    short = sp.csr_matrix(np.eye(12)[:5] * np.array([[0.0], [1.0], [2.0], [2.5], [0.4]]))
    plain = fs.SpectralLeader(3, random_state=0).partial_fit(rows)
    mixed = fs.SpectralLeader(3, random_state=0).partial_fit(sp.vstack([short, rows]).tocsr())
    assert mixed.n_short_ == 5 and mixed.n_documents_ == 200
    np.testing.assert_array_equal(mixed.topic_word_, plain.topic_word_)


def test_only_short_or_empty_documents():
    with pytest.warns(UserWarning, match="word counts"):
        model = fs.SpectralLeader(3, random_state=0).partial_fit(np.eye(6))
    assert model.n_short_ == 6 and model.rank_ == 0
    np.testing.assert_allclose(model.topic_word_, 1 / 6)
    rows, w, u, _ = planted(2000, d=6, seed=14)
    learn(model, rows)
    before = model.get_state()["components_"]
    model.partial_fit(np.zeros((4, 6)))  # a batch that says nothing
    assert model.n_short_ == 10 and model.n_documents_ == 2000
    np.testing.assert_allclose(model.topic_word_, before, atol=1e-9)
    np.testing.assert_allclose(model.transform(np.zeros((1, 6)))[0], model.weights_, atol=1e-12)
    assert_recovers(model, w, u, 0.05)


def test_single_topic_data():
    rows, _, u, _ = planted(2000, k=1, seed=15)
    model = learn(fs.SpectralLeader(3, random_state=0), rows)
    unigram = np.asarray(rows.sum(axis=0)).ravel() / rows.sum()
    mixture = model.weights_ @ model.topic_word_
    assert np.abs(mixture - unigram).sum() < 0.02
    second = np.einsum("k,ka,kb->ab", model.weights_, model.topic_word_, model.topic_word_)
    assert np.abs(second - np.outer(u[0], u[0])).max() < 0.02


def test_rank_deficient_data_leaves_topics_over():
    rows, w, u, _ = planted(3000, k=2, seed=16)
    model = learn(fs.SpectralLeader(5, rank_tolerance=0.05, random_state=0), rows)
    assert model.rank_ == 2
    used = np.argsort(-model.weights_)[:2]
    order = match_topics(model.topic_word_[used], u)[0]
    np.testing.assert_allclose(model.weights_[used][order], w, atol=0.03)
    assert model.weights_.sum() == pytest.approx(1.0) and np.isfinite(model.predictive_nll(rows)).all()


def test_more_topics_than_terms_and_one_document():
    model = fs.SpectralLeader(5, random_state=0).partial_fit(np.array([[2.0, 1.0]]))
    assert model.components_.shape == (5, 2) and np.isfinite(model.predictive_nll([[1.0, 4.0]])).all()


def test_fractional_counts_work():
    rows, w, u, _ = planted(3000, length=40, seed=17)
    halves = rows.copy()
    halves.data = halves.data * 0.75 + 0.1
    model = learn(fs.SpectralLeader(3, random_state=0), halves)
    assert_recovers(model, w, u, 0.1)


def test_a_growing_vocabulary_loses_nothing():
    rows, w, u, _ = planted(3000, seed=18)
    model = fs.SpectralLeader(3, random_state=0)
    for at in range(0, 3000, 100):
        known = min(12, 6 + at // 100)
        part = rows[at : at + 100].copy()
        model.partial_fit(part[:, :known].tocsr())
    assert model.topic_word_.shape == (3, 12)
    assert_recovers(model, w, u, 0.08)


def test_no_array_is_quadratic_in_the_vocabulary():
    rng = np.random.default_rng(0)
    rows = sp.random(
        200, 20_000, density=0.002, random_state=rng, data_rvs=lambda n: rng.integers(1, 4, n) * 1.0
    ).tocsr()
    model = fs.SpectralLeader(5, random_state=0).partial_fit(rows)
    largest = max(value.size for value in model.get_state().values() if isinstance(value, np.ndarray))
    assert largest <= 20_000 * 15


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_topics", 0),
        ("reservoir", 0),
        ("reservoir_bias", 1.5),
        ("sketch", "big"),
        ("smoothing", 0.0),
        ("weights", "x"),
    ],
)
def test_bad_parameters_are_named(parameter, value):
    with pytest.raises(ParameterError, match=parameter):
        fs.SpectralLeader(**{parameter: value}).partial_fit(np.eye(3))

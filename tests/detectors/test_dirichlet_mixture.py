"""DirichletMixture against its definition, against limits that must hold, and against planted answers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

import firststory as fs
from detectors.mixture_twin import Twin, log_likelihood
from firststory.checks import STREAM_CHECKS
from firststory.detectors.history import least_topic_cost
from firststory.errors import ParameterError
from firststory.kernels.mixture.layout import Sight
from firststory.kernels.mixture.scoring import score_document
from firststory.state import pack_state, unpack_state

V = 30


def planted(n=120, topics=6, width=V, length=25, seed=0):
    """Counts of documents from a few clear topics, and the topics."""
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(width, 0.1), size=topics)
    truth = rng.integers(topics, size=n)
    return np.stack([rng.multinomial(rng.integers(1, 2 * length), words[k]) for k in truth]).astype(float), truth


def test_a_history_without_a_best_precision_is_said():
    with pytest.warns(UserWarning, match="no maximum"):
        model = fs.DirichletMixture().fit(np.full((6, 3), 900.0), [0, 0, 1, 1, 2, 2])
    assert model.base_precision_ == 1e8


def started(counts, precision=8.0, gamma=1.5, **options):
    """A mixture whose π is known: that of a history, of which λ and γ are given."""
    model = fs.DirichletMixture(base_precision=precision, concentration=gamma, **options)
    return model.fit(counts, np.zeros(len(counts), int))


RULES = [
    {},
    {"soft": True},
    {"soft": True, "full": True},
    {"soft": True, "pd_eps": 1e-2},
    {"temper": 0.3, "soft": True},
    {"length_cap": 12.0},
    {"decay": 15.0, "soft": True},
    {"decay": 0.4},
    {"window": 9},
    {"max_age": 6.0, "soft": True},
]


def options_of(rule):
    names = {"soft": ("update", "soft"), "full": ("new_mass", "full")}
    return dict([names.get(key, (key, value)) for key, value in rule.items()])


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_index_equals_brute_force(rule, index):
    """(A15) with its caches and its pruning against (A4)-(A6) over all clusters: scores to 1e-9, all labels."""
    counts, _ = planted()
    counts[17] = 0.0
    times = np.cumsum(np.random.default_rng(3).exponential(1.0, size=len(counts)))
    clocked = "max_age" in rule
    model = started(counts, **options_of(rule))
    base = model.base_measure_
    np.testing.assert_allclose(base, (counts.sum(0) + 1) / (counts.sum(0) + 1).sum(), rtol=1e-14)
    twin = Twin(8.0, base, lambda i: 1.5, **rule)
    known = [twin.step(x, times[i] if clocked else None) for i, x in enumerate(counts)]
    rows = sp.csr_matrix(counts)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    scores, labels = [], []
    for part in (slice(0, 50), slice(50, 51), slice(51, None)):
        scores.append(model.score_then_learn(rows[part], times=times[part] if clocked else None))
        labels.append(model.labels_)
    np.testing.assert_allclose(np.concatenate(scores), [odds for odds, _ in known], rtol=1e-9, atol=1e-9)
    assert np.concatenate(labels).tolist() == [label for _, label in known]
    np.testing.assert_allclose(model.cluster_sizes_, np.array(twin.mass)[-model.n_clusters_ :], rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_counts_equal_brute_force(data):
    n, width = data.draw(st.integers(1, 25)), data.draw(st.integers(1, 12))
    count = st.one_of(st.integers(0, 3), st.integers(0, 400), st.sampled_from([0.0, 0.25, 1.5]))
    counts = np.array(data.draw(st.lists(count, min_size=n * width, max_size=n * width)), float).reshape(n, width)
    precision, gamma = data.draw(st.sampled_from([0.5, 20.0, 5e3])), data.draw(st.sampled_from([1e-4, 1.0, 50.0]))
    soft = data.draw(st.booleans())
    model = started(np.ones((1, width)), precision, gamma, update="soft" if soft else "hard")
    twin = Twin(precision, model.base_measure_, lambda i: gamma, soft=soft)
    known = np.array([twin.step(x)[0] for x in counts])
    scores = model.score_then_learn(counts)
    tie = np.flatnonzero(np.array(twin.margins) < 1e-6)  # rounding decides: from there on both are right
    if tie.size:
        end = np.flatnonzero(counts.sum(1) > 0)[tie[0]] + 1
        scores, known = scores[:end], known[:end]
    # gammaln of the twin loses digits in documents of thousands of words; ours does not.
    np.testing.assert_allclose(scores, known, rtol=1e-9, atol=1e-9 * max(1.0, counts.sum()))


def pruned_share(model, counts):
    """How many of the clusters are out of the race before the common words are read."""
    c, rows, shares = model.clusters_, sp.csr_matrix(counts), []
    score = np.empty(c.stats.mass.shape[0])
    for row in rows:
        words = row.indices.astype(np.int64)
        sight = Sight(n_slots=c.n_clusters, scale=1.0, oldest=-np.inf, earliest=0)
        score_document(words, row.data, c.postings, c.stats, c.base, sight, 1.0, score)
        shares.append(np.isneginf(score[: c.n_clusters]).mean())
    return np.mean(shares)


def test_pruning_is_exact():
    """Two hundred clusters, words in all of them: the race is pruned, and nothing changes."""
    rng = np.random.default_rng(5)
    width, topics = 260, 200
    words = np.zeros((topics, width))
    words[:, :40] = 0.3 / 40
    words[np.arange(topics), 40 + np.arange(topics)] = 0.7
    counts = np.stack([rng.multinomial(120, words[k % topics]) for k in range(400)]).astype(float)
    model = started(counts, precision=200.0, gamma=1.0)
    scores = model.score_then_learn(counts)
    assert model.n_clusters_ > 150
    assert pruned_share(model, counts) > 0.5
    twin = Twin(200.0, model.base_measure_, lambda i: 1.0)
    known = [twin.step(x) for x in counts]
    np.testing.assert_allclose(scores, [odds for odds, _ in known], rtol=1e-9, atol=1e-9)
    assert model.labels_.tolist() == [label for _, label in known]


def test_likelihood_is_the_product_of_sequential_predictions():
    """(A4) word by word: p(w | words so far) = (λπ_w + S_w) / (λ + N)."""
    rng = np.random.default_rng(0)
    base, counts = rng.dirichlet(np.ones(6)), rng.integers(0, 5, size=6).astype(float)
    words = rng.integers(6, size=30)
    state, total = counts.copy(), 0.0
    for word in words:
        total += np.log((9.0 * base[word] + state[word]) / (9.0 + state.sum()))
        state[word] += 1
    x = np.bincount(words, minlength=6).astype(float)
    assert log_likelihood(x, counts, 9.0, base) == pytest.approx(total, abs=1e-10)
    # The same through the estimator: one cluster with these counts, one document, γ = 1 and n = 1.
    model = started(np.ones((1, 6)), precision=9.0, gamma=1.0)
    uniform = np.full(6, 1 / 6)
    model.partial_fit(counts[None])
    odds = log_likelihood(x, np.zeros(6), 9.0, uniform) - log_likelihood(x, counts, 9.0, uniform)
    assert model.novelty(x[None])[0] == pytest.approx(odds, abs=1e-9)


def test_posterior_sums_to_one_and_so_does_the_prior():
    counts, _ = planted(n=60)
    for options in ({}, {"update": "soft"}, {"window": 10}, {"max_clusters": 3}, {"decay": 20.0}):
        model = started(counts, **options).partial_fit(counts)
        gamma, seen = model.concentration_, model.clusters_.seen
        prior = np.append(model.cluster_sizes_, [model.forgotten_mass_, gamma]) / (gamma + seen)
        assert prior.sum() == pytest.approx(1.0)
        assert model.forgotten_mass_ >= -1e-9
        odds = model.novelty(counts)
        new = 1.0 / (1.0 + np.exp(-odds))
        assert ((new >= 0) & (new <= 1)).all()
    # All clusters at hand: P(new) from the log-odds, and the others from the twin, together make one.
    twin = Twin(8.0, model.base_measure_, lambda i: 1.5)
    model = started(counts)
    for x in counts:
        known, new = twin.posterior(x, 1.5, None)
        everything = np.logaddexp.reduce(np.append(known, new))
        odds = model.novelty(x[None])[0]
        if len(known):
            assert np.exp(known - everything).sum() + 1 / (1 + np.exp(-odds)) == pytest.approx(1.0, abs=1e-9)
        twin.step(x)
        model.partial_fit(x[None])


def test_hard_equals_soft_where_every_responsibility_is_zero_or_one():
    rng = np.random.default_rng(2)
    counts = np.zeros((40, 40))
    for i, k in enumerate(rng.integers(4, size=40)):
        counts[i, 10 * k : 10 * k + 10] = rng.integers(20, 60, size=10)
    hard, soft = started(counts), started(counts, update="soft")
    np.testing.assert_allclose(hard.score_then_learn(counts), soft.score_then_learn(counts), rtol=1e-10)
    assert hard.labels_.tolist() == soft.labels_.tolist()
    assert hard.n_clusters_ == 4
    np.testing.assert_allclose(hard.cluster_sizes_, soft.cluster_sizes_, rtol=1e-10)


@pytest.mark.parametrize("update", ["hard", "soft"])
def test_permuting_the_vocabulary_changes_nothing(update):
    counts, truth = planted()
    order = np.random.default_rng(1).permutation(V)
    one = fs.DirichletMixture(update=update).fit(counts, truth)
    two = fs.DirichletMixture(update=update).fit(counts[:, order], truth)
    np.testing.assert_allclose(one.score_then_learn(counts), two.score_then_learn(counts[:, order]), atol=1e-8)
    assert one.labels_.tolist() == two.labels_.tolist()


def test_documents_of_ten_thousand_words_do_not_underflow():
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(2000, 0.05), size=3)
    counts = np.stack([rng.multinomial(10_000, words[k]) for k in (0, 0, 1, 0, 2, 1)]).astype(float)
    for update in ("hard", "soft"):
        model = fs.DirichletMixture(update=update, base_precision=1000.0, concentration=1.0)
        scores = model.score_then_learn(counts)
        assert np.isfinite(scores).all()
        assert model.labels_.tolist() == [0, 0, 1, 0, 2, 1]
        assert (scores[[2, 4]] > 1000).all() and (scores[[1, 3, 5]] < -100).all()
        assert len(np.unique(scores)) == 6, "a score has saturated"


def test_empty_documents_are_neutral():
    model = fs.DirichletMixture()
    scores = model.score_then_learn([[0, 0], [3, 1], [0, 0]])
    assert model.labels_.tolist() == [-1, 0, -1]
    assert scores[0] == 0.0
    assert scores[2] == pytest.approx(np.log(model.concentration_) - np.log(1.0))
    before = model.n_clusters_, model.clusters_.seen
    model.partial_fit([[0, 0]])
    assert (model.n_clusters_, model.clusters_.seen) == before
    assert model.predict_cluster([[0, 0]]).tolist() == [-1]


OPTIONS = [
    {"update": "soft"},
    {"decay": 12.0, "min_count": 0.5},
    {"score_kind": "log_odds_per_token"},
    {"max_postings_per_word": 3, "max_clusters": 4},
    {"concentration": "time"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("check", STREAM_CHECKS, ids=lambda check: check.__name__)
def test_stream_contract_of_the_options(check, options):
    check(fs.DirichletMixture(**options))


def test_max_clusters_is_kept_and_old_ones_go_first():
    model = started(np.ones((1, 60)), precision=5.0, gamma=1.0, max_clusters=10)
    story = 20.0 * np.eye(60)
    model.partial_fit(np.repeat(story[:2], 5, axis=0))  # two stories of five documents
    model.partial_fit(story[2:10])  # eight of one
    assert model.n_clusters_ == 10
    model.partial_fit(story[10:12])
    assert model.n_clusters_ <= 10
    assert {0, 1} <= set(model.cluster_ids_), "the big ones outlive singletons of the same half"
    model.partial_fit(story[12:])
    assert model.n_clusters_ <= 10 and 59 in model.cluster_ids_
    assert model.forgotten_mass_ + model.cluster_sizes_.sum() == pytest.approx(model.clusters_.seen)


def test_postings_of_a_word_stay_under_their_limit():
    counts, _ = planted(n=200, topics=20)
    model = started(counts, precision=2.0, gamma=50.0, max_postings_per_word=4).partial_fit(counts)
    assert model.n_clusters_ > 8
    assert model.clusters_.postings.length.max() <= 4


def test_decayed_postings_are_swept():
    rng = np.random.default_rng(0)
    model = fs.DirichletMixture(base_precision=5.0, concentration=1.0, decay=50.0, min_count=1e-3)
    for t in range(4):
        counts = np.zeros((600, 40))
        counts[:, 10 * t : 10 * t + 10] = rng.poisson(2.0, size=(600, 10))
        model.partial_fit(counts)
    live = model.clusters_.postings.length.sum()
    assert live < 30 * model.n_clusters_
    assert model.clusters_.postings.length[:10].sum() == 0, "words of the first quarter are long forgotten"


def test_growing_vocabulary_keeps_the_base_measure():
    """Terms that come later take the reserved share; no known term's share moves (A.9, 6)."""
    counts, truth = planted()
    model = fs.DirichletMixture(reserved_terms=10).fit(counts, truth)
    before = model.base_measure_
    wider = np.hstack([counts, np.ones((len(counts), 10))])
    model.partial_fit(wider)
    assert (model.base_measure_[:V] == before).all()
    assert model.base_measure_.sum() == pytest.approx(1.0)
    assert model.base_measure_[-1] == pytest.approx(1 / (counts.sum() + V + 10))


def test_a_labelled_history_gives_hyper_parameters_and_by_default_no_clusters():
    counts, truth = planted()
    labels = np.array([f"story {k}" if i % 3 else None for i, k in enumerate(truth)], dtype=object)
    model = fs.DirichletMixture().fit(counts, labels)
    assert model.n_clusters_ == 0 and model.labels_.tolist() == [-1] * len(counts)
    assert (model.novelty(counts) == 1e6).all()
    kept = fs.DirichletMixture(history="learn").fit(counts, labels)
    assert kept.n_clusters_ > 0 and kept.base_precision_ == model.base_precision_
    unlabelled = fs.DirichletMixture().fit(counts, np.full(len(counts), None))
    plain = fs.DirichletMixture().fit(counts)
    assert pack_state(unlabelled.get_state()) == pack_state(plain.get_state())
    with pytest.raises(ParameterError, match="one per row"):
        fs.DirichletMixture().fit(counts, labels[:5])


def test_validation_takes_the_precision_of_the_least_cost_on_the_history():
    counts, truth = planted(n=200, topics=12, width=80)
    model = fs.DirichletMixture(base_precision="validation").fit(counts, truth)
    costs = {}
    for value in 10.0 ** np.arange(1.0, 6.0, 0.5):
        run = started(counts, precision=value, gamma=model.concentration_)
        costs[value] = least_topic_cost(run.score_then_learn(counts), truth)
    assert costs[model.base_precision_] == min(costs.values())


def test_least_topic_cost_is_that_of_the_evaluation():
    rng = np.random.default_rng(4)
    topic = rng.integers(6, size=80)
    first = np.zeros(80, bool)
    first[np.unique(topic, return_index=True)[1]] = True
    score = np.round(rng.normal(size=80) + first, 1)  # with ties
    assert least_topic_cost(score, topic) == pytest.approx(fs.evaluate.tdt_cost(first, score, topic).topic_weighted)
    assert least_topic_cost(np.zeros(80), topic) == 1.0


def test_without_labels_the_stream_chooses_a_fitting_precision():
    """Ten stories, planted with λ = 30: the choice must predict better than its neighbours on the grid."""
    rng = np.random.default_rng(0)
    base = rng.dirichlet(np.ones(100))
    words = rng.dirichlet(30.0 * base, size=10)
    counts = np.stack([rng.multinomial(60, words[k]) for k in rng.integers(10, size=600)]).astype(float)
    model = fs.DirichletMixture().fit(counts)
    assert 10.0 <= model.base_precision_ <= 320.0
    assert model.first_rows_ is None
    assert model.n_clusters_ < 40


def test_clusters_as_a_product():
    counts = np.repeat([[6.0, 3, 1, 0, 0, 0], [0, 0, 1, 5, 4, 0]], [5, 4], axis=0)
    counts[2] = [5, 2, 0, 0, 0, 0]
    model = started(counts, precision=4.0, gamma=1.0)
    model.partial_fit(counts)
    assert model.labels_.tolist() == [0] * 5 + [1] * 4
    assert model.predict_cluster([[3, 1, 0, 0, 0, 0], [0, 0, 0, 2, 2, 0], [0, 0, 0, 0, 0, 9]]).tolist() == [0, 1, -1]
    terms = model.cluster_terms(0, ["bridge", "flood", "said", "vote", "poll", "x"], n_terms=2)
    assert [term for term, _ in terms] == ["bridge", "flood"]
    assert 0 <= model.cluster_representative(0) < 5 <= model.cluster_representative(1)
    with pytest.raises(ParameterError, match="cluster_ids_"):
        model.cluster_terms(7)


def test_times_from_the_first_batch_or_never():
    model = fs.DirichletMixture().fit([[1.0, 2.0]])
    with pytest.raises(ParameterError, match="began without"):
        model.partial_fit([[1.0, 2.0]], times=[5.0])
    timed = fs.DirichletMixture(max_age=10.0).fit([[1.0, 2.0]], times=[1000.0])
    assert timed.novelty([[1.0, 2.0]], times=[1005.0])[0] < 0
    assert timed.novelty([[1.0, 2.0]], times=[1011.0])[0] == 1e6
    assert timed.novelty([[1.0, 2.0]])[0] < 0, "the clock stands still without times"


def test_saved_models_go_on_to_the_last_bit_with_retired_clusters():
    """Packing must not depend on how much room there happened to be."""
    rng = np.random.default_rng(0)
    model = fs.DirichletMixture(update="soft", window=40, max_clusters=12, decay=80.0, base_precision=3.0)
    steps = [sp.csr_matrix(rng.poisson(0.2, size=(37, 50)).astype(float)) for _ in range(8)]
    for t, rows in enumerate(steps):
        model.partial_fit(rows)
        twin = fs.DirichletMixture().set_state(unpack_state(pack_state(model.get_state())))
        for later in steps[t + 1 :]:
            twin.partial_fit(later)
        steps_state = pack_state(twin.get_state())
        if t == 0:
            final = steps_state
        assert steps_state == final


def test_rows_that_are_no_counts_are_refused():
    with pytest.raises(ParameterError, match="sum of a row"):
        fs.DirichletMixture().fit([[1e13, 1.0]])


def test_multinomial_coefficient_cancels():
    """The predictive likelihood that validation compares is the joint one up to the coefficient (A1)."""
    from firststory.detectors.mixture_base import _replay
    from firststory.solvers.empirical_bayes import Rate

    counts, _ = planted(n=12)
    base = np.full(V, 1 / V)
    _, label, evidence = _replay(sp.csr_matrix(counts), 1e6, base, 1 / V, Rate(1, 0.0, 1e-300, 0.0, np.nan))
    assert set(label) == {0}
    # One cluster for sure: the sum of predictions is the likelihood of all counts together.
    total = counts.sum(0)
    joint = gammaln(1e6) - gammaln(1e6 + total.sum()) + (gammaln(1e6 / V + total) - gammaln(1e6 / V)).sum()
    assert evidence.sum() == pytest.approx(joint, rel=1e-9)

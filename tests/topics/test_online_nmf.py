"""OnlineNMF on streams whose topics are known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import firststory as fs
from firststory.datasets.bars import make_bars, make_moving_bars, mix_bars
from firststory.errors import ParameterError
from firststory.state import pack_state
from firststory.topics.lineage import match_topics


def topic_stream(topics, n, rng, weights=None):
    """Documents of 40 words, each about one topic of the rows of `topics`."""
    chosen = rng.choice(len(topics), size=n, p=weights)
    counts = np.stack([rng.multinomial(40, topics[j] / topics[j].sum()) for j in chosen]).astype(float)
    return sp.csr_matrix(counts / np.linalg.norm(counts, axis=1, keepdims=True))


@pytest.fixture
def planted():
    """Five topics of twelve own terms each, over a common background."""
    topics = np.full((5, 60), 0.05)
    for j in range(5):
        topics[j, 12 * j : 12 * j + 12] += np.linspace(2.0, 0.5, 12)
    return topics


@pytest.mark.parametrize("solver", ["hals", "multiplicative"])
def test_planted_topics_are_found_and_keep_their_rows(planted, solver):
    rng = np.random.default_rng(0)
    model = fs.OnlineNMF(5, solver=solver, sweeps=100, random_state=0)
    rows = []
    for _ in range(5):
        model.partial_fit(topic_stream(planted, 80, rng))
        order, cosines = match_topics(model.components_, planted)
        rows.append(order.tolist())
        assert cosines.min() > 0.95
    assert all(order == rows[0] for order in rows)
    assert sorted(model.lineage_.ids) == ["t1", "t2", "t3", "t4", "t5"]
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1.0)
    assert model.weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("solver", "memory", "rounds"), [("multiplicative", 1.0, 1), ("hals", 0.1, 5)])
def test_moving_bars_are_followed_in_their_row(solver, memory, rounds):
    rng = np.random.default_rng(1)
    model = fs.OnlineNMF(
        6, solver=solver, memory=memory, rounds=rounds, init="documents", growth=1.02, sweeps=500, random_state=0
    )
    model.partial_fit(mix_bars(make_moving_bars(0), 60, 0.0, rng))
    rows, cosines = match_topics(model.components_, make_moving_bars(0))
    assert cosines.min() > 0.99
    for step in range(1, 9):
        model.partial_fit(mix_bars(make_moving_bars(step), 60, 0.0, rng))
        now = make_moving_bars(step)
        cosines = np.sum(model.components_[rows] * now, axis=1) / np.linalg.norm(now, axis=1)
        assert cosines.min() > 0.95
    # A bar of four pixels that moves by one shares three of four with itself: cosine 3/4.
    np.testing.assert_allclose(model.lineage_.similarity[rows[:2]], 0.75, atol=0.08)
    assert model.lineage_.similarity[rows[2:]].min() > 0.98


def test_too_much_memory_freezes_what_moves():
    rng = np.random.default_rng(1)
    model = fs.OnlineNMF(
        6, solver="multiplicative", memory=10.0, init="documents", growth=1.02, sweeps=300, random_state=0
    )
    for step in range(7):
        model.partial_fit(mix_bars(make_moving_bars(step), 60, 0.0, rng))
        if step == 0:
            rows, _ = match_topics(model.components_, make_moving_bars(0))
    now = make_moving_bars(6)
    cosines = np.sum(model.components_[rows] * now, axis=1) / np.linalg.norm(now, axis=1)
    assert cosines[:2].max() < 0.5 and cosines[2:].min() > 0.9


@pytest.mark.parametrize("solver", ["hals", "multiplicative"])
def test_the_orthogonality_that_is_asked_for_is_reached(solver):
    """With 5 % per sweep, 100 sweeps end at 0.125: a higher penalty needs more of them, and then overlap is gone."""
    rows = mix_bars(make_bars(crossing=True), 60, 0.0, np.random.default_rng(0))

    def overlap(orthogonality):
        model = fs.OnlineNMF(6, orthogonality=orthogonality, solver=solver, random_state=0).fit(rows)
        return float(np.triu(model.components_ @ model.components_.T, 1).sum())

    found = [overlap(orthogonality) for orthogonality in (0.03, 0.12, 0.2, 3.0)]
    assert all(later < 0.9 * earlier for earlier, later in pairwise(found))
    assert found[-1] < 1e-6


def test_a_penalty_that_annealing_cannot_reach_is_refused():
    with pytest.raises(ParameterError, match="within 10,000 sweeps"):
        fs.OnlineNMF(2, orthogonality=1.0, growth=1.0001).fit(np.eye(3))


@pytest.mark.parametrize(("solver", "memory"), [("hals", 3.0), ("multiplicative", 1.0)])
def test_the_default_memory_is_the_one_that_was_chosen(planted, solver, memory):
    rng = np.random.default_rng(9)
    steps = [topic_stream(planted, 40, rng) for _ in range(3)]
    default, chosen = (
        fs.OnlineNMF(5, solver=solver, random_state=0, **options) for options in ({}, {"memory": memory})
    )
    for rows in steps:
        default.partial_fit(rows)
        chosen.partial_fit(rows)
    np.testing.assert_array_equal(default.components_, chosen.components_)


@pytest.mark.parametrize("solver", ["hals", "multiplicative"])
def test_a_word_new_to_a_topic_is_not_locked_out(planted, solver):
    """Multiplicative updates never leave zero: the floor (and HALS by itself) lets new words in."""
    rng = np.random.default_rng(2)
    model = fs.OnlineNMF(5, solver=solver, orthogonality=0.0, sweeps=100, random_state=0)
    model.partial_fit(topic_stream(planted, 100, rng))
    topic = int(match_topics(model.components_, planted)[0][0])
    wider = np.pad(planted, ((0, 0), (0, 1)))
    wider[0, 60] = 4.0
    assert model.components_.shape == (5, 60)
    for _ in range(3):
        model.partial_fit(topic_stream(wider, 100, rng))
    assert model.components_.shape == (5, 61)
    assert int(np.argmax(model.components_[topic])) == 60
    assert np.delete(model.components_[:, 60], topic).max() < 0.1


def test_relation_says_what_became_of_the_topics(planted):
    """Rows of P rebuild the old topics from the new ones."""
    rng = np.random.default_rng(3)
    model = fs.OnlineNMF(5, random_state=0).partial_fit(topic_stream(planted, 100, rng))
    np.testing.assert_array_equal(model.relation_, np.eye(5))
    old = model.components_.copy()
    model.partial_fit(topic_stream(planted, 100, rng))
    assert np.linalg.norm(model.relation_ @ model.components_ - old) / np.linalg.norm(old) < 0.2
    assert (np.diag(model.relation_) > 0.8).all()


def test_a_dead_topic_is_seeded_again(planted):
    """Fewer kinds of documents than topics at first: the idle topic takes up what comes later."""
    rng = np.random.default_rng(4)
    model = fs.OnlineNMF(5, memory=0.5, random_state=0)
    model.partial_fit(topic_stream(planted[:2], 40, rng))
    slot = 3
    model.components_[slot] = 0.0
    model.gram_[slot] = model.gram_[:, slot] = 0.0
    model.cross_[:, slot] = 0.0
    model.partial_fit(topic_stream(planted, 100, rng))
    assert np.linalg.norm(model.components_[slot]) == pytest.approx(1.0)
    for _ in range(4):
        model.partial_fit(topic_stream(planted, 100, rng))
    assert np.diag(model.gram_).min() > 0.0
    assert match_topics(model.components_, planted)[1].min() > 0.9


@pytest.mark.parametrize("birth", ["add", "replace"])
def test_a_topic_is_born_from_what_is_left_over(planted, birth):
    rng = np.random.default_rng(5)
    known, fresh = planted[:4], planted[4]
    model = fs.OnlineNMF(4, birth=birth, random_state=0)
    for _ in range(8):
        model.partial_fit(topic_stream(known, 100, rng))
        assert model.born_ == -1
    now = planted[[0, 1, 2, 4]] if birth == "replace" else planted
    for step in range(3):
        model.partial_fit(topic_stream(now, 100, rng))
        if step == 0:
            assert model.born_ >= 0
            assert model.components_[model.born_] @ fresh / np.linalg.norm(fresh) > 0.9
    assert model.components_.shape[0] == (5 if birth == "add" else 4)
    assert match_topics(model.components_, now)[1].min() > 0.9
    born = [event for event in model.lineage_.events if event.kind in ("born", "split") and event.step == 8]
    assert [event.topic for event in born] == ["t5"]


def test_births_are_bounded():
    rng = np.random.default_rng(6)
    model = fs.OnlineNMF(3, birth="add", max_components=5, memory=0.2, random_state=0)
    for step in range(40):
        centre = np.zeros(50)
        centre[(step // 6) * 7 : (step // 6) * 7 + 5] = 1.0
        model.partial_fit(topic_stream((centre + 0.02)[None, :], 30, rng))
    assert model.components_.shape[0] <= 5


def test_memory_limits():
    rng = np.random.default_rng(7)
    first, second = make_bars()[:3], make_bars()[3:]
    for memory, remembers in ((0.0, False), (np.inf, True)):
        model = fs.OnlineNMF(3, memory=memory, rounds=3, random_state=0)
        for _ in range(4):
            model.partial_fit(mix_bars(first, 50, 0.0, rng))
        for _ in range(2):
            model.partial_fit(mix_bars(second, 20, 0.0, rng))
        weight = np.linalg.norm(model.components_ @ first.T) > 0.5 * np.linalg.norm(model.components_ @ second.T)
        assert bool(weight) is remembers


def test_plain_bad_input():
    with pytest.raises(ParameterError, match="finite"):
        fs.OnlineNMF(2, solver="multiplicative", memory=np.inf).fit(np.eye(3))
    with pytest.raises(ParameterError, match="memory"):
        fs.OnlineNMF(2, memory=-1.0).fit(np.eye(3))


def test_documents_without_any_known_word():
    """All-empty rows teach nothing and break nothing, at the start and later."""
    model = fs.OnlineNMF(2, random_state=0)
    model.partial_fit(sp.csr_matrix((3, 4)))
    assert not model.components_.any() and model.lineage_.ids == ["", ""]
    assert not model.transform(sp.csr_matrix([[1.0, 0, 0, 0]])).any()
    model.partial_fit(sp.csr_matrix([[1.0, 1, 0, 0], [0, 0, 1, 1.0]]))
    before = model.components_.copy()
    model.partial_fit(sp.csr_matrix((2, 6)))
    np.testing.assert_array_equal(model.components_[:, :4], before)
    assert np.isfinite(model.transform(sp.csr_matrix((1, 6)))).all()


@pytest.mark.parametrize("solver", ["hals", "multiplicative"])
def test_state_size_does_not_depend_on_the_stream(planted, solver):
    rng = np.random.default_rng(8)
    model = fs.OnlineNMF(5, solver=solver, sweeps=20, random_state=0)
    sizes = []
    for _ in range(40):
        model.partial_fit(topic_stream(planted, 20, rng))
        sizes.append(len(pack_state(model.get_state())))
    assert max(sizes[-5:]) <= 1.1 * max(sizes[10:15])


def test_a_model_that_was_saved_and_loaded_gives_birth_to_the_same_bits():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(1500, 0.02), size=26)

    def draw(known):
        drawn = [rng.multinomial(150, topics[k]) for k in rng.choice(known, 80)]
        return sp.csr_matrix(np.stack(drawn).astype(float))

    model = fs.OnlineNMF(n_components=20, memory=3.0, birth="replace", random_state=0)
    for _ in range(12):
        model.partial_fit(draw(20))
    loaded = fs.OnlineNMF().set_state(model.get_state())
    news = draw(26)
    model.partial_fit(news)
    loaded.partial_fit(news)
    assert model.born_ >= 0
    np.testing.assert_array_equal(loaded.components_, model.components_)

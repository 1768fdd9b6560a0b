"""The protocol of the dictionary experiments on a tiny planted stream: no look ahead, novelty by first timestep."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import firststory as fs
from firststory.datasets.timesteps import timesteps
from firststory.evaluate.ranking import StepAuc
from firststory.lab.experiments import tdt2
from firststory.lab.experiments.dictionary_stream import Outcome, auc_table, follow


def planted():
    rng = np.random.default_rng(0)
    labels = np.concatenate([rng.integers(2, size=40), rng.integers(3, size=40), rng.integers(3, size=40)])
    blocks = np.kron(np.eye(3), np.ones(10) / 10)
    counts = np.stack([rng.multinomial(15, blocks[label]) for label in labels]).astype(float)
    return sp.csr_matrix(counts), labels


def test_timesteps_never_look_ahead():
    counts, labels = planted()
    whole, part = timesteps(counts, labels, 40), timesteps(counts[:80], labels[:80], 40)
    for a, b in zip(whole.rows[:2], part.rows, strict=True):
        np.testing.assert_array_equal(a.toarray(), b.toarray())
    np.testing.assert_array_equal(whole.novel[1], labels[40:80] == 2)
    assert whole.novel[0].all() and not whole.novel[2].any()
    np.testing.assert_allclose(np.asarray(whole.rows[1].sum(axis=1)).ravel(), 1.0)


def test_following_a_stream_finds_the_new_topic():
    stream = timesteps(*planted(), 40)
    outcome = follow(fs.OnlineL1Dictionary(n_atoms=8, multiplier="inner"), stream)
    neighbour = follow(fs.NearestNeighbour(), stream, once=False)
    assert outcome.average > 0.95 and neighbour.average > 0.95 and outcome.seconds.shape == (2,)
    table = auc_table({"ours": outcome, "neighbour": neighbour}, {"published": {1: 0.25}})
    assert "| ours |" in table and table.count("\n") == 4 and "| *published* | 0.250 | *0.250* |" in table


def test_the_objective_is_scored_before_learning_and_changes_nothing():
    stream = timesteps(*planted(), 40)
    plain = follow(fs.OnlineL1Dictionary(n_atoms=8), stream)
    both = follow(fs.OnlineL1Dictionary(n_atoms=8), stream, objective=True)
    np.testing.assert_array_equal(plain.auc.auc, both.auc.auc)
    fitted = fs.OnlineL1Dictionary(n_atoms=8).fit(stream.rows[0])
    np.testing.assert_array_equal(both.objective[0], fitted.objective(stream.rows[1]))
    assert both.by_objective().scores is both.objective


def outcome_of(auc):
    steps = StepAuc(np.arange(1, 3), np.full(2, auc), np.full(2, 40), np.full(2, 100))
    return Outcome(steps, (), np.ones(2))


def test_the_verdict_follows_from_the_figures():
    names = (*tdt2.L1_METHODS, tdt2.BATCH_L2, tdt2.NEIGHBOUR)
    behind = tdt2.order_sentence({name: outcome_of(0.9 if name in tdt2.L1_METHODS else 0.7) for name in names})
    ahead = tdt2.order_sentence({name: outcome_of(0.7 if name in tdt2.L1_METHODS else 0.9) for name in names})
    assert behind.count("ranks worse than the best l1-dictionary") == 2 and "not supported" not in behind
    assert ahead.count("ranks better than every l1-dictionary") == 2 and ahead.count("not supported") == 2

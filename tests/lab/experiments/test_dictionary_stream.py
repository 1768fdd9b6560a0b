"""The protocol of the dictionary experiments on a tiny planted stream: no look ahead, novelty by first timestep."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import firststory as fs
from firststory.datasets.timesteps import timesteps
from firststory.lab.experiments.dictionary_stream import auc_table, follow


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
    table = auc_table({"ours": outcome, "neighbour": neighbour}, {"ours": "0.5"})
    assert "| ours |" in table and table.count("\n") == 3

"""Planted bursts among the novel documents come out as clusters with the right members."""

from __future__ import annotations

import numpy as np
import pytest

import firststory as fs
from firststory.errors import ParameterError


def test_planted_topics_are_found_with_support_and_representative():
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(4), np.ones(8) / 8)
    truth = np.repeat([0, 1, 2, 3], [60, 12, 8, 2])
    rows = np.stack([rng.multinomial(20, blocks[t]) for t in truth]).astype(float)
    novelty = np.where(truth == 0, 0.0, 1.0) + 0.01 * rng.random(truth.size)
    topics = fs.emerging_topics(rows, novelty, fraction=22 / 82, n_topics=6)
    assert topics and [t.support for t in topics] == sorted([t.support for t in topics], reverse=True)
    for topic in topics:
        assert len(set(truth[topic.members])) == 1 and topic.representative == topic.members[0]
        assert topic.support == topic.members.size >= 3
        assert topic.terms[0] // 8 == truth[topic.representative]
    assert {1, 2} <= {truth[t.representative] for t in topics}
    assert 0 not in {truth[i] for t in topics for i in t.members}


def test_bad_arguments():
    with pytest.raises(ParameterError, match="fraction"):
        fs.emerging_topics(np.eye(3), [1, 2, 3], fraction=0)
    with pytest.raises(ParameterError, match="novelty"):
        fs.emerging_topics(np.eye(3), [1, 2])
    assert fs.emerging_topics(np.zeros((4, 2)), np.zeros(4)) == []

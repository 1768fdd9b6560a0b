"""The regret of an on-line learner of single-topic models, measured in word space (C6)-(C7).

With Mbar_t = sum_j wbar_j u_j (x) u_j (x) u_j the expected third moment of the first t documents given their topics
(wbar: the shares of the topics among them) and M(theta) that of a model,

    Loss_t(theta) = t |Mbar_t - M(theta)|^2,   l_t = Loss_t - Loss_(t-1),   R(n) = sum_t l_t(theta_(t-1)) - min,

in the tensor spectral norm. Word space is one fixed frame; whitened frames turn from step to step, and comparing
tensors between them would mean nothing. The best model in hindsight is Mbar_n itself, with loss 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.solvers.tensor_power import rank_one_sum, spectral_norm


def word_space_regret(
    topics: Sequence[int] | NDArray[np.int64],
    true_topics: Floats,
    played: Iterable[tuple[Floats, Floats]],
    n_starts: int = 20,
) -> Floats:
    """R(1), ..., R(n): `topics` of the documents, `true_topics` (k x d, small d), the (weights, topics) played at each.

    Examples
    --------
    >>> import numpy as np
    >>> u = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> knows = word_space_regret([0, 0, 0], u, [(np.array([1.0, 0.0]), u)] * 3)
    >>> bool(knows[-1] < 1e-12)
    True
    >>> bool(word_space_regret([0, 0, 0], u, [(np.array([0.0, 1.0]), u)] * 3)[-1] > 0.5)
    True
    """
    k, d = true_topics.shape
    starts = np.random.default_rng(0).standard_normal((n_starts, d))
    counts, total, curve = np.zeros(k), 0.0, []
    before = np.zeros((d, d, d))
    for t, (topic, (weights, words)) in enumerate(zip(topics, played, strict=True), start=1):
        counts[topic] += 1.0
        now, model = rank_one_sum(counts / t, true_topics), rank_one_sum(weights, words)
        total += t * spectral_norm(now - model, starts) ** 2
        if t > 1:
            total -= (t - 1) * spectral_norm(before - model, starts) ** 2
        before = now
        curve.append(total)
    return np.array(curve)

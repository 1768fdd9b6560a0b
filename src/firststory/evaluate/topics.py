"""How good topics are: against known factors, against the corpus, and against labels.

`match_topics` says which found topic is which true one, `factor_divergence` is the papers' KL, `npmi_coherence` asks
whether the heaviest words of a topic occur together, `reconstruction_error` is what the topics leave unexplained.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from firststory.arrays import Floats
from firststory.solvers.orthogonal_nmf import code_step, relative_residuals
from firststory.topics.lineage import match_topics, unit_topics


def factor_divergence(found: ArrayLike, true: ArrayLike) -> float:
    """Mean KL(true || found) over matched rows that are made to sum to one."""
    rows, _ = match_topics(found, true)
    p = np.asarray(true, dtype=np.float64)
    p = p / p.sum(axis=1, keepdims=True)
    q = np.asarray(found, dtype=np.float64)[rows] + 1e-9
    q = q / q.sum(axis=1, keepdims=True)
    terms = np.where(p > 0.0, p * np.log(np.maximum(p, 1e-300) / q), 0.0)
    return float(terms.sum(axis=1).mean())


def npmi_coherence(components: ArrayLike, documents: sp.spmatrix, n_terms: int = 10) -> float:
    """Mean normalised pointwise mutual information of pairs among each topic's heaviest terms, in whole documents."""
    present = sp.csc_matrix(documents, dtype=np.float64, copy=True)
    present.data[:] = 1.0
    n, scores = present.shape[0], []
    for row in np.asarray(components):
        top = np.argsort(-row, kind="stable")[:n_terms]
        top = top[row[top] > 0.0]
        together = (present[:, top].T @ present[:, top]).toarray() / n
        alone = np.diag(together)
        for a in range(top.size):
            for b in range(a + 1, top.size):
                joint = together[a, b]
                if joint <= 0.0:
                    scores.append(-1.0)
                elif joint >= 1.0:
                    scores.append(1.0)
                else:
                    scores.append(float(np.log(joint / (alone[a] * alone[b])) / -np.log(joint)))
    return float(np.mean(scores)) if scores else float("nan")


def reconstruction_error(components: ArrayLike, rows: sp.csr_matrix) -> tuple[float, Floats]:
    """`||X - WH||_F / ||X||_F` with the best codes W >= 0 for these topics, and the codes."""
    topics = np.ascontiguousarray(unit_topics(components).T)
    coding = code_step(rows, topics, sweeps=500, tolerance=1e-8)
    sizes = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    left = float(np.sum(relative_residuals(rows, coding) ** 2 * sizes))
    return float(np.sqrt(left / max(float(sizes.sum()), 1e-300))), coding.codes

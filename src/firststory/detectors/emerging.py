"""Emerging topics: cluster the most novel documents of a timestep by a small dictionary of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_non_negative

from firststory.detectors.l1_base import unit_rows
from firststory.errors import ParameterError
from firststory.solvers.initial_atoms import cluster_centres
from firststory.solvers.l1_dictionary import learn_dictionary


@dataclass(frozen=True, slots=True)
class EmergingTopic:
    """A cluster of novel documents."""

    members: NDArray[np.int64]
    """Rows of X, best explained first."""
    support: int
    representative: int
    """The member that the topic's atom explains best."""
    terms: NDArray[np.int64]
    """Columns of the atom, heaviest first."""
    weights: NDArray[np.float64]


def emerging_topics(
    X: ArrayLike | sp.spmatrix,
    novelty: ArrayLike,
    fraction: float = 0.1,
    *,
    n_topics: int | None = None,
    min_support: int = 3,
    alpha: float = 0.1,
    n_jobs: int | None = 1,
) -> list[EmergingTopic]:
    """Clusters among the `fraction` of rows with the largest novelty, largest support first.

    An l1-dictionary of `n_topics` atoms (by default one for every five rows) is learnt on those rows; each row
    joins the atom of its largest code, and clusters with fewer than `min_support` rows are dropped.

    References
    ----------
    Kasiviswanathan et al. (2011), section 5, and (2012), the Twitter experiment.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 1, 0, 0, 0, 0]] * 6 + [[0, 0, 1, 1, 0, 0.0]] * 3 + [[0, 0, 0, 0, 1.0, 1]] * 3)
    >>> found = emerging_topics(rows, novelty=[0.1] * 6 + [0.9] * 6, fraction=0.5, n_topics=2)
    >>> sorted(topic.members.tolist() for topic in found)
    [[6, 7, 8], [9, 10, 11]]
    """
    owner = "emerging_topics"
    rows = sp.csr_matrix(check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X"))
    check_non_negative(rows, owner)
    scores = np.asarray(novelty, dtype=np.float64)
    if not 0 < fraction <= 1:
        raise ParameterError(
            owner=owner,
            parameter="fraction",
            allowed="above 0 and at most 1",
            received=fraction,
            remedy="0.1 takes the most novel tenth, as the paper does.",
        )
    if scores.shape != (rows.shape[0],):
        raise ParameterError(
            owner=owner,
            parameter="novelty",
            allowed=f"{rows.shape[0]} scores, one per row of X",
            received=f"an array of shape {scores.shape}",
            remedy="Pass detector.novelty(X) of the same X.",
        )
    size = max(1, round(fraction * rows.shape[0]))
    top = np.argsort(-scores, kind="stable")[:size]
    rows.sum_duplicates()
    unit = unit_rows(rows[top])
    k = n_topics if n_topics is not None else max(2, size // 5)
    # Cluster centres, not heavy words: the heaviest words of a burst all belong to the largest topic.
    atoms = cluster_centres(unit, k, np.random.default_rng(0))
    learnt = learn_dictionary(unit, atoms, alpha, n_jobs=n_jobs)
    codes = learnt.coding.codes
    strongest = np.full(size, -1)
    used = np.flatnonzero(np.diff(codes.indptr))
    strongest[used] = np.asarray(codes[used].argmax(axis=1)).ravel()
    topics = []
    for j in range(k):
        mine = np.flatnonzero(strongest == j)
        if mine.size < min_support:
            continue
        mine = mine[np.argsort(learnt.coding.objective[mine], kind="stable")]
        atom = learnt.atoms[j]
        order = np.argsort(-atom.data, kind="stable")
        topics.append(
            EmergingTopic(
                members=top[mine],
                support=int(mine.size),
                representative=int(top[mine[0]]),
                terms=atom.indices[order].astype(np.int64),
                weights=atom.data[order],
            )
        )
    return sorted(topics, key=lambda topic: -topic.support)

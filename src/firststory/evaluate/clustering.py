"""How well clusters match labels: B-cubed, normalised mutual information, adjusted Rand index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class BCubed:
    """Mean over documents of the precision and recall of the cluster each one lies in."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def b_cubed(labels: ArrayLike, clusters: ArrayLike) -> BCubed:
    """B-cubed precision and recall (Bagga and Baldwin, 1998).

    Examples
    --------
    >>> b_cubed([0, 0, 1, 1], [5, 5, 5, 5])
    BCubed(precision=0.5, recall=1.0)
    """
    truth, found = _numbers(labels), _numbers(clusters)
    table = sp.coo_matrix((np.ones(truth.size), (truth, found))).tocsr()
    overlap = np.asarray(table[truth, found]).ravel()
    return BCubed(
        precision=float(np.mean(overlap / np.bincount(found)[found])),
        recall=float(np.mean(overlap / np.bincount(truth)[truth])),
    )


def clustering_scores(labels: ArrayLike, clusters: ArrayLike) -> dict[str, float]:
    """B-cubed F1, NMI and ARI over the documents that have a label, and the number of clusters they fell into."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    kept = np.array([label is not None for label in np.asarray(labels, dtype=object)])
    truth = _numbers(np.asarray(labels, dtype=object)[kept])
    found = _numbers(np.asarray(clusters, dtype=object)[kept])
    return {
        "b_cubed_f1": b_cubed(truth, found).f1,
        "nmi": float(normalized_mutual_info_score(truth, found)),
        "ari": float(adjusted_rand_score(truth, found)),
        "n_clusters": float(found.max() + 1),
    }


def _numbers(names: ArrayLike) -> NDArray[np.int64]:
    number: dict[Any, int] = {}
    return np.array([number.setdefault(name, len(number)) for name in np.asarray(names, dtype=object)], dtype=np.int64)

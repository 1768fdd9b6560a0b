"""What a user reads of a fitted mixture: its clusters, what they are about, and the base measure behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from firststory.arrays import Floats
from firststory.detectors.mixture_clusters import MixtureClusters
from firststory.errors import ParameterError


class MixtureView:
    """The reading side of `DirichletMixture`; nothing here changes anything."""

    clusters_: MixtureClusters

    def cluster_terms(
        self, cluster: int, vocabulary: ArrayLike | None = None, n_terms: int = 10
    ) -> list[tuple[Any, float]]:
        """The terms that set a cluster apart: (term, or column where no vocabulary is given; weight), best first.

        The weight is the term's share of the Kullback-Leibler divergence of the cluster's word distribution from π.
        """
        clusters, j = self.clusters_, self._slot(cluster)
        counts, base = clusters.counts(j), clusters.base
        prior = base.prior[: clusters.width]
        share = (prior + counts) / (base.precision + counts.sum())
        weight = np.where(counts > 0, share * np.log(share * base.precision / prior), 0.0)
        best = np.argsort(-weight, kind="stable")[:n_terms]
        names = None if vocabulary is None else np.asarray(vocabulary, dtype=object)
        return [(int(v) if names is None else names[v], float(weight[v])) for v in best if weight[v] > 0]

    def cluster_representative(self, cluster: int) -> int:
        """Ordinal (0-based, since the start of the stream) of the member that the cluster explained best as it came."""
        return int(self.clusters_.stats.representative[self._slot(cluster)])

    @property
    def n_clusters_(self) -> int:
        check_is_fitted(self)
        return self.clusters_.n_clusters

    @property
    def cluster_ids_(self) -> NDArray[np.int64]:
        check_is_fitted(self)
        return self.clusters_.stats.identity[self.clusters_.slots()]

    @property
    def cluster_sizes_(self) -> Floats:
        check_is_fitted(self)
        sizes: Floats = self.clusters_.stats.mass[self.clusters_.slots()] * self.clusters_.scale
        return sizes

    @property
    def forgotten_mass_(self) -> float:
        check_is_fitted(self)
        return self.clusters_.seen - float(self.cluster_sizes_.sum())

    @property
    def base_precision_(self) -> float:
        check_is_fitted(self)
        return self.clusters_.base.precision

    @property
    def base_measure_(self) -> Floats:
        check_is_fitted(self)
        clusters = self.clusters_
        measure: Floats = clusters.base.prior[: clusters.width] / clusters.base.precision
        return measure

    @property
    def concentration_(self) -> float:
        check_is_fitted(self)
        return self.clusters_.concentration

    def _slot(self, cluster: int) -> int:
        check_is_fitted(self)
        slots = self.clusters_.slots()
        found = slots[self.clusters_.stats.identity[slots] == cluster]
        if not found.size:
            raise ParameterError(
                owner=type(self).__name__,
                parameter="cluster",
                allowed="one of cluster_ids_",
                received=cluster,
                remedy="The cluster was retired, or never was; see cluster_ids_.",
            )
        return int(found[0])

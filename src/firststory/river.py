"""Use any firststory detector where river expects an anomaly detector: one document at a time, as a dict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from firststory.errors import MissingExtraError

try:
    from river.base import AnomalyDetector
except ImportError as error:  # pragma: no cover - the extra is installed where the tests run
    raise MissingExtraError("firststory.river", "river", "river") from error


class RiverDetector(AnomalyDetector):
    """`score_one` / `learn_one` over a detector; features get a column when they are first learnt."""

    def __init__(self, detector: Any) -> None:
        self.detector = detector
        self.columns: dict[str, int] = {}

    def learn_one(self, x: Mapping[str, float]) -> None:
        """Learn one document, features that were never seen included."""
        for name in x:
            self.columns.setdefault(name, len(self.columns))
        if self.columns:
            self.detector.partial_fit(self._row(x))

    def score_one(self, x: Mapping[str, float]) -> float:
        """How novel it is; 1.0 before anything was learnt. Never learns."""
        if not hasattr(self.detector, "n_features_in_"):
            return 1.0
        return float(self.detector.novelty(self._row(x))[0])

    def _row(self, x: Mapping[str, float]) -> sp.csr_matrix:
        # Features that were never learnt stand to the right of the known columns: present, and unknown.
        fresh = (name for name in x if name not in self.columns)
        place = {name: len(self.columns) + i for i, name in enumerate(fresh)}
        column = np.array([self.columns.get(name, place.get(name, -1)) for name in x], dtype=np.int64)
        data = np.array(list(x.values()), dtype=np.float64)
        width = max(len(self.columns) + len(place), 1)
        return sp.csr_matrix((data, (np.zeros(len(column), dtype=np.int64), column)), shape=(1, width))


def as_river(detector: Any) -> RiverDetector:
    """The detector with river's verbs.

    Examples
    --------
    >>> import firststory as fs
    >>> model = fs.river.as_river(fs.NearestNeighbour())
    >>> model.learn_one({"flood": 2, "bridge": 1})
    >>> round(model.score_one({"flood": 2, "bridge": 1}), 6), model.score_one({"strike": 1})
    (0.0, 1.0)
    """
    return RiverDetector(detector)

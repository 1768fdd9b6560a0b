"""A labelled history: its labels as they come, which documents were first, and what a score would have cost there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.arrays import Floats
from firststory.errors import ParameterError

FALSE_ALARM_WEIGHT = 4.9
"""P_miss + 4.9 P_FA is the TDT cost with its usual constants (A14)."""


def codes_of(y: Any, n: int, owner: str) -> NDArray[np.int64]:
    """0, 1, … for the labels in order of first appearance; −1 for rows without a label.

    Examples
    --------
    >>> codes_of(["flood", None, "vote", "flood"], 4, "codes_of").tolist()
    [0, -1, 1, 0]
    """
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    labels = [label[0] if isinstance(label, list) and len(label) == 1 else label for label in labels]
    if len(labels) != n or any(isinstance(label, (list, set, dict)) for label in labels):
        raise ParameterError(
            owner=owner,
            parameter="y",
            allowed=f"{n} single labels, one per row (None where a row has none)",
            received=y,
            remedy="Pass one story or topic per row; for documents on several, choose the first.",
        )
    codes: dict[Any, int] = {}
    return np.array(
        [-1 if _missing(label) else codes.setdefault(label, len(codes)) for label in labels], dtype=np.int64
    )


def _missing(label: Any) -> bool:
    return label is None or label == "" or (isinstance(label, (int, float)) and (label != label or label == -1))


def first_of_each(label: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True for the first row of each label."""
    novel = np.zeros(label.shape[0], np.bool_)
    novel[np.unique(label, return_index=True)[1]] = True
    return novel


def least_topic_cost(score: Floats, label: NDArray[np.int64]) -> float:
    """Minimum over thresholds of topic-weighted P_miss + 4.9 P_FA; rows labelled −1 are not judged (A14)."""
    known = np.flatnonzero(label >= 0)
    score, topic = score[known], np.unique(label[known], return_inverse=True)[1]
    sizes = np.bincount(topic)
    others = np.maximum(sizes - 1, 1)
    weight = np.where(first_of_each(topic), -1.0, FALSE_ALARM_WEIGHT / others[topic]) / sizes.shape[0]
    order = np.argsort(-score, kind="stable")
    cost = 1.0 + np.concatenate([[0.0], np.cumsum(weight[order])])
    between = np.concatenate([[True], np.diff(score[order]) != 0.0, [True]])  # tied scores move together
    return float(cost[between].min())

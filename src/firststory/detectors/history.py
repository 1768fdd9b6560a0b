"""Labels of a history, as they come: None, NaN, an empty string or −1 where a row has none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.errors import ParameterError


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
            allowed=f"{n} single labels, one a row (None where a row has none)",
            received=y,
            remedy="Pass one story or topic a row; for documents on several, choose the first.",
        )
    codes: dict[Any, int] = {}
    return np.array(
        [-1 if _missing(label) else codes.setdefault(label, len(codes)) for label in labels], dtype=np.int64
    )


def _missing(label: Any) -> bool:
    return label is None or label == "" or (isinstance(label, (int, float)) and (label != label or label == -1))

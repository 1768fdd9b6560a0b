"""Which terms a pruning keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.text.weighting import DocumentFrequencies


def kept_terms(
    frequencies: DocumentFrequencies, n_terms: int | None, min_df: float | None, keep: NDArray[Any] | None
) -> NDArray[np.bool_]:
    """Whether each term stays: at most `n_terms`, each in at least `min_df` documents, and those of `keep` always.

    Terms in most documents of the (decayed) past come first, among equals those seen last.
    """
    frequency = frequencies.now()
    stays = np.ones(frequency.size, dtype=np.bool_)
    needed = np.zeros(frequency.size, dtype=np.bool_)
    needed[[] if keep is None else keep] = True
    if n_terms is not None:
        # Those that must stay first: they count among the n_terms.
        order = np.lexsort((np.arange(stays.size), -frequencies.seen[: stays.size], -frequency, ~needed))
        stays[order[max(n_terms, 0) :]] = False
    if min_df is not None:
        stays &= frequency >= min_df
    return stays | needed

"""The documents of a step as arrays, for the kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firststory.alerts.events.document import EventDocument
from firststory.arrays import Flags, Floats, Ints
from firststory.kernels.alerts.layout import StepRows
from firststory.kernels.alerts.rows import in_titles


def step_rows(
    documents: Sequence[EventDocument], clock: Floats, sources: Ints, previous: Ints, is_settled: Flags, alerted: Floats
) -> StepRows:
    """One row per document; `previous` is the document of its story before it, `is_settled` whether that was alerted.

    `alerted` is when it was last, or when it turned; -inf where it never was.
    """
    cells, titles = [one.columns for one in documents], [one.title_columns for one in documents]
    columns, title_columns = (np.concatenate(parts).astype(np.int64) for parts in (cells, titles))
    indptr, title_indptr = (np.concatenate([[0], np.cumsum(list(map(len, parts)))]) for parts in (cells, titles))
    return StepRows(
        indptr=indptr,
        columns=columns,
        weights=np.concatenate([one.weights for one in documents]).astype(np.float64),
        in_title=in_titles(indptr, columns, title_indptr, title_columns),
        clock=clock,
        source=sources,
        previous=previous,
        is_settled=is_settled,
        alerted=alerted,
    )

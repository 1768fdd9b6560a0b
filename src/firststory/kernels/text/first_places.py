"""Where each term of a text first stands."""

from __future__ import annotations

import numpy as np

from firststory.arrays import Array
from firststory.kernels.jit import kernel
from firststory.kernels.text.counting import NO_TERM


@kernel
def first_places(
    forms: Array,
    begins: Array,
    ends: Array,
    form_column: Array,
    form_first: Array,
    form_last: Array,
    form_columns: Array,
    form_common: Array,
    mark: Array,
) -> tuple[Array, Array, Array]:
    """The columns of the terms of texts, each with the first token that has it; common forms are left out.

    Text i has the tokens from begins[i] to ends[i]; what it has stands from the i-th to the next of the third array
    on. A form has one term and knows its column, or none, or several that are listed (see `counting`). `mark` is zero
    before and after.
    """
    room = 0
    for i in range(len(begins)):
        for t in range(begins[i], ends[i]):
            f = forms[t]
            if f >= 0 and form_column[f] != NO_TERM and not form_common[f]:
                room += 1 if form_column[f] >= 0 else form_last[f] - form_first[f]
    columns, tokens = np.empty(room, np.int32), np.empty(room, np.int32)
    parts = np.zeros(len(begins) + 1, np.int64)
    n = 0
    for i in range(len(begins)):
        for t in range(begins[i], ends[i]):
            f = forms[t]
            if f < 0 or form_column[f] == NO_TERM or form_common[f]:
                continue
            single = form_column[f] >= 0
            for a in range(0 if single else form_first[f], 1 if single else form_last[f]):
                v = form_column[f] if single else form_columns[a]
                if v >= 0 and mark[v] == 0.0:
                    mark[v] = 1.0
                    columns[n], tokens[n] = v, t
                    n += 1
        parts[i + 1] = n
        for k in range(parts[i], n):
            mark[columns[k]] = 0.0
    return columns[:n], tokens[:n], parts

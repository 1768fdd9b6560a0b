"""Count terms document by document and weight them by document frequencies of the past only."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Array
from firststory.kernels.jit import kernel, part_of_kernel
from firststory.kernels.neighbours.prefetch import prefetch
from firststory.kernels.sorting import N_BYTES, sort_numbers

COUNT, BINARY, TFIDF = range(3)
NO_NORM, L1, L2 = range(3)

FIRST_ROOM = 1024
"""Terms of a document that there is room for at the beginning."""

NO_TERM, MANY_TERMS = -1, -2
"""Of a form that has no term; of one whose terms are listed. Otherwise a form has one term and knows its column."""


@kernel
def pending_forms(forms: Array, n_tokens: int, missing: Array, flag: Array, found: Array) -> int:
    """The forms among the tokens that have terms without a column, in the order of first appearance."""
    m = 0
    for t in range(n_tokens):
        f = forms[t]
        if f >= 0 and missing[f] > 0 and flag[f] == 0:
            flag[f] = 1
            found[m] = f
            m += 1
    for k in range(m):
        flag[found[k]] = 0
    return m


@kernel
def place_terms(
    numbers: Array,
    known: int,
    counts: Array,
    found: Array,
    used: int,
    form_column: Array,
    form_first: Array,
    form_last: Array,
    form_columns: Array,
    form_missing: Array,
) -> int:
    """Give forms the columns of their terms: the next counts[i] of `found` are those of form numbers[i].

    Forms from `known` on are new and take the places from `used` on, in order. Returns by how much the forms that have
    terms without a column became more, new ones counting as if they had had none.
    """
    more = 0
    a = 0
    for i in range(numbers.shape[0]):
        f = numbers[i]
        if f >= known:
            form_first[f] = used
            used += counts[i]
            form_last[f] = used
        else:
            more -= form_missing[f] > 0
        begin = form_first[f]
        missing = 0
        for k in range(begin, begin + counts[i]):
            form_columns[k] = found[a]
            missing += found[a] < 0
            a += 1
        more += missing > 0
        form_missing[f] = missing
        if counts[i] == 0:
            form_column[f] = NO_TERM
        else:
            form_column[f] = form_columns[begin] if counts[i] == 1 and missing == 0 else MANY_TERMS
    return more


@part_of_kernel
def decayed(frequency: float, seen: float, now: float, keep: float) -> float:
    """A document frequency that was last touched at document `seen`, as it counts at document `now`."""
    return frequency if keep == 1.0 else frequency * keep ** (now - seen)


@part_of_kernel
def idf(frequency: float, total: float) -> float:
    """ln((1 + N) / (1 + df)) + 1; never under 1 where df <= N."""
    return math.log((1.0 + total) / (1.0 + frequency)) + 1.0


@part_of_kernel
def is_short_document(
    most: int,
    forms: Array,
    starts: Array,
    token: int,
    n_tokens: int,
    limit: int,
    form_column: Array,
    form_common: Array,
) -> bool:
    """Whether the tokens from `token` on that start before `limit` hold at most so many words, not all of them common.

    A document of stop words only is not short but empty: nothing in it can be new.
    """
    words, own = 0, 0
    while token < n_tokens and starts[token] < limit and words <= most:
        if forms[token] >= 0 and form_column[forms[token]] != NO_TERM:
            words += 1
            own += not form_common[forms[token]]
        token += 1
    return words <= most and own > 0


@kernel
def count_documents(
    forms: Array,
    starts: Array,
    n_tokens: int,
    document_ends: Array,
    leave_open: bool,
    form_column: Array,
    form_first: Array,
    form_last: Array,
    form_columns: Array,
    form_missing: Array,
    form_marked: Array,
    form_common: Array,
    mark_weight: float,
    short: int,
    weighting: int,
    sublinear: bool,
    norm: int,
    keep: float,
    learn: bool,
    frequency: Array,
    seen: Array,
    clock: Array,
    tally: Array,
    touched: Array,
    n_touched: int,
    indptr: Array,
    indices: Array,
    data: Array,
    counts: Array,
) -> tuple[int, int, int]:
    """The rows of the chunk's documents, as the arrays of a CSR matrix.

    `clock` is [documents so far, their decayed number]; where `learn`, each row sees only the documents before it
    and then counts itself. `tally` and `touched` carry a document that is open at the end of the chunk over to the
    next (`leave_open`). Common forms count in documents of up to `short` words only, and there a mark weighs the root
    of what it weighs elsewhere. `counts` are filled beside the weights in `data`, before weighting and norm. Returns
    (rows, n_touched, occurrences that have no column).
    """
    dropped = 0
    t = 0
    nnz = 0
    row = 0
    indptr[0] = 0
    n_documents = document_ends.shape[0]
    room, sorting = np.empty(FIRST_ROOM, touched.dtype), np.empty(N_BYTES, np.int64)
    for d in range(n_documents):
        limit = document_ends[d]
        is_short = short > 0 and is_short_document(short, forms, starts, t, n_tokens, limit, form_column, form_common)
        marked = math.sqrt(mark_weight) if is_short else mark_weight
        while t < n_tokens and starts[t] < limit:
            f = forms[t]
            t += 1
            if f < 0:
                continue
            v = form_column[f]
            if v == NO_TERM or (form_common[f] and not is_short):
                continue
            w = marked if mark_weight != 1.0 and form_marked[f] else 1.0
            if v >= 0:
                if tally[v] == 0.0:
                    touched[n_touched] = v
                    n_touched += 1
                    prefetch(frequency, v)  # wanted when the row is made
                    prefetch(seen, v)
                tally[v] += w
                continue
            dropped += form_missing[f]
            for a in range(form_first[f], form_last[f]):
                v = form_columns[a]
                if v >= 0:
                    if tally[v] == 0.0:
                        touched[n_touched] = v
                        n_touched += 1
                    tally[v] += w
        if leave_open and d == n_documents - 1:
            break
        if n_touched > room.shape[0]:
            room = np.empty(2 * n_touched, touched.dtype)
        sort_numbers(touched, n_touched, room, sorting)
        size = 0.0
        begin = nnz
        for k in range(n_touched):
            v = touched[k]
            x = tally[v]
            tally[v] = 0.0
            counts[nnz] = x
            if weighting == BINARY:
                x = 1.0
            elif sublinear:
                x = 1.0 + math.log(x)
            if weighting == TFIDF:
                x *= idf(decayed(frequency[v], seen[v], clock[0], keep), clock[1])
            indices[nnz] = v
            data[nnz] = x
            nnz += 1
            size += x * x if norm == L2 else x
            if learn:
                frequency[v] = decayed(frequency[v], seen[v], clock[0], keep) * keep + 1.0
                seen[v] = clock[0] + 1
        if norm != NO_NORM and size > 0.0:
            size = 1.0 / (math.sqrt(size) if norm == L2 else size)
            for a in range(begin, nnz):
                data[a] *= size
        n_touched = 0
        row += 1
        indptr[row] = nnz
        if learn:
            clock[0] += 1.0
            clock[1] = clock[1] * keep + 1.0
    return row, n_touched, dropped

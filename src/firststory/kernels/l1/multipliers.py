"""The multipliers of the online update, document by document (equation 6 of the method page).

With W = Delta + beta P and Lam = clip(W - beta X A, -over, 1), write M = Lam + beta X A: it is W wherever nothing is
clipped, so that it lives on the documents' own terms and a few more, and

    Delta+ = (1 - gamma) Delta + gamma (M - beta X A+)

Documents, codes, atoms and multipliers are CSR rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.l1.layout import ByTerm, Multipliers, Penalty, Rows

Array = np.ndarray[Any, Any]


@kernel
def clipped_multipliers(
    start: int,
    stop: int,
    documents: Rows,
    codes: Rows,
    atoms: Rows,
    delta: Rows,
    penalty: Penalty,
    width: int,
    all_rows: bool,
    out: Multipliers,
) -> None:
    """M of the documents start..stop.

    Without `all_rows` the documents without a code are left empty: they do not move the dictionary.
    """
    p_ptr, p_terms, p_values = documents
    x_ptr, x_atoms, x_values = codes
    a_ptr, a_terms, a_values = atoms
    d_ptr, d_terms, d_values = delta
    beta, over = penalty.beta, penalty.over
    room, counts, m_terms, m_values = out
    place = np.full(width, -1, np.int64)
    fitted = np.zeros(width)
    touched = np.empty(width + 1, np.int64)
    for i in range(start, stop):
        base = room[i]
        end = base
        if x_ptr[i + 1] > x_ptr[i] or all_rows:
            for q in range(np.uint64(p_ptr[i]), np.uint64(p_ptr[i + 1])):
                w = np.uint64(p_terms[q])  # unsigned: no check for negative indices
                place[w] = end
                m_terms[end] = w
                m_values[end] = beta * p_values[q]
                end += 1
            for q in range(np.uint64(d_ptr[i]), np.uint64(d_ptr[i + 1])):
                w = np.uint64(d_terms[q])
                if place[w] < 0:
                    place[w] = end
                    m_terms[end] = w
                    m_values[end] = 0.0
                    end += 1
                m_values[place[w]] += d_values[q]
            n_touched = 0
            for q in range(np.uint64(x_ptr[i]), np.uint64(x_ptr[i + 1])):
                j = np.int64(x_atoms[q])
                x = beta * x_values[q]
                for h in range(np.uint64(a_ptr[j]), np.uint64(a_ptr[j + 1])):
                    w = np.uint64(a_terms[h])
                    v = x * a_values[h]
                    touched[n_touched] = w
                    n_touched += (fitted[w] == 0.0) & (v > 0.0)
                    fitted[w] += v
            for q in range(np.uint64(base), np.uint64(end)):
                w = np.uint64(m_terms[q])
                place[w] = -1
                residual = m_values[q] - fitted[w]
                fitted[w] = 0.0
                if residual > 1.0:
                    m_values[q] -= residual - 1.0
                elif residual < -over:
                    m_values[q] -= residual + over
            for q in range(n_touched):
                w = np.uint64(touched[q])
                if fitted[w] > over:
                    m_terms[end] = w
                    m_values[end] = fitted[w] - over
                    end += 1
                fitted[w] = 0.0
        counts[i] = end - base


@kernel
def carried_multipliers(
    start: int,
    stop: int,
    delta: Rows,
    codes: Rows,
    multipliers: Multipliers,
    after: Rows,
    penalty: Penalty,
    width: int,
    most: int,
    sizes: Array,
    change: Array,
) -> tuple[Array, Array]:
    """Delta+ of the documents start..stop, one after another; `after` is A+, and every term of Delta is one of M.

    `change[i]` becomes |Delta+ - Delta|^2, which is (gamma beta)^2 times the squared constraint violation. No more
    than the `most` largest entries of a document are kept.
    """
    d_ptr, d_terms, d_values = delta
    x_ptr, x_atoms, x_values = codes
    room, counts, m_terms, m_values = multipliers
    b_ptr, b_terms, b_values = after
    beta, gamma = penalty.beta, penalty.gamma
    total = np.zeros(width)
    seen = np.zeros(width, np.bool_)
    order = np.empty(width + 1, np.int64)
    heights = np.empty(width)
    capacity = 64
    for i in range(start, stop):
        capacity += min(most, counts[i] + 16)
    out_terms = np.empty(capacity, d_terms.dtype)
    out_values = np.empty(capacity)
    used = 0
    for i in range(start, stop):
        n = 0
        for q in range(np.uint64(room[i]), np.uint64(room[i] + counts[i])):
            w = np.uint64(m_terms[q])
            total[w] = gamma * m_values[q]
            seen[w] = True
            order[n] = w
            n += 1
        for q in range(np.uint64(x_ptr[i]), np.uint64(x_ptr[i + 1])):
            j = np.int64(x_atoms[q])
            x = gamma * beta * x_values[q]
            for h in range(np.uint64(b_ptr[j]), np.uint64(b_ptr[j + 1])):
                w = np.uint64(b_terms[h])
                order[n] = w
                n += not seen[w]
                seen[w] = True
                total[w] -= x * b_values[h]
        squares = 0.0
        for q in range(np.uint64(d_ptr[i]), np.uint64(d_ptr[i + 1])):
            w = np.uint64(d_terms[q])
            total[w] += (1.0 - gamma) * d_values[q]
            gap = total[w] - d_values[q]
            squares += gap * gap - total[w] * total[w]
        for h in range(n):
            v = abs(total[np.uint64(order[h])])
            heights[h] = v
            squares += v * v
        change[i] = squares
        floor = np.partition(heights[:n], n - most)[n - most] if n > most else 0.0
        if used + min(n, most) > capacity:
            capacity = 2 * (used + n)
            more_terms = np.empty(capacity, d_terms.dtype)
            more_values = np.empty(capacity)
            more_terms[:used] = out_terms[:used]
            more_values[:used] = out_values[:used]
            out_terms = more_terms
            out_values = more_values
        first = used
        for h in range(n):
            w = np.uint64(order[h])
            v = total[w]
            total[w] = 0.0
            seen[w] = False
            if v != 0.0 and abs(v) >= floor and used - first < most:
                out_terms[used] = w
                out_values[used] = v
                used += 1
        sizes[i] = used - first
    return out_terms[:used], out_values[:used]


@kernel
def largest_first(rows: Rows) -> Rows:
    """The entries of each row by falling value."""
    ptr, terms, values = rows
    sorted_terms = np.empty_like(terms)
    sorted_values = np.empty_like(values)
    for j in range(ptr.shape[0] - 1):
        order = np.argsort(-values[ptr[j] : ptr[j + 1]])
        for h in range(order.shape[0]):
            sorted_terms[ptr[j] + h] = terms[ptr[j] + order[h]]
            sorted_values[ptr[j] + h] = values[ptr[j] + order[h]]
    return Rows(ptr, sorted_terms, sorted_values)


@kernel
def fit_of_term(w: np.uint64, history: ByTerm, code: Array) -> float:
    """sum_j H_jw code_j, over the atoms that hold the term."""
    fit = 0.0
    for h in range(np.uint64(history.ptr[w]), np.uint64(history.ptr[w + np.uint64(1)])):
        fit += history.values[h] * code[np.uint64(history.holders[h])]
    return fit


@kernel
def clipped_excess(
    start: int,
    stop: int,
    documents: Rows,
    scale: float,
    codes: Rows,
    heights: Rows,
    history: ByTerm,
    taken: Rows,
    penalty: Penalty,
    n_atoms: int,
    width: int,
    sizes: Array,
    gives: Array,
) -> tuple[Array, Array]:
    """What clipping has taken from scale P - beta X H, so far and now, of the documents start..stop.

    With F taken so far, Y = scale P - beta X H - F is clipped, and F + (Y - clip(Y, -over, 1)) is returned, one
    document after another. `heights` is H by atoms, largest entry first, and `history` by terms. Hardly an entry is
    clipped, so a document sums the large entries of H only; all others together add no more than `small` to any of its
    terms, and a term that this bound does not clear is summed in full. `gives[i]` says that clipping, and what it did
    before, leaves a document more of some term than scale P. Documents without a code move nothing and are left out.
    """
    p_ptr, p_terms, p_values = documents
    x_ptr, x_atoms, x_values = codes
    h_ptr, h_terms, h_values = heights
    f_ptr, f_terms, f_values = taken
    beta, over = penalty.beta, penalty.over
    small = 0.5 * over
    place = np.full(width, -1, np.int64)
    fitted = np.zeros(width)
    code = np.zeros(n_atoms)
    touched = np.empty(width + 1, np.int64)
    capacity = 64 + 2 * (f_ptr[stop] - f_ptr[start])
    out_terms = np.empty(capacity, np.int32)
    out_values = np.empty(capacity)
    used = 0
    for i in range(start, stop):
        first = used
        if x_ptr[i + 1] > x_ptr[i]:
            mass = 0.0
            for q in range(np.uint64(x_ptr[i]), np.uint64(x_ptr[i + 1])):
                mass += beta * x_values[q]
                code[np.uint64(x_atoms[q])] = beta * x_values[q]
            n_touched = 0
            for q in range(np.uint64(x_ptr[i]), np.uint64(x_ptr[i + 1])):
                j = np.int64(x_atoms[q])
                x = beta * x_values[q]
                for h in range(np.uint64(h_ptr[j]), np.uint64(h_ptr[j + 1])):
                    if h_values[h] * mass <= small:
                        break
                    w = np.uint64(h_terms[h])
                    v = x * h_values[h]
                    touched[n_touched] = w
                    n_touched += (fitted[w] == 0.0) & (v > 0.0)
                    fitted[w] += v
            most = n_touched + p_ptr[i + 1] - p_ptr[i] + f_ptr[i + 1] - f_ptr[i]
            if used + most > capacity:
                capacity = 2 * (used + most)
                more_terms = np.empty(capacity, np.int32)
                more_values = np.empty(capacity)
                more_terms[:used] = out_terms[:used]
                more_values[:used] = out_values[:used]
                out_terms = more_terms
                out_values = more_values
            for q in range(f_ptr[i], f_ptr[i + 1]):
                place[f_terms[q]] = used
                out_terms[used] = f_terms[q]
                out_values[used] = f_values[q]
                used += 1
            for q in range(np.uint64(p_ptr[i]), np.uint64(p_ptr[i + 1])):
                w = np.uint64(p_terms[q])
                residual = scale * p_values[q] - fitted[w]
                fitted[w] = 0.0
                if residual > 1.0 or residual - small < -over or place[w] >= 0:
                    at = place[w]
                    before = out_values[at] if at >= 0 else 0.0
                    fit = fit_of_term(w, history, code)
                    residual = scale * p_values[q] - fit - before
                    if residual > 1.0 or residual < -over:
                        if at < 0:
                            at = used
                            out_terms[at] = w
                            used += 1
                        out_values[at] = before + (residual - 1.0 if residual > 1.0 else residual + over)
                        before = out_values[at]
                    gives[i] |= fit + before < 0.0
                    place[w] = -1
            for q in range(f_ptr[i], f_ptr[i + 1]):
                w = np.uint64(f_terms[q])
                if place[w] >= 0:  # not one of the document's own terms
                    fit = fit_of_term(w, history, code)
                    residual = -fit - f_values[q]
                    fitted[w] = 0.0
                    if residual > 1.0:
                        out_values[place[w]] += residual - 1.0
                    elif residual < -over:
                        out_values[place[w]] += residual + over
                    gives[i] |= fit + out_values[place[w]] < 0.0
                    place[w] = -1
            for q in range(n_touched):
                w = np.uint64(touched[q])
                if fitted[w] + small > over and fitted[w] > 0.0:
                    fit = fit_of_term(w, history, code)
                    if fit > over:
                        out_terms[used] = w
                        out_values[used] = over - fit
                        used += 1
                fitted[w] = 0.0
            for q in range(np.uint64(x_ptr[i]), np.uint64(x_ptr[i + 1])):
                code[np.uint64(x_atoms[q])] = 0.0
        sizes[i] = used - first
    return out_terms[:used], out_values[:used]

"""The online update of an l1-dictionary without anything dense (equation 6 of the method page).

With Lam = clip(Delta + beta (P - A X), -over, 1), Moreau's identity turns the papers' step into

    A+ = Proj_C( (A + (tau / beta) Lam X')_+ ),      Delta+ = (1 - gamma) Delta + gamma (Lam - beta (A+ - A) X)

and supp(Lam) lies in supp(P) u supp(A X) u supp(Delta). Documents, codes, atoms and multipliers are CSR rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.project import simplex_threshold

Array = np.ndarray[Any, Any]


@kernel
def clipped_multipliers(
    start: int,
    stop: int,
    p_ptr: Array,
    p_terms: Array,
    p_values: Array,
    x_ptr: Array,
    x_atoms: Array,
    x_values: Array,
    a_ptr: Array,
    a_terms: Array,
    a_values: Array,
    d_ptr: Array,
    d_terms: Array,
    d_values: Array,
    beta: float,
    over: float,
    width: int,
    all_rows: bool,
    room: Array,
    counts: Array,
    lam_terms: Array,
    lam_values: Array,
) -> None:
    """Lam of the documents start..stop, written from room[i] on; counts[i] says how many terms it has.

    Without `all_rows` the documents without a code are left empty: they do not move the dictionary.
    """
    total = np.zeros(width)
    seen = np.zeros(width, np.bool_)
    for i in range(start, stop):
        base = room[i]
        n = 0
        if x_ptr[i + 1] > x_ptr[i] or all_rows:
            for q in range(p_ptr[i], p_ptr[i + 1]):
                w = p_terms[q]
                total[w] = beta * p_values[q]
                seen[w] = True
                lam_terms[base + n] = w
                n += 1
            for q in range(x_ptr[i], x_ptr[i + 1]):
                j = x_atoms[q]
                x = beta * x_values[q]
                for h in range(a_ptr[j], a_ptr[j + 1]):
                    w = a_terms[h]
                    if not seen[w]:
                        seen[w] = True
                        lam_terms[base + n] = w
                        n += 1
                    total[w] -= x * a_values[h]
            for q in range(d_ptr[i], d_ptr[i + 1]):
                w = d_terms[q]
                if not seen[w]:
                    seen[w] = True
                    lam_terms[base + n] = w
                    n += 1
                total[w] += d_values[q]
            kept = base
            for q in range(base, base + n):
                w = lam_terms[q]
                v = min(1.0, max(-over, total[w]))
                total[w] = 0.0
                seen[w] = False
                if v != 0.0:  # a term that is covered exactly moves nothing
                    lam_terms[kept] = w
                    lam_values[kept] = v
                    kept += 1
            n = kept - base
        counts[i] = n


@kernel
def moved_atoms(
    start: int,
    stop: int,
    u_ptr: Array,
    u_documents: Array,
    u_values: Array,
    room: Array,
    counts: Array,
    lam_terms: Array,
    lam_values: Array,
    a_ptr: Array,
    a_terms: Array,
    a_values: Array,
    step: float,
    base: Array,
    width: int,
    sizes: Array,
) -> tuple[Array, Array]:
    """The atoms start..stop after the step and the projection, one after another; `u` is X by atoms.

    `base[j]` is taken from every term of atom j: with it Lam may be counted from its value off the documents.

    An atom that no document uses is copied. Each atom sums over its documents in their order, so the result does not
    depend on how the atoms are shared out among threads.
    """
    total = np.zeros(width)
    seen = np.zeros(width, np.bool_)
    order = np.empty(width, a_terms.dtype)
    positive = np.empty(width)
    where = np.empty(width, a_terms.dtype)
    work = np.empty(width)
    capacity = 64
    for j in range(start, stop):
        capacity += 2 * (a_ptr[j + 1] - a_ptr[j])
    out_terms = np.empty(capacity, a_terms.dtype)
    out_values = np.empty(capacity)
    used = 0
    for j in range(start, stop):
        n = a_ptr[j + 1] - a_ptr[j]
        if u_ptr[j] == u_ptr[j + 1]:
            count = n
            for h in range(n):
                where[h] = a_terms[a_ptr[j] + h]
                positive[h] = a_values[a_ptr[j] + h]
            threshold = 0.0
        else:
            effort = 0
            for q in range(u_ptr[j], u_ptr[j + 1]):
                effort += counts[u_documents[q]]
            listed = 8 * effort < width  # few terms: list them; many: look at every one afterwards
            for h in range(n):
                w = np.uint64(a_terms[a_ptr[j] + h])
                total[w] = a_values[a_ptr[j] + h]
                if listed:
                    seen[w] = True
                    order[h] = w
            for q in range(u_ptr[j], u_ptr[j + 1]):
                i = u_documents[q]
                x = u_values[q] * step
                if listed:
                    for h in range(room[i], room[i] + counts[i]):
                        w = np.uint64(lam_terms[h])
                        if not seen[w]:
                            seen[w] = True
                            order[n] = w
                            n += 1
                        total[w] += x * lam_values[h]
                else:
                    for h in range(room[i], room[i] + counts[i]):
                        total[np.uint64(lam_terms[h])] += x * lam_values[h]
            count = 0
            mass = 0.0
            for h in range(n if listed else width):
                term = order[h] if listed else h
                v = total[term] - base[j]
                total[term] = 0.0
                seen[term] = False
                if v > 0.0:
                    positive[count] = v
                    where[count] = term
                    mass += v
                    count += 1
            threshold = simplex_threshold(positive, count, 1.0, work) if mass > 1.0 else 0.0
        if used + count > out_terms.shape[0]:
            capacity = 2 * (used + count)
            more_terms = np.empty(capacity, a_terms.dtype)
            more_values = np.empty(capacity)
            more_terms[:used] = out_terms[:used]
            more_values[:used] = out_values[:used]
            out_terms = more_terms
            out_values = more_values
        first = used
        for h in range(count):
            if positive[h] > threshold:
                out_terms[used] = where[h]
                out_values[used] = positive[h] - threshold
                used += 1
        sizes[j] = used - first
    return out_terms[:used], out_values[:used]


@kernel
def carried_multipliers(
    start: int,
    stop: int,
    d_ptr: Array,
    d_terms: Array,
    d_values: Array,
    x_ptr: Array,
    x_atoms: Array,
    x_values: Array,
    room: Array,
    counts: Array,
    lam_terms: Array,
    lam_values: Array,
    a_ptr: Array,
    a_terms: Array,
    a_values: Array,
    b_ptr: Array,
    b_terms: Array,
    b_values: Array,
    moved: Array,
    beta: float,
    gamma: float,
    width: int,
    most: int,
    sizes: Array,
    change: Array,
) -> tuple[Array, Array]:
    """Delta+ of the documents start..stop, one after another; `a` and `b` are the atoms before and after.

    `change[i]` becomes |Delta+ - Delta|^2, which is (gamma beta)^2 times the squared constraint violation. No more
    than the `most` largest entries of a document are kept.
    """
    total = np.zeros(width)
    seen = np.zeros(width, np.bool_)
    order = np.empty(width, d_terms.dtype)
    capacity = 64
    for i in range(start, stop):
        capacity += counts[i] + 16
    out_terms = np.empty(capacity, d_terms.dtype)
    out_values = np.empty(capacity)
    used = 0
    for i in range(start, stop):
        n = 0
        for q in range(room[i], room[i] + counts[i]):
            w = lam_terms[q]
            total[w] = gamma * lam_values[q]
            seen[w] = True
            order[n] = w
            n += 1
        for q in range(d_ptr[i], d_ptr[i + 1]):
            w = d_terms[q]
            if not seen[w]:
                seen[w] = True
                order[n] = w
                n += 1
            total[w] += (1.0 - gamma) * d_values[q]
        for q in range(x_ptr[i], x_ptr[i + 1]):
            j = x_atoms[q]
            if not moved[j]:
                continue
            x = gamma * beta * x_values[q]
            for h in range(a_ptr[j], a_ptr[j + 1]):
                w = a_terms[h]
                if not seen[w]:
                    seen[w] = True
                    order[n] = w
                    n += 1
                total[w] += x * a_values[h]
            for h in range(b_ptr[j], b_ptr[j + 1]):
                w = b_terms[h]
                if not seen[w]:
                    seen[w] = True
                    order[n] = w
                    n += 1
                total[w] -= x * b_values[h]
        squares = 0.0
        for q in range(d_ptr[i], d_ptr[i + 1]):
            v = d_values[q]
            gap = total[d_terms[q]] - v
            squares += gap * gap - total[d_terms[q]] * total[d_terms[q]]
        for h in range(n):
            squares += total[order[h]] * total[order[h]]
        change[i] = squares
        floor = 0.0
        if n > most:
            sizes_of = np.empty(n)
            for h in range(n):
                sizes_of[h] = abs(total[order[h]])
            floor = np.partition(sizes_of, n - most)[n - most]
        if used + n > out_terms.shape[0]:
            capacity = 2 * (used + n)
            more_terms = np.empty(capacity, d_terms.dtype)
            more_values = np.empty(capacity)
            more_terms[:used] = out_terms[:used]
            more_values[:used] = out_values[:used]
            out_terms = more_terms
            out_values = more_values
        first = used
        for h in range(n):
            w = order[h]
            v = total[w]
            total[w] = 0.0
            seen[w] = False
            if v != 0.0 and abs(v) >= floor and used - first < most:
                out_terms[used] = w
                out_values[used] = v
                used += 1
        sizes[i] = used - first
    return out_terms[:used], out_values[:used]

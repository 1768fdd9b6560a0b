"""The online update of an l1-dictionary, term by term, without anything dense (equation 6 of the method page).

    A+ = Proj_C( (A + step (X' Lam) - base)_+ )

Lam = M - beta X A, where M is Lam with what the atoms cover added back: it lives on the documents' own terms, and on
the few others that were clipped. So X' Lam = X' M - beta (X'X) A, and the codes meet a term's documents in M only,
and its atoms through the small Gram matrix X'X. What the projection drops is dropped early: for any terms L of an
atom, (sum_L v - 1) / |L| is a lower bound of its threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.l1.layout import ByTerm, Candidates, Rows, Update
from firststory.kernels.l1.project import simplex_threshold

Array = np.ndarray[Any, Any]


@kernel
def gram_of_codes(codes: Rows, n_atoms: int) -> Array:
    """X'X, k x k: how much each pair of atoms is used together."""
    x_ptr, x_atoms, x_values = codes
    gram = np.zeros((n_atoms, n_atoms))
    for i in range(x_ptr.shape[0] - 1):
        for q in range(x_ptr[i], x_ptr[i + 1]):
            row = gram[x_atoms[q]]
            x = x_values[q]
            for r in range(np.uint64(x_ptr[i]), np.uint64(q)):
                row[np.uint64(x_atoms[r])] += x * x_values[r]
            row[x_atoms[q]] += 0.5 * x_values[q] * x_values[q]
    return gram + gram.T


@kernel
def by_term(starts: Array, counts: Array, terms: Array, values: Array, width: int) -> ByTerm:
    """The entries starts[i], ..., starts[i] + counts[i] - 1 of each document i, listed term by term."""
    ptr = np.zeros(width + 1, np.int64)
    n = counts.shape[0]
    for i in range(n):
        for q in range(starts[i], starts[i] + counts[i]):
            ptr[terms[q] + 1] += 1
    for w in range(width):
        ptr[w + 1] += ptr[w]
    at = ptr[:width].copy()
    documents = np.empty(ptr[width], np.int32)
    listed = np.empty(ptr[width])
    for i in range(n):
        for q in range(starts[i], starts[i] + counts[i]):
            term = np.uint64(terms[q])
            to = np.uint64(at[term])
            documents[to] = i
            listed[to] = values[q]
            at[term] += 1
    return ByTerm(ptr, documents, listed)


@kernel
def add_codes(start: int, stop: int, listed: ByTerm, codes: Rows, total: Array) -> None:
    """total += sum over the listed entries start..stop of value times the codes of their document."""
    documents, values = listed.holders, listed.values
    x_ptr, x_atoms, x_values = codes
    for q in range(np.uint64(start), np.uint64(stop)):  # unsigned throughout: no check for negative indices
        i = np.uint64(documents[q])
        v = values[q]
        for h in range(np.uint64(x_ptr[i]), np.uint64(x_ptr[i + np.uint64(1)])):
            total[np.uint64(x_atoms[h])] += v * x_values[h]


@kernel
def term_correlations(
    start: int,
    stop: int,
    listed: ByTerm,
    codes: Rows,
    n_atoms: int,
    sizes: Array,
) -> tuple[Array, Array]:
    """X'P of the terms start..stop, one after another: the atoms whose documents hold the term, and their values."""
    total = np.zeros(n_atoms)
    capacity = 64 + n_atoms
    atoms = np.empty(capacity, np.int32)
    values = np.empty(capacity)
    used = 0
    for w in range(start, stop):
        if used + n_atoms > capacity:
            capacity = 2 * (used + n_atoms)
            more_atoms = np.empty(capacity, np.int32)
            more_values = np.empty(capacity)
            more_atoms[:used] = atoms[:used]
            more_values[:used] = values[:used]
            atoms = more_atoms
            values = more_values
        first = used
        if listed.ptr[w + 1] > listed.ptr[w]:
            add_codes(listed.ptr[w], listed.ptr[w + 1], listed, codes, total)
            for j in range(n_atoms):
                atoms[used] = j
                values[used] = total[j]
                used += total[j] > 0.0
                total[j] = 0.0
        sizes[w] = used - first
    return atoms[:used], values[:used]


@kernel
def without_small(correlations: ByTerm, now: ByTerm, limit: Array) -> ByTerm:
    """The correlations above limit[atom], and those of the terms that the atom itself holds."""
    c_ptr, c_atoms, c_values = correlations
    a_ptr, a_atoms = now.ptr, now.holders
    ptr = np.zeros_like(c_ptr)
    atoms = np.empty(c_atoms.shape[0], np.int32)
    values = np.empty(c_atoms.shape[0])
    own = np.zeros(limit.shape[0], np.bool_)
    used = 0
    for w in range(c_ptr.shape[0] - 1):
        for q in range(a_ptr[w], a_ptr[w + 1]):
            own[a_atoms[q]] = True
        for q in range(np.uint64(c_ptr[w]), np.uint64(c_ptr[w + 1])):
            atom = np.uint64(c_atoms[q])
            atoms[used] = c_atoms[q]
            values[used] = c_values[q]
            used += (c_values[q] > limit[atom]) | own[atom]
        for q in range(a_ptr[w], a_ptr[w + 1]):
            own[a_atoms[q]] = False
        ptr[w + 1] = used
    return ByTerm(ptr, atoms[:used].copy(), values[:used].copy())


@kernel
def moved_terms(
    start: int,
    stop: int,
    terms: Array,
    update: Update,
    base: Array,
    floor: Array,
    own_only: bool,
    sums: Array,
    sizes: Array,
) -> Candidates:
    """What of A + step (X'M + scale C - beta (X'X) H) - base may outlast the projection, for terms[start:stop].

    `floor[j]` is a lower bound of atom j's threshold, infinite for an atom that stays as it is; where `sums` and
    `sizes` of the candidates on atoms' own terms are given, it rises with every further candidate. `own_only` keeps
    the candidates of terms that the atom already holds.
    """
    m_ptr, m_documents, m_values = update.listed
    c_ptr, c_atoms, c_values = update.correlations
    h_ptr, h_atoms, h_values = update.history
    a_ptr, a_atoms, a_values = update.now
    x_ptr, x_atoms, x_values = update.codes
    u_ptr, u_documents, u_values = update.users
    gram, scale, beta, step = update.gram, update.scale, update.beta, update.step
    n_atoms = floor.shape[0]
    lower = floor.copy()
    rising = sizes.shape[0] > 0
    own = np.zeros(n_atoms, np.bool_)
    sums = sums.copy()
    sizes = sizes.copy()
    total = np.zeros(n_atoms)
    found = np.empty(n_atoms + 1, np.int64)
    values = np.empty(n_atoms + 1)
    fitted = np.zeros(x_ptr.shape[0] - 1 if gram.shape[0] == 0 else 0)
    capacity = 64 + 2 * n_atoms
    out_atoms = np.empty(capacity, np.int32)
    out_terms = np.empty(capacity, np.int32)
    out_values = np.empty(capacity)
    used = 0
    for t in range(start, stop):
        w = terms[t]
        pairs = n_atoms
        held = h_ptr[w + 1] > h_ptr[w] or a_ptr[w + 1] > a_ptr[w]
        if not held and 64 * (m_ptr[w + 1] - m_ptr[w]) < n_atoms:
            pairs = 0
            for q in range(m_ptr[w], m_ptr[w + 1]):
                pairs += x_ptr[m_documents[q] + 1] - x_ptr[m_documents[q]]
        n = 0
        if pairs == 0 and not held:  # nothing but correlations
            for q in range(np.uint64(c_ptr[w]), np.uint64(c_ptr[w + 1])):
                atom = np.uint64(c_atoms[q])
                v = step * scale * c_values[q] - base[atom]
                found[n] = atom
                values[n] = v
                n += v > lower[atom]
        elif 4 * pairs < n_atoms and not held and c_ptr[w] == c_ptr[w + 1]:  # few: list them
            touched = 0
            for q in range(m_ptr[w], m_ptr[w + 1]):
                i = m_documents[q]
                for h in range(np.uint64(x_ptr[i]), np.uint64(x_ptr[i + 1])):
                    atom = np.uint64(x_atoms[h])
                    found[touched] = atom
                    touched += total[atom] == 0.0
                    total[atom] += m_values[q] * x_values[h]
            for q in range(touched):
                atom = np.uint64(found[q])
                v = step * total[atom] - base[atom]
                total[atom] = 0.0
                found[n] = atom
                values[n] = v
                n += v > lower[atom]
        else:
            for q in range(np.uint64(c_ptr[w]), np.uint64(c_ptr[w + 1])):
                total[np.uint64(c_atoms[q])] = scale * c_values[q]
            add_codes(m_ptr[w], m_ptr[w + 1], update.listed, update.codes, total)
            if own_only and gram.shape[0] > 0:
                for q in range(h_ptr[w], h_ptr[w + 1]):
                    weight = beta * h_values[q]
                    row = gram[h_atoms[q]]
                    for h in range(a_ptr[w], a_ptr[w + 1]):
                        total[a_atoms[h]] -= weight * row[a_atoms[h]]
            elif gram.shape[0] > 0:
                for q in range(h_ptr[w], h_ptr[w + 1]):
                    weight = beta * h_values[q]
                    row = gram[h_atoms[q]]
                    for j in range(n_atoms):
                        total[j] -= weight * row[j]
            else:
                for q in range(h_ptr[w], h_ptr[w + 1]):
                    for h in range(u_ptr[h_atoms[q]], u_ptr[h_atoms[q] + 1]):
                        fitted[u_documents[h]] += beta * h_values[q] * u_values[h]
                for q in range(h_ptr[w], h_ptr[w + 1]):
                    for h in range(u_ptr[h_atoms[q]], u_ptr[h_atoms[q] + 1]):
                        i = u_documents[h]
                        if fitted[i] != 0.0:
                            for g in range(x_ptr[i], x_ptr[i + 1]):
                                total[np.uint64(x_atoms[g])] -= fitted[i] * x_values[g]
                            fitted[i] = 0.0
            if own_only:
                for q in range(a_ptr[w], a_ptr[w + 1]):
                    own_atom = a_atoms[q]
                    found[n] = own_atom
                    values[n] = step * total[own_atom] - base[own_atom] + a_values[q]
                    n += values[n] > lower[own_atom]
                total[:] = 0.0
            else:
                above = 1 if held else 0
                if not held:  # a loop that only reads is fast, and most terms end here
                    for j in range(n_atoms):
                        above += step * total[j] - base[j] > lower[j]
                if above > 0:
                    for j in range(n_atoms):
                        values[j] = step * total[j] - base[j]
                    for q in range(a_ptr[w], a_ptr[w + 1]):
                        values[a_atoms[q]] += a_values[q]
                    for j in range(n_atoms):
                        found[n] = j
                        values[n] = values[j]
                        n += values[j] > lower[j]
                total[:] = 0.0
        if used + n > capacity:
            capacity = 2 * (used + n)
            more_atoms = np.empty(capacity, np.int32)
            more_terms = np.empty(capacity, np.int32)
            more_values = np.empty(capacity)
            more_atoms[:used] = out_atoms[:used]
            more_terms[:used] = out_terms[:used]
            more_values[:used] = out_values[:used]
            out_atoms = more_atoms
            out_terms = more_terms
            out_values = more_values
        if rising:
            for q in range(a_ptr[w], a_ptr[w + 1]):
                own[a_atoms[q]] = True
        for q in range(n):
            j = found[q]
            v = values[q]
            out_atoms[used] = j
            out_terms[used] = w
            out_values[used] = v
            used += 1
            if rising and not own[j]:
                sums[j] += v
                sizes[j] += 1.0
                if sums[j] - 1.0 <= (v - 1.0) * sizes[j]:  # this value alone bounds better
                    sums[j] = v
                    sizes[j] = 1.0
                lower[j] = max(lower[j], (sums[j] - 1.0) / sizes[j])
        if rising:
            for q in range(a_ptr[w], a_ptr[w + 1]):
                own[a_atoms[q]] = False
    return Candidates(out_atoms[:used], out_terms[:used], out_values[:used])


@kernel
def thresholds_of_atoms(atoms: Array, values: Array, n_atoms: int) -> tuple[Array, Array, Array, Array, Array]:
    """The threshold of each atom's projection onto |a|_1 <= 1.

    Also how much of its candidates is above the threshold, in sum and in number, and the candidates in the order of
    their atoms.
    """
    ptr = np.zeros(n_atoms + 1, np.int64)
    for q in range(atoms.shape[0]):
        ptr[atoms[q] + 1] += 1
    for j in range(n_atoms):
        ptr[j + 1] += ptr[j]
    at = ptr[:n_atoms].copy()
    order = np.empty(atoms.shape[0], np.int64)
    for q in range(atoms.shape[0]):
        atom = np.uint64(atoms[q])
        order[at[atom]] = q
        at[atom] += 1
    threshold = np.zeros(n_atoms)
    sums = np.zeros(n_atoms)
    sizes = np.zeros(n_atoms)
    own = np.empty(atoms.shape[0])
    work = np.empty(atoms.shape[0])
    for j in range(n_atoms):
        n = ptr[j + 1] - ptr[j]
        mass = 0.0
        for q in range(n):
            own[q] = values[order[ptr[j] + q]]
            mass += own[q]
        if mass > 1.0:
            threshold[j] = simplex_threshold(own, n, 1.0, work)
        for q in range(n):
            if own[q] > threshold[j]:
                sums[j] += own[q]
                sizes[j] += 1.0
    return threshold, sums, sizes, ptr, order


@kernel
def projected_atoms(
    ptr: Array, order: Array, terms: Array, values: Array, threshold: Array, stays: Array, atoms: Rows
) -> tuple[Array, Array, Array]:
    """The atoms after the projection (CSR); those that stay are copied."""
    a_ptr, a_terms, a_values = atoms
    n_atoms = stays.shape[0]
    out_ptr = np.zeros(n_atoms + 1, np.int64)
    out_terms = np.empty(order.shape[0] + a_terms.shape[0], a_terms.dtype)
    out_values = np.empty(order.shape[0] + a_terms.shape[0])
    used = 0
    for j in range(n_atoms):
        if stays[j]:
            for q in range(a_ptr[j], a_ptr[j + 1]):
                out_terms[used] = a_terms[q]
                out_values[used] = a_values[q]
                used += 1
        for q in range(ptr[j], ptr[j + 1]):
            v = values[order[q]] - threshold[j]
            if v > 0.0:
                out_terms[used] = terms[order[q]]
                out_values[used] = v
                used += 1
        out_ptr[j + 1] = used
    return out_ptr, out_terms[:used], out_values[:used]

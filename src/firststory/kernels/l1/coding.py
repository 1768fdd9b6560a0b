"""Exact l1 sparse coding of one document after another: reduce, screen, and a bounded long-step simplex.

With A >= 0 and x >= 0 only the document's own terms S matter (equation 5 of the method page):

    l(p, A) = |p|_1 - max_{x >= 0} [ d'x - c sum_{i in S} ((A x)_i - p_i)_+ ],   d_j = c s_j - o |a_j|_1 - alpha

where s_j is the atom's mass on S, o the weight of over-coverage (1 for the l1 loss) and c = 1 + o. An atom with
d_j <= 0 has x_j = 0 (safe screening). What is left is tiny and dense.

`simplex.py` solves it, in one tableau or, where many atoms survive, by column generation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.l1.simplex import dual_of_rows, soft_packing_simplex, weighted_quantile

Array = np.ndarray[Any, Any]

CHUNK = 48
"""Columns that enter the tableau at a time when many atoms survive (column generation)."""


@kernel
def largest(values: Array, n: int, size: int, above: float, chosen: Array) -> int:
    """The places of the `size` largest of values[:n] that exceed `above`, largest first; returns how many."""
    count = 0
    for j in range(n):
        v = values[j]
        if v > above and (count < size or v > values[chosen[count - 1]]):
            at = count if count < size else size - 1
            while at > 0 and values[chosen[at - 1]] < v:
                chosen[at] = chosen[at - 1]
                at -= 1
            chosen[at] = j
            count = min(count + 1, size)
    return count


@kernel
def solve_by_column_generation(
    terms: Array,
    weights: Array,
    n_rows: int,
    term_ptr: Array,
    term_atoms: Array,
    term_values: Array,
    place: Array,
    gain: Array,
    n_survivors: int,
    cap: float,
    tolerance: float,
    max_pivots: int,
    value: Array,
    basic: Array,
    below: Array,
    z: Array,
    point: Array,
    owner: Array,
    moving: Array,
) -> tuple[int, float, float]:
    """The same problem when too many atoms survive for one tableau: add the columns of best price until none is left.

    A new column enters the present tableau through the columns of the nonbasic slacks, which hold the inverse of the
    basis. On return `basic`, `value`, `below` and `z` describe the optimum.
    """
    size = 4 * CHUNK
    T = np.zeros((size, n_rows))
    slope = np.zeros(size)
    nonbasic = np.zeros(size, np.int64)
    price = gain[:n_survivors].copy()
    inside = np.zeros(n_survivors, np.bool_)
    chosen = np.zeros(CHUNK, np.int64)
    column = np.full(n_survivors, -1, np.int64)
    fresh = np.zeros((CHUNK, n_rows))
    for b in range(n_rows):
        basic[b] = n_survivors + b
        value[b] = weights[b]
        below[b] = False
    n_columns = 0
    pivots = 0
    change = 0.0
    violation = 0.0
    while True:
        for j in range(n_survivors):
            if inside[j]:
                price[j] = -1.0
        new = largest(price, n_survivors, CHUNK, tolerance, chosen)
        if new == 0 or pivots >= max_pivots:
            violation = max(violation, price[chosen[0]] if new else 0.0)
            return pivots, change, violation
        if n_columns + new > size:
            # Make room: nonbasic codes with a positive slope can be priced in again later.
            kept = 0
            for c in range(n_columns):
                if nonbasic[c] < n_survivors and slope[c] > 1e-6:
                    inside[nonbasic[c]] = False
                else:
                    slope[kept] = slope[c]
                    nonbasic[kept] = nonbasic[c]
                    T[kept, :] = T[c, :]
                    kept += 1
            n_columns = kept
            if n_columns + new > size:
                size = 2 * (n_columns + new)
                wider = np.zeros((size, n_rows))
                wider[:n_columns] = T[:n_columns]
                T = wider
                longer = np.zeros(size)
                longer[:n_columns] = slope[:n_columns]
                slope = longer
                more = np.zeros(size, np.int64)
                more[:n_columns] = nonbasic[:n_columns]
                nonbasic = more
        for q in range(new):
            column[chosen[q]] = q
            inside[chosen[q]] = True
        fresh[:new] = 0.0
        for r in range(n_rows):
            for h in range(term_ptr[terms[r]], term_ptr[terms[r] + 1]):
                j = place[term_atoms[h]]
                if j >= 0 and column[j] >= 0:
                    fresh[column[j], r] = term_values[h]
        for q in range(new):
            T[n_columns + q, :] = 0.0
            for b in range(n_rows):
                if basic[b] >= n_survivors:
                    T[n_columns + q, b] = fresh[q, basic[b] - n_survivors]
            for c in range(n_columns):
                if nonbasic[c] >= n_survivors:
                    f = fresh[q, nonbasic[c] - n_survivors]
                    if f != 0.0:
                        for b in range(n_rows):
                            T[n_columns + q, b] += f * T[c, b]
        for q in range(new):
            slope[n_columns + q] = -price[chosen[q]]
            nonbasic[n_columns + q] = chosen[q]
            column[chosen[q]] = -1
        n_columns += new
        made, gained, violation = soft_packing_simplex(
            T,
            value,
            slope,
            basic,
            nonbasic,
            below,
            n_rows,
            n_columns,
            n_survivors,
            cap,
            tolerance,
            max_pivots - pivots,
            point,
            owner,
            moving,
        )
        pivots += made
        change += gained
        dual_of_rows(slope, basic, nonbasic, below, n_rows, n_columns, n_survivors, cap, z)
        for j in range(n_survivors):
            price[j] = gain[j]
        for r in range(n_rows):
            if z[r] > 0.0:
                for h in range(term_ptr[terms[r]], term_ptr[terms[r] + 1]):
                    j = place[term_atoms[h]]
                    if j >= 0:
                        price[j] -= z[r] * term_values[h]


@kernel
def code_documents(
    start: int,
    stop: int,
    indptr: Array,
    indices: Array,
    data: Array,
    term_ptr: Array,
    term_atoms: Array,
    term_values: Array,
    mass: Array,
    alpha: float,
    over: float,
    tolerance: float,
    max_pivots: int,
    direct: int,
    objective: Array,
    nearest: Array,
    pivots: Array,
    survivors: Array,
    violation: Array,
    n_codes: Array,
    code_atoms: Array,
    code_values: Array,
    duals: Array,
) -> None:
    """Code the documents start..stop (CSR rows, positive, unit l1 or any other mass) over atoms given term by term.

    Fills, for each document, the objective, the largest d_j of the atoms it touches (`nearest`), pivots, survivors and
    the dual violation; the codes stand one document after the other from indptr[start] on (at a vertex there are no
    more codes than terms), and, where `duals` has room, the price z of each term in its own place. More than `direct`
    survivors are solved by column generation.
    """
    n_atoms = mass.shape[0]
    widest = 1
    for i in range(start, stop):
        widest = max(widest, indptr[i + 1] - indptr[i])
    cap = 1.0 + over
    share = np.zeros(n_atoms)
    touched = np.zeros(n_atoms + 1, np.int64)
    place = np.full(n_atoms, -1, np.int64)
    gain = np.zeros(n_atoms)
    survivor = np.zeros(n_atoms, np.int64)
    terms = np.zeros(widest, np.int64)
    weights = np.zeros(widest)
    source = np.zeros(widest, np.int64)
    tableau = np.zeros(widest * 64)
    value = np.zeros(widest)
    basic = np.zeros(widest, np.int64)
    below = np.zeros(widest, np.bool_)
    point = np.zeros(widest)
    owner = np.zeros(widest, np.int64)
    moving = np.zeros(widest, np.int64)
    z = np.zeros(widest)
    z_alone = np.zeros(widest)
    alone = np.zeros(widest, np.bool_)
    shared = np.zeros(max(direct, 1), np.bool_)
    code = np.zeros(widest)
    coded = np.zeros(widest, np.int64)
    origin = np.zeros(n_atoms, np.int64)
    slope = np.zeros(direct)
    nonbasic = np.zeros(direct, np.int64)
    free = indptr[start]
    for i in range(start, stop):
        total = 0.0
        n_touched = 0
        n_terms = 0
        for q in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            term = np.uint64(indices[q])
            total += data[q]
            begin = np.uint64(term_ptr[term])
            end = np.uint64(term_ptr[term + np.uint64(1)])
            if end > begin:
                terms[n_terms] = term
                weights[n_terms] = data[q]
                source[n_terms] = q
                n_terms += 1
                for h in range(begin, end):
                    j = np.uint64(term_atoms[h])  # unsigned: no look at negative indices
                    touched[n_touched] = j
                    n_touched += share[j] == 0.0
                    share[j] += term_values[h]
        n_survivors = 0
        best = -over - alpha
        for q in range(n_touched):
            j = np.uint64(touched[q])
            d = cap * share[j] - over * mass[j] - alpha
            share[j] = 0.0
            if d > best:
                best = d
            if d > 0.0:
                gain[n_survivors] = d
                survivor[n_survivors] = j
                place[j] = n_survivors
                n_survivors += 1
        objective[i] = total
        nearest[i] = best
        survivors[i] = n_survivors
        pivots[i] = 0
        violation[i] = 0.0
        n_codes[i] = 0
        if n_survivors == 0:
            continue
        # The rows that a survivor covers; T is filled on the way.
        direct_solve = n_survivors <= direct
        width = n_survivors if direct_solve else 1
        if n_terms * width > tableau.shape[0]:
            tableau = np.zeros(2 * n_terms * width)
        T = tableau[: n_terms * width].reshape(width, n_terms)
        T[:] = 0.0
        for c in range(width):
            shared[c] = False
        n_rows = 0
        for q in range(n_terms):
            first = -1
            for h in range(np.uint64(term_ptr[terms[q]]), np.uint64(term_ptr[terms[q] + 1])):
                c = place[np.uint64(term_atoms[h])]
                if c >= 0:
                    if not direct_solve:
                        first = c
                        break
                    T[c, n_rows] = term_values[h]
                    if first < 0:
                        first = c
                    else:
                        shared[first] = True
                        shared[c] = True
            if first >= 0:
                terms[n_rows] = terms[q]
                weights[n_rows] = weights[q]
                source[n_rows] = source[q]
                n_rows += 1
        # Atoms that share no row with another are coded in closed form; the others go into the tableau together.
        n_kept = 0
        n_alone = 0
        made = 0
        left = 0.0
        change = 0.0
        if direct_solve:
            for r in range(n_rows):
                alone[r] = False
            for c in range(n_survivors):
                if shared[c]:
                    if n_kept < c:
                        T[n_kept, :n_rows] = T[c, :n_rows]
                    slope[n_kept] = -gain[c]
                    nonbasic[n_kept] = n_kept
                    origin[n_kept] = c
                    n_kept += 1
                else:
                    x, gained = weighted_quantile(T[c], weights, n_rows, gain[c], cap, point, owner, z_alone)
                    change += gained
                    code[n_alone] = x
                    coded[n_alone] = survivor[c]
                    n_alone += 1
                    if duals.shape[0]:
                        for r in range(n_rows):
                            if T[c, r] != 0.0:
                                alone[r] = True
            if n_kept > 0:
                for r in range(n_rows):
                    value[r] = weights[r]
                    basic[r] = n_kept + r
                    below[r] = False
                made, gained, left = soft_packing_simplex(
                    T,
                    value,
                    slope,
                    basic,
                    nonbasic,
                    below,
                    n_rows,
                    n_kept,
                    n_kept,
                    cap,
                    tolerance,
                    max_pivots,
                    point,
                    owner,
                    moving,
                )
                change += gained
            if duals.shape[0]:
                if n_kept > 0:
                    dual_of_rows(slope, basic, nonbasic, below, n_rows, n_kept, n_kept, cap, z)
                for r in range(n_rows):
                    if alone[r]:
                        z[r] = z_alone[r]
            made += n_alone
        else:
            made, change, left = solve_by_column_generation(
                terms,
                weights,
                n_rows,
                term_ptr,
                term_atoms,
                term_values,
                place,
                gain,
                n_survivors,
                cap,
                tolerance,
                max_pivots,
                value,
                basic,
                below,
                z,
                point,
                owner,
                moving,
            )
            n_kept = n_survivors
            for c in range(n_survivors):
                origin[c] = c
        objective[i] = max(total + change, 0.0)  # rounding must not make it negative
        pivots[i] = made
        violation[i] = left
        for r in range(n_rows):
            if n_kept > 0 and basic[r] < n_kept and value[r] > 0.0:
                code[n_alone] = value[r]
                coded[n_alone] = survivor[origin[basic[r]]]
                n_alone += 1
        count = 0
        for q in range(n_alone):
            at = free + count
            while at > free and code_atoms[at - 1] > coded[q]:
                code_atoms[at] = code_atoms[at - 1]
                code_values[at] = code_values[at - 1]
                at -= 1
            code_atoms[at] = coded[q]
            code_values[at] = code[q]
            count += 1
        n_codes[i] = count
        free += count
        if duals.shape[0]:
            for r in range(n_rows):
                duals[source[r]] = z[r]
        for q in range(n_survivors):
            place[survivor[q]] = -1

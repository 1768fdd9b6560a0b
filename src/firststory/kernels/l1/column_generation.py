"""The small problem of l1 coding when many atoms survive, or when one tableau has lost its accuracy.

Columns enter by their price until none has one. A tableau drifts as it is pivoted, worst where a document equals an
atom and every vertex nearby is degenerate; prices are therefore always computed from the atoms themselves, and the
tableau is built again from its basis when they contradict it, and after every `FRESH_PIVOTS`. A second such rebuild
means that the simplex walks about among degenerate vertices: the weights are then perturbed until it has found an
optimal basis, whose prices are feasible whatever the weights, and the true weights have the last word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.l1.layout import Basis, ByTerm, CodingProblem, Covered, Ray, Solution, Survivors, Tableau
from firststory.kernels.l1.simplex import dual_of_rows, soft_packing_simplex

Array = np.ndarray[Any, Any]

COLUMNS_AT_A_TIME = 48
"""Columns that enter the tableau together."""

FRESH_PIVOTS = 200
"""Pivots, and four more per row, after which the tableau is built again from its basis."""

MAX_REBUILDS = 100
"""Per document; what accuracy is missing then is reported as its violation."""

DRIFT = 1e-9
"""A column of the tableau whose price, by the atoms themselves, exceeds this says that the tableau has drifted."""

PERTURBATION = 1e-9
"""Relative change of the weights that tells degenerate vertices apart, in the first attempt; then ten times as much."""

SINGULAR_PIVOT = 1e-9
"""A basis column without a larger pivot than this depends on the others, and leaves the basis."""


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
def optimality(
    covered: Covered, n_rows: int, atoms: ByTerm, survivors: Survivors, n_survivors: int, cap: float, solution: Solution
) -> tuple[float, float, float]:
    """What prices and codes are worth by the atoms themselves: the worst dual infeasibility, the change of the cost
    that the codes make, and the change that the prices promise. At the optimum 0 and twice the same."""
    left = solution.left
    code = solution.code
    change = 0.0
    promised = 0.0
    for c in range(n_survivors):
        left[c] = survivors.gain[c]
        change -= survivors.gain[c] * code[c]
    for r in range(n_rows):
        z = solution.price[r]
        fit = 0.0
        begin = np.uint64(atoms.ptr[covered.terms[r]])
        end = np.uint64(atoms.ptr[covered.terms[r] + 1])
        for h in range(begin, end):
            c = survivors.place[np.uint64(atoms.holders[h])]
            if c >= 0:
                left[c] -= z * atoms.values[h]
                fit += code[c] * atoms.values[h]
        promised -= z * covered.weights[r]
        if fit > covered.weights[r]:
            change += cap * (fit - covered.weights[r])
    infeasible = 0.0
    for c in range(n_survivors):
        infeasible = max(infeasible, left[c])
    return infeasible, change, promised


@kernel
def columns_of(
    chosen: Array, n: int, covered: Covered, n_rows: int, atoms: ByTerm, survivors: Survivors, column: Array, out: Array
) -> None:
    """out[q] becomes the chosen survivor q on the covered rows; `column` is scratch, -1 before and after."""
    for q in range(n):
        column[chosen[q]] = q
        out[q, :n_rows] = 0.0
    for r in range(n_rows):
        for h in range(atoms.ptr[covered.terms[r]], atoms.ptr[covered.terms[r] + 1]):
            c = survivors.place[atoms.holders[h]]
            if c >= 0 and column[c] >= 0:
                out[column[c], r] = atoms.values[h]
    for q in range(n):
        column[chosen[q]] = -1


@kernel
def room_for(tableau: Tableau, n_columns: int, new: int) -> Tableau:
    """The same tableau with space for `new` more columns."""
    size = tableau.slope.shape[0]
    if n_columns + new <= size:
        return tableau
    size = 2 * (n_columns + new)
    entries = np.zeros((size, tableau.entries.shape[1]))
    slope = np.zeros(size)
    nonbasic = np.zeros(size, np.int64)
    entries[:n_columns] = tableau.entries[:n_columns]
    slope[:n_columns] = tableau.slope[:n_columns]
    nonbasic[:n_columns] = tableau.nonbasic[:n_columns]
    return Tableau(entries, slope, nonbasic)


@kernel
def without_idle_columns(tableau: Tableau, n_columns: int, first_slack: int, inside: Array) -> int:
    """Drop nonbasic codes with a positive slope: they can be priced in again later."""
    kept = 0
    for c in range(n_columns):
        if tableau.nonbasic[c] < first_slack and tableau.slope[c] > 1e-6:
            inside[tableau.nonbasic[c]] = False
        else:
            tableau.slope[kept] = tableau.slope[c]
            tableau.nonbasic[kept] = tableau.nonbasic[c]
            tableau.entries[kept, :] = tableau.entries[c, :]
            kept += 1
    return kept


@kernel
def add_columns(
    tableau: Tableau, basis: Basis, fresh: Array, chosen: Array, new: int, n_columns: int, n_rows: int, first_slack: int
) -> None:
    """Enter columns through those of the nonbasic slacks, which hold the inverse of the basis."""
    T = tableau.entries
    for q in range(new):
        T[n_columns + q, :] = 0.0
        for b in range(n_rows):
            if basis.basic[b] >= first_slack:
                T[n_columns + q, b] = fresh[q, basis.basic[b] - first_slack]
        for c in range(n_columns):
            if tableau.nonbasic[c] >= first_slack:
                f = fresh[q, tableau.nonbasic[c] - first_slack]
                if f != 0.0:
                    for b in range(n_rows):
                        T[n_columns + q, b] += f * T[c, b]
        tableau.nonbasic[n_columns + q] = chosen[q]


@kernel
def largest_pivot(T: Array, n_columns: int, n_rows: int, done: Array, open_row: Array) -> tuple[int, int]:
    """Column and row of the largest entry among the columns that are not done and the rows that are open."""
    best = SINGULAR_PIVOT
    column = -1
    row = -1
    for c in range(n_columns):
        if not done[c]:
            for b in range(n_rows):
                if open_row[b] and abs(T[c, b]) > best:
                    best = abs(T[c, b])
                    column = c
                    row = b
    return column, row


@kernel
def eliminate(tableau: Tableau, basis: Basis, column: int, row: int, n_columns: int, n_rows: int) -> None:
    """Exchange nonbasic `column` and the basic variable of `row`, for values and entries; slopes are left alone."""
    T = tableau.entries
    entering = T[column]
    inverse = 1.0 / entering[row]
    move = basis.value[row] * inverse
    for c in range(n_columns):
        f = T[c, row] * inverse
        if f != 0.0 and c != column:
            for b in range(n_rows):
                T[c, b] -= f * entering[b]
            T[c, row] = f
    for b in range(n_rows):
        basis.value[b] -= entering[b] * move
        entering[b] *= -inverse
    entering[row] = inverse
    basis.value[row] = move
    leaving = basis.basic[row]
    basis.basic[row] = tableau.nonbasic[column]
    tableau.nonbasic[column] = leaving


@kernel
def rebuilt(
    tableau: Tableau,
    basis: Basis,
    covered: Covered,
    n_rows: int,
    atoms: ByTerm,
    survivors: Survivors,
    n_survivors: int,
    cap: float,
    column: Array,
    inside: Array,
) -> tuple[Tableau, int]:
    """The tableau of the present basis from the atoms themselves, by Gaussian elimination with complete pivoting.

    Returns it and its number of columns: those of the basic codes, with which the slacks change places.
    """
    chosen = np.zeros(n_rows, np.int64)
    open_row = np.ones(n_rows, np.bool_)
    side = np.zeros(n_rows, np.bool_)
    n_columns = 0
    for b in range(n_rows):
        if basis.basic[b] >= n_survivors:
            open_row[basis.basic[b] - n_survivors] = False
            side[basis.basic[b] - n_survivors] = basis.below[b]
        else:
            chosen[n_columns] = basis.basic[b]
            n_columns += 1
    tableau = room_for(tableau, 0, max(n_columns, 1))
    columns_of(chosen, n_columns, covered, n_rows, atoms, survivors, column, tableau.entries)
    inside[:n_survivors] = False
    for c in range(n_columns):
        tableau.nonbasic[c] = chosen[c]
        tableau.slope[c] = 0.0
        inside[chosen[c]] = True
    for b in range(n_rows):
        basis.basic[b] = n_survivors + b
        basis.value[b] = covered.weights[b]
        basis.below[b] = False
    done = np.zeros(n_columns, np.bool_)
    for _ in range(n_columns):
        c, row = largest_pivot(tableau.entries, n_columns, n_rows, done, open_row)
        if c < 0:  # the others depend on those: they stay outside
            break
        eliminate(tableau, basis, c, row, n_columns, n_rows)
        done[c] = True
        open_row[row] = False
    rounding = 1e-12 * covered.weights[:n_rows].sum()
    for b in range(n_rows):
        if basis.basic[b] < n_survivors:
            basis.value[b] = max(basis.value[b], 0.0)
            basis.below[b] = False
        elif abs(basis.value[b]) > rounding:
            basis.below[b] = basis.value[b] < 0.0
        else:
            basis.below[b] = side[basis.basic[b] - n_survivors]
    for c in range(n_columns):
        j = tableau.nonbasic[c]
        slope = -survivors.gain[j] if j < n_survivors else 0.0
        for b in range(n_rows):
            if basis.basic[b] < n_survivors:
                slope += survivors.gain[basis.basic[b]] * tableau.entries[c, b]
            elif basis.below[b]:
                slope += cap * tableau.entries[c, b]
        tableau.slope[c] = slope
    return tableau, n_columns


@kernel
def solve_by_column_generation(
    covered: Covered,
    n_rows: int,
    atoms: ByTerm,
    survivors: Survivors,
    n_survivors: int,
    problem: CodingProblem,
    basis: Basis,
    ray: Ray,
    solution: Solution,
) -> tuple[int, float, float]:
    """The optimum, into `basis` and `solution`; returns pivots, the change of the cost and the violation.

    The change is that of the codes returned, by the atoms themselves, and the violation the larger of the dual
    infeasibility and the gap between codes and prices.
    """
    cap = 1.0 + problem.over
    size = 4 * COLUMNS_AT_A_TIME
    tableau = Tableau(np.zeros((size, n_rows)), np.zeros(size), np.zeros(size, np.int64))
    inside = np.zeros(n_survivors, np.bool_)
    chosen = np.zeros(COLUMNS_AT_A_TIME, np.int64)
    column = np.full(n_survivors, -1, np.int64)
    fresh = np.zeros((COLUMNS_AT_A_TIME, n_rows))
    for b in range(n_rows):
        basis.basic[b] = n_survivors + b
        basis.value[b] = covered.weights[b]
        basis.below[b] = False
    total = covered.weights[:n_rows].sum()
    perturbed = False
    perturbation = PERTURBATION
    weights = covered.weights[:n_rows].copy()
    now = Covered(covered.terms, weights, covered.source)
    fresh_pivots = FRESH_PIVOTS + 4 * n_rows
    n_columns = 0
    pivots = 0
    since = 0
    rebuilds = 0
    while True:
        solution.price[:n_rows] = 0.0
        dual_of_rows(tableau, basis, n_rows, n_columns, n_survivors, cap, solution.price)
        solution.code[:n_survivors] = 0.0
        for b in range(n_rows):
            if basis.basic[b] < n_survivors:
                solution.code[basis.basic[b]] = max(basis.value[b], 0.0)
        infeasible, change, promised = optimality(now, n_rows, atoms, survivors, n_survivors, cap, solution)
        stalled = since >= fresh_pivots
        drifted = stalled
        for j in range(n_survivors):
            if inside[j]:
                drifted |= solution.left[j] > DRIFT
        new = 0
        if not drifted:
            for j in range(n_survivors):
                if inside[j]:
                    solution.left[j] = -1.0
            new = largest(solution.left, n_survivors, COLUMNS_AT_A_TIME, problem.tolerance, chosen)
            drifted = new == 0 and change - promised > DRIFT * total
        spent = pivots >= problem.max_pivots or (drifted and (rebuilds >= MAX_REBUILDS or since == 0))
        optimal = new == 0 and not drifted
        if spent or (optimal and not perturbed):
            if perturbed:
                infeasible, change, promised = optimality(covered, n_rows, atoms, survivors, n_survivors, cap, solution)
            return pivots, change, max(infeasible, (change - promised) / total)
        if drifted or optimal:
            if optimal:
                perturbed = False
                weights[:] = covered.weights[:n_rows]
            elif stalled and rebuilds > 0 and not perturbed:
                perturbed = True
                draw = 12345
                for r in range(n_rows):
                    draw = (draw * 1103515245 + 12345) % 2147483648
                    weights[r] = covered.weights[r] * (1.0 + perturbation * (1.0 + draw / 2147483648.0))
                perturbation *= 10.0
            tableau, n_columns = rebuilt(
                tableau, basis, now, n_rows, atoms, survivors, n_survivors, cap, column, inside
            )
            rebuilds += 1
            since = 0
        else:
            if n_columns + new > tableau.slope.shape[0]:
                n_columns = without_idle_columns(tableau, n_columns, n_survivors, inside)
                tableau = room_for(tableau, n_columns, new)
            columns_of(chosen, new, covered, n_rows, atoms, survivors, column, fresh)
            add_columns(tableau, basis, fresh, chosen, new, n_columns, n_rows, n_survivors)
            for q in range(new):
                tableau.slope[n_columns + q] = -solution.left[chosen[q]]
                inside[chosen[q]] = True
            n_columns += new
        limit = min(problem.max_pivots - pivots, fresh_pivots - since)
        made, _, _, _ = soft_packing_simplex(
            tableau, basis, ray, n_rows, n_columns, n_survivors, cap, problem.tolerance, limit, pivots
        )
        pivots += made
        since += made

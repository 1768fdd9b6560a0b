"""Exact l1 sparse coding of one document after another: reduce, screen, solve, verify.

With A >= 0 and x >= 0 only the document's own terms S matter (equation 5 of the method page):

    l(p, A) = |p|_1 - max_{x >= 0} [ d'x - c sum_{i in S} ((x A)_i - p_i)_+ ],   d_j = c s_j - o |a_j|_1 - alpha

where s_j is the atom's mass on S, o the weight of over-coverage (1 for the l1 loss) and c = 1 + o. An atom with
d_j <= 0 has x_j = 0 (safe screening). What is left is tiny and dense.

`simplex.py` solves it in one tableau, `column_generation.py` where many atoms survive. Whatever comes out is checked
against the atoms themselves; if one tableau has drifted, column generation, which rebuilds its own, solves it again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.l1.column_generation import DRIFT, FRESH_PIVOTS, optimality, solve_by_column_generation
from firststory.kernels.l1.layout import (
    Basis,
    ByTerm,
    CodingProblem,
    CodingResult,
    Covered,
    Ray,
    Rows,
    Solution,
    Survivors,
    Tableau,
)
from firststory.kernels.l1.simplex import dual_of_rows, soft_packing_simplex, weighted_quantile

Array = np.ndarray[Any, Any]

SURE_PIVOTS = 16
SURE_PIVOT = 1e-5
"""Up to this many pivots of at least this size cannot have cost a tableau its accuracy: it is not checked."""


@kernel
def screen(
    i: int,
    documents: Rows,
    atoms: ByTerm,
    mass: Array,
    problem: CodingProblem,
    covered: Covered,
    survivors: Survivors,
    share: Array,
    touched: Array,
) -> tuple[float, int, int, float]:
    """The atoms that document i may use. Returns its mass, terms that some atom holds, survivors, and the best d_j.

    `share` is zero before and after; `touched` is scratch.
    """
    cap = 1.0 + problem.over
    total = 0.0
    n_touched = 0
    n_terms = 0
    for q in range(np.uint64(documents.ptr[i]), np.uint64(documents.ptr[i + 1])):
        term = np.uint64(documents.columns[q])
        total += documents.values[q]
        begin = np.uint64(atoms.ptr[term])
        end = np.uint64(atoms.ptr[term + np.uint64(1)])
        if end > begin:
            covered.terms[n_terms] = term
            covered.weights[n_terms] = documents.values[q]
            covered.source[n_terms] = q
            n_terms += 1
            for h in range(begin, end):
                j = np.uint64(atoms.holders[h])  # unsigned: no check for negative indices
                touched[n_touched] = j
                n_touched += share[j] == 0.0
                share[j] += atoms.values[h]
    n_survivors = 0
    best = -problem.over - problem.alpha
    for q in range(n_touched):
        j = np.uint64(touched[q])
        d = cap * share[j] - problem.over * mass[j] - problem.alpha
        share[j] = 0.0
        if d > best:
            best = d
        if d > 0.0:
            survivors.gain[n_survivors] = d
            survivors.atoms[n_survivors] = j
            survivors.place[j] = n_survivors
            n_survivors += 1
    return total, n_terms, n_survivors, best


@kernel
def fill_tableau(T: Array, covered: Covered, n_terms: int, atoms: ByTerm, survivors: Survivors, shared: Array) -> int:
    """T[c, r] becomes survivor c on the r-th term that a survivor covers; returns how many such terms there are.

    The other terms are dropped from `covered`. `shared[c]` says whether the survivor shares a term with another.
    """
    T[:] = 0.0
    shared[: T.shape[0]] = False
    n_rows = 0
    for q in range(n_terms):
        first = -1
        for h in range(np.uint64(atoms.ptr[covered.terms[q]]), np.uint64(atoms.ptr[covered.terms[q] + 1])):
            c = survivors.place[np.uint64(atoms.holders[h])]
            if c >= 0:
                T[c, n_rows] = atoms.values[h]
                if first < 0:
                    first = c
                else:
                    shared[first] = True
                    shared[c] = True
        if first >= 0:
            covered.terms[n_rows] = covered.terms[q]
            covered.weights[n_rows] = covered.weights[q]
            covered.source[n_rows] = covered.source[q]
            n_rows += 1
    return n_rows


@kernel
def drop_uncovered(covered: Covered, n_terms: int, atoms: ByTerm, survivors: Survivors) -> int:
    """Keep the terms that a survivor covers; returns how many."""
    n_rows = 0
    for q in range(n_terms):
        for h in range(np.uint64(atoms.ptr[covered.terms[q]]), np.uint64(atoms.ptr[covered.terms[q] + 1])):
            if survivors.place[np.uint64(atoms.holders[h])] >= 0:
                covered.terms[n_rows] = covered.terms[q]
                covered.weights[n_rows] = covered.weights[q]
                covered.source[n_rows] = covered.source[q]
                n_rows += 1
                break
    return n_rows


@kernel
def solve_in_one_tableau(
    T: Array,
    slope: Array,
    nonbasic: Array,
    origin: Array,
    shared: Array,
    covered: Covered,
    n_rows: int,
    survivors: Survivors,
    problem: CodingProblem,
    basis: Basis,
    ray: Ray,
    solution: Solution,
    want_prices: bool,
) -> tuple[int, float, float, bool]:
    """Codes and, if wanted or in doubt, prices into `solution`.

    Returns the pivots, the change of the cost, the worst slope left, and whether the tableau cannot have drifted.
    Atoms that share no row with another are coded in closed form; the others go into the tableau together.
    """
    cap = 1.0 + problem.over
    solution.price[:n_rows] = 0.0
    change = 0.0
    n_kept = 0
    n_alone = 0
    for c in range(T.shape[0]):
        solution.code[c] = 0.0
        if shared[c]:
            if n_kept < c:
                T[n_kept, :n_rows] = T[c, :n_rows]
            slope[n_kept] = -survivors.gain[c]
            nonbasic[n_kept] = n_kept
            origin[n_kept] = c
            n_kept += 1
        else:
            solution.code[c], gained = weighted_quantile(
                T[c], covered.weights, n_rows, survivors.gain[c], cap, ray, solution.price
            )
            change += gained
            n_alone += 1
    if n_kept == 0:
        return n_alone, change, 0.0, True
    for r in range(n_rows):
        basis.value[r] = covered.weights[r]
        basis.basic[r] = n_kept + r
        basis.below[r] = False
    tableau = Tableau(T, slope, nonbasic)
    limit = min(problem.max_pivots, FRESH_PIVOTS)
    made, gained, left, smallest = soft_packing_simplex(
        tableau, basis, ray, n_rows, n_kept, n_kept, cap, problem.tolerance, limit, 0
    )
    sure = made <= SURE_PIVOTS and smallest >= SURE_PIVOT
    if want_prices or not sure:
        dual_of_rows(tableau, basis, n_rows, n_kept, n_kept, cap, solution.price)
    for r in range(n_rows):
        if basis.basic[r] < n_kept and basis.value[r] > 0.0:
            solution.code[origin[basis.basic[r]]] = basis.value[r]
    return made + n_alone, change + gained, left, sure


@kernel
def write_codes(result: CodingResult, free: int, survivors: Survivors, n_survivors: int, solution: Solution) -> int:
    """The positive codes from `free` on, by rising atom; returns how many."""
    code_atoms = result.code_atoms
    code_values = result.code_values
    count = 0
    for c in range(n_survivors):
        if solution.code[c] > 0.0:
            atom = survivors.atoms[c]
            at = free + count
            while at > free and code_atoms[at - 1] > atom:
                code_atoms[at] = code_atoms[at - 1]
                code_values[at] = code_values[at - 1]
                at -= 1
            code_atoms[at] = atom
            code_values[at] = solution.code[c]
            count += 1
    return count


@kernel
def code_documents(
    start: int, stop: int, documents: Rows, atoms: ByTerm, mass: Array, problem: CodingProblem, result: CodingResult
) -> None:
    """Code the documents start..stop (positive, unit l1 or any other mass) over atoms given term by term.

    Fills, for each document, the objective, the largest d_j of the atoms it touches (`nearest`), pivots, survivors and
    the violation; the codes stand one document after the other from documents.ptr[start] on (at a vertex there are no
    more codes than terms), and, where `duals` has room, the price z of each term in its own place.
    """
    n_atoms = mass.shape[0]
    widest = 1
    for i in range(start, stop):
        widest = max(widest, documents.ptr[i + 1] - documents.ptr[i])
    cap = 1.0 + problem.over
    share = np.zeros(n_atoms)
    touched = np.zeros(n_atoms + 1, np.int64)
    covered = Covered(np.zeros(widest, np.int64), np.zeros(widest), np.zeros(widest, np.int64))
    survivors = Survivors(np.zeros(n_atoms, np.int64), np.zeros(n_atoms), np.full(n_atoms, -1, np.int64))
    basis = Basis(np.zeros(widest, np.int64), np.zeros(widest), np.zeros(widest, np.bool_))
    ray = Ray(np.zeros(widest), np.zeros(widest, np.int64), np.zeros(widest, np.int64))
    solution = Solution(np.zeros(widest), np.zeros(n_atoms), np.zeros(n_atoms))
    room = max(problem.tableau_atoms, 1)
    shared = np.zeros(room, np.bool_)
    slope = np.zeros(room)
    nonbasic = np.zeros(room, np.int64)
    origin = np.zeros(room, np.int64)
    tableau = np.zeros(widest * 64)
    free = documents.ptr[start]
    for i in range(start, stop):
        total, n_terms, n_survivors, best = screen(
            i, documents, atoms, mass, problem, covered, survivors, share, touched
        )
        result.objective[i] = total
        result.nearest[i] = best
        result.survivors[i] = n_survivors
        result.pivots[i] = 0
        result.violation[i] = 0.0
        result.n_codes[i] = 0
        if n_survivors == 0:
            continue
        n_rows = 0
        made = 0
        solved = False
        change = 0.0
        violation = 0.0
        if n_survivors <= problem.tableau_atoms:
            if n_terms * n_survivors > tableau.shape[0]:
                tableau = np.zeros(2 * n_terms * n_survivors)
            T = tableau[: n_terms * n_survivors].reshape(n_survivors, n_terms)
            n_rows = fill_tableau(T, covered, n_terms, atoms, survivors, shared)
            made, change, violation, sure = solve_in_one_tableau(
                T,
                slope,
                nonbasic,
                origin,
                shared,
                covered,
                n_rows,
                survivors,
                problem,
                basis,
                ray,
                solution,
                result.duals.shape[0] > 0,
            )
            if not sure:
                infeasible, true_change, promised = optimality(
                    covered, n_rows, atoms, survivors, n_survivors, cap, solution
                )
                gap = max(abs(true_change - change), true_change - promised)
                violation = max(max(violation, infeasible), gap / total)
            solved = violation <= DRIFT or made >= problem.max_pivots
        else:
            n_rows = drop_uncovered(covered, n_terms, atoms, survivors)
        if not solved:
            again, change, violation = solve_by_column_generation(
                covered, n_rows, atoms, survivors, n_survivors, problem, basis, ray, solution
            )
            made += again
        result.objective[i] = max(total + change, 0.0)  # rounding must not make it negative
        result.pivots[i] = made
        result.violation[i] = violation
        count = write_codes(result, free, survivors, n_survivors, solution)
        result.n_codes[i] = count
        free += count
        if result.duals.shape[0]:
            for r in range(n_rows):
                result.duals[covered.source[r]] = solution.price[r]
        for c in range(n_survivors):
            survivors.place[survivors.atoms[c]] = -1

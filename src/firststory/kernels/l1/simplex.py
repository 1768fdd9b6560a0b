"""A bounded long-step simplex for the small dense problem that l1 coding comes down to.

    min_{x >= 0}  -d'x + c sum_i ((x B)_i - p_i)_+

The tableau is kept column by column: basic_b = value_b - sum_c T[c, b] nonbasic_c. Variables are numbered: codes first,
then one slack p_i - (x B)_i per row, starting at `first_slack`. A slack costs nothing above zero and c below it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.l1.layout import Basis, Ray, Tableau

Array = np.ndarray[Any, Any]

IDLE_PIVOTS = 30
"""After this many pivots without progress, entering variables are drawn at random so that none cycles."""

TIE_WIDTH = 1e-13
"""Break-points closer than this coincide: the pivot is then chosen by its size, not by rounding."""

SMALLEST_PIVOT = 1e-11
"""Entries below this are zero as pivots."""


@kernel
def soft_packing_simplex(
    tableau: Tableau,
    basis: Basis,
    ray: Ray,
    n_rows: int,
    n_columns: int,
    first_slack: int,
    cap: float,
    tolerance: float,
    max_pivots: int,
    seed: int,
) -> tuple[int, float, float, float]:
    """Minimise from the present vertex. Returns the pivots made, the change of the cost, the worst slope left, and the
    smallest pivot, a sign of how far the tableau may have drifted.

    A nonbasic slack may also fall, with derivative cap - slope. `below[b]` says on which side of zero the slack of row
    b counts: the sign of a value that is zero up to rounding would not tell.
    """
    T, slope, nonbasic = tableau
    basic, value, below = basis
    point, owner, moving = ray
    change = 0.0
    smallest = np.inf
    pivots = 0
    idle = 0
    draw = 12345 + seed
    while True:
        steepest = -tolerance
        entering = -1
        direction = 1.0
        candidates = 0
        for c in range(n_columns):
            rise = slope[c]
            fall = cap - rise if nonbasic[c] >= first_slack else 0.0
            if idle < IDLE_PIVOTS:
                if rise < steepest:
                    steepest = rise
                    entering = c
                    direction = 1.0
                if fall < steepest:
                    steepest = fall
                    entering = c
                    direction = -1.0
            elif min(rise, fall) < -tolerance:
                candidates += 1
                draw = (draw * 1103515245 + 12345) % 2147483648
                if draw % candidates == 0:
                    steepest = min(rise, fall)
                    entering = c
                    direction = 1.0 if rise <= fall else -1.0
        if entering < 0:
            return pivots, change, 0.0, smallest
        if pivots >= max_pivots:
            return pivots, change, -steepest, smallest
        pivots += 1
        # The break-points along the edge: a code that falls to zero, or a slack that changes side.
        column = T[entering]
        n_points = 0
        n_moving = 0
        for b in range(n_rows):
            a = direction * column[b]
            if a == 0.0:
                continue
            moving[n_moving] = b
            n_moving += 1
            if (a > SMALLEST_PIVOT and not below[b]) or (a < -SMALLEST_PIVOT and below[b]):
                point[n_points] = max(value[b] / a, 0.0)
                owner[n_points] = b
                n_points += 1
        if n_points == 0:  # rounding alone can leave a column without break-points: it brings nothing
            slope[entering] = 0.0 if direction > 0 else cap
            continue
        # Pass break-points while the cost still falls.
        along = steepest
        length = 0.0
        row = -1
        while True:
            k = 0
            for q in range(1, n_points):
                if point[q] < point[k]:
                    k = q
            row = owner[k]
            change += along * (point[k] - length)
            length = point[k]
            if basic[row] < first_slack:
                break
            along += cap * abs(column[row])
            if along >= -1e-13 or n_points == 1:
                break
            # Passing the break-point puts the slack on its other side: every slope feels it.
            if below[row]:
                for c in range(n_columns):
                    slope[c] -= cap * T[c, row]
            else:
                for c in range(n_columns):
                    slope[c] += cap * T[c, row]
            below[row] = not below[row]
            n_points -= 1
            point[k] = point[n_points]
            owner[k] = owner[n_points]
        # Of break-points that coincide any may be the pivot: the largest keeps the tableau accurate.
        for q in range(n_points):
            if point[q] <= length + TIE_WIDTH and abs(column[owner[q]]) > abs(column[row]):
                row = owner[q]
        smallest = min(smallest, abs(column[row]))
        idle = idle + 1 if length <= 1e-14 else 0
        move = direction * length
        if below[row]:  # a nonbasic slack is counted from its upper side
            for c in range(n_columns):
                slope[c] -= cap * T[c, row]
        inverse = 1.0 / T[entering, row]
        rate = slope[entering] if direction > 0 else slope[entering] - cap
        sparse = 4 * n_moving < n_rows
        for c in range(n_columns):
            f = T[c, row]
            if f != 0.0 and c != entering:
                f *= inverse
                other = T[c]
                if sparse:
                    for q in range(n_moving):
                        at = np.uint64(moving[q])  # unsigned: no check for negative indices
                        other[at] -= f * column[at]
                else:
                    for b in range(n_rows):
                        other[b] -= f * column[b]
                other[row] = f
                slope[c] -= rate * f
        for q in range(n_moving):
            b = moving[q]
            value[b] -= T[entering, b] * move
            T[entering, b] *= -inverse
        T[entering, row] = inverse
        slope[entering] = -rate * inverse
        value[row] = move
        below[row] = direction < 0
        leaving = basic[row]
        basic[row] = nonbasic[entering]
        nonbasic[entering] = leaving


@kernel
def weighted_quantile(
    column: Array, weights: Array, n_rows: int, gain: float, cap: float, ray: Ray, price: Array
) -> tuple[float, float]:
    """The code of an atom that shares no row with another survivor, in closed form, and what it changes of the cost.

    The cost falls until the ratios p_i / a_i that were passed weigh enough. Sets the price of the atom's rows.
    """
    point = ray.point
    owner = ray.owner
    n = 0
    for r in range(n_rows):
        if column[r] != 0.0:
            point[n] = weights[r] / column[r]
            owner[n] = r
            price[r] = 0.0
            n += 1
    along = -gain
    here = 0.0
    change = 0.0
    while along < 0.0 and n > 0:
        k = 0
        for q in range(1, n):
            if point[q] < point[k]:
                k = q
        change += along * (point[k] - here)
        here = point[k]
        row = owner[k]
        price[row] = cap if along + cap * column[row] < 0.0 else -along / column[row]
        along += cap * column[row]
        n -= 1
        point[k] = point[n]
        owner[k] = owner[n]
    return here, change


@kernel
def dual_of_rows(
    tableau: Tableau, basis: Basis, n_rows: int, n_columns: int, first_slack: int, cap: float, price: Array
) -> None:
    """z_i = the price of row i at the present vertex: min p'z subject to 0 <= z <= cap, B z >= d.

    `price` is zero before; what it holds of a row whose slack is basic and above zero stays.
    """
    for b in range(n_rows):
        if basis.basic[b] >= first_slack and basis.below[b]:
            price[basis.basic[b] - first_slack] = cap
    for c in range(n_columns):
        if tableau.nonbasic[c] >= first_slack:
            price[tableau.nonbasic[c] - first_slack] = min(max(tableau.slope[c], 0.0), cap)

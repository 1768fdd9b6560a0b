"""Non-negative lasso by coordinate descent on the Gram matrix: |p - x A|^2 + alpha |x|_1, or with the plain norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from firststory.kernels.jit import kernel
from firststory.kernels.l1.layout import LassoProblem, LassoResult

Array = np.ndarray[Any, Any]


@kernel
def lasso_rows(
    start: int,
    stop: int,
    correlations: Array,
    gram: Array,
    energy: Array,
    problem: LassoProblem,
    result: LassoResult,
) -> None:
    """Code the rows start..stop: c = A p in `correlations`, G = A A', |p|^2 in `energy`; the codes given are the start.

    A coordinate is at its optimum when c_j - (G x)_j = t with x_j > 0, or <= t with x_j = 0, where t = alpha / 2 for
    the squared loss and alpha |p - x A| for the norm (Sun and Zhang's scaled lasso: t follows the residual).
    """
    alpha, squared, tolerance, max_sweeps = problem
    codes, objective, violation, sweeps = result
    k = gram.shape[0]
    fitted = np.zeros(k)
    for i in range(start, stop):
        x = codes[i]
        c = correlations[i]
        for j in range(k):
            fitted[j] = 0.0
        for h in range(k):
            if x[h] != 0.0:
                for j in range(k):
                    fitted[j] += x[h] * gram[h, j]
        count = 0
        worst = 0.0
        residual = 0.0
        while True:
            left = energy[i]
            for j in range(k):
                if x[j] != 0.0:
                    left += x[j] * (fitted[j] - 2.0 * c[j])
            residual = max(left, 0.0)
            norm = np.sqrt(residual)
            threshold = 0.5 * alpha if squared else alpha * norm
            worst = 0.0
            for j in range(k):
                slope = c[j] - fitted[j] - threshold
                worst = max(worst, slope if x[j] == 0.0 else abs(slope))
            if worst <= tolerance or count >= max_sweeps:
                break
            count += 1
            for j in range(k):
                if gram[j, j] <= 0.0:
                    continue
                new = max(0.0, x[j] + (c[j] - fitted[j] - threshold) / gram[j, j])
                move = new - x[j]
                if move != 0.0:
                    x[j] = new
                    for h in range(k):
                        fitted[h] += move * gram[h, j]
        total = 0.0
        for j in range(k):
            total += x[j]
        objective[i] = (residual if squared else np.sqrt(residual)) + alpha * total
        violation[i] = worst
        sweeps[i] = count

"""The logistic regression of echoes over hashed features, row by row."""

from __future__ import annotations

import math

import numpy as np

from firststory.arrays import Flags, Floats, Ints
from firststory.kernels.jit import kernel, part_of_kernel

RATE = 0.3
MOST_LOGIT = 30.0


@part_of_kernel
def probability(features: Ints, weights: Floats) -> float:
    """The chance of one row."""
    logit = 0.0
    for f in features:
        logit += weights[f]
    return 1.0 / (1.0 + math.exp(-max(-MOST_LOGIT, min(MOST_LOGIT, logit))))


@kernel
def probabilities(indptr: Ints, features: Ints, weights: Floats) -> Floats:
    """The chance of each row."""
    found = np.empty(len(indptr) - 1)
    for i in range(len(found)):
        found[i] = probability(features[indptr[i] : indptr[i + 1]], weights)
    return found


@kernel
def learn(indptr: Ints, features: Ints, labels: Flags, weights: Floats, squares: Floats) -> None:
    """One AdaGrad step per row, in order."""
    for i in range(len(labels)):
        own = features[indptr[i] : indptr[i + 1]]
        gradient = probability(own, weights) - (1.0 if labels[i] else 0.0)
        for f in own:
            squares[f] += gradient * gradient
            weights[f] -= RATE * gradient / math.sqrt(squares[f] + 1.0)

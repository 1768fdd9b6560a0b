"""What stands where in the small arrays that the kernels of the fused detector share."""

from __future__ import annotations

BETA, JOIN_BETA, THETA, FLOOR, TAU, IDF_POWER, STRONG = 0, 1, 2, 3, 4, 5, 6
SHORT, SHORT_BETA, SHORT_JOIN_BETA, SHORT_STRONG = 7, 8, 9, 10
IDF_PLUS, EARLY = 11, 12
"""What `knobs` holds: the neighbour's lag exponent, the cluster's, the cosine at which a row joins, what is left of a
cluster's cosine after long silence, the days in which it falls by e, the exponent of idf, and how much less a strong
match ages (0: like any other); how many terms a short row has at most, and what it has in place of the exponents and
of the last: a strong match of two short texts says less; what is added to the logarithm of idf; and, at the start of a
stream, after what part of the rows so far a refresh comes (0: none before the first hundred)."""

FREE, OPENED, FRESH_AT, FRESH_ROWS, IN_USE = 0, 1, 2, 3, 4
"""What `tally` holds: cluster slots on the free stack, clusters ever opened; at the last refresh, rows ever seen and
rows in the window; the cluster slots that were ever used are those below the last."""

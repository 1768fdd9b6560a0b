"""What the rule before this one came to on the same streams, measured once with the code that had it."""

from __future__ import annotations

BEFORE: dict[tuple[str, str], tuple[float, float]] = {}
"""(stream, regime) -> share of the plain neighbour's cost, and how far the AUC lay above its."""

"""Numba loops that read text: words, counts, vectors of short texts."""

"""Numba loops over flat arrays. They know nothing of documents; each has a plain NumPy twin in its test."""

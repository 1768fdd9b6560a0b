"""Numba loops of the default detector."""

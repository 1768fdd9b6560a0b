"""Numba loops of the stories."""

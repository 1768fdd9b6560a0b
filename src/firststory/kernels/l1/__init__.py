"""Numba loops of the l1- and l2-dictionaries."""

"""Numba loops of the Dirichlet-process mixture."""

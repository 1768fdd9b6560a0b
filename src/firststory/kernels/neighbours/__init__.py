"""Numba loops over posting lists: a window of rows, cosine neighbours, single-pass clusters."""

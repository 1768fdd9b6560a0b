"""Numba loops of the topic models."""

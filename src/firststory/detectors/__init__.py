"""Rows -> novelty, one algorithm a file."""

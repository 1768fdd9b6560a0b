"""Rows -> topics, one algorithm a file."""

"""Figures in matplotlib, one file a family."""

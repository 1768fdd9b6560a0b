"""Figures in matplotlib, one file a family; every function takes an axes to draw on, or makes one."""

from __future__ import annotations

from firststory.plot.detection import det, roc_by_step

__all__ = ["det", "roc_by_step"]

"""Figures in matplotlib, one file per family; every function takes an axes to draw on, or makes one."""

from __future__ import annotations

from firststory.plot.detection import det, roc_by_step
from firststory.plot.regret import regret
from firststory.plot.topics import lineage, topic_river, word_curves

__all__ = ["det", "lineage", "regret", "roc_by_step", "topic_river", "word_curves"]

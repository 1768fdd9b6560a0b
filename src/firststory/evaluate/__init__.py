"""Judging detectors, clusterings and topics: TDT cost and DET curves, AUC per timestep, the prequential driver."""

from __future__ import annotations

from firststory.evaluate.clustering import BCubed, b_cubed, clustering_scores
from firststory.evaluate.comparison import Comparison, compare
from firststory.evaluate.delay import Delay, detection_delay
from firststory.evaluate.prequential import Prequential, prequential
from firststory.evaluate.production import Evaluation, evaluate_stream
from firststory.evaluate.ranking import StepAuc, roc_auc_by_step, roc_curve
from firststory.evaluate.regret import word_space_regret
from firststory.evaluate.single_topic import LearningCurves, learning_curves
from firststory.evaluate.tdt import DetCurve, TdtCost, det_curve, tdt_cost
from firststory.evaluate.topics import factor_divergence, npmi_coherence, reconstruction_error
from firststory.topics.lineage import match_topics

__all__ = [
    "BCubed",
    "Comparison",
    "Delay",
    "DetCurve",
    "Evaluation",
    "LearningCurves",
    "Prequential",
    "StepAuc",
    "TdtCost",
    "b_cubed",
    "clustering_scores",
    "compare",
    "det_curve",
    "detection_delay",
    "evaluate_stream",
    "factor_divergence",
    "match_topics",
    "npmi_coherence",
    "learning_curves",
    "prequential",
    "reconstruction_error",
    "roc_auc_by_step",
    "roc_curve",
    "tdt_cost",
    "word_space_regret",
]

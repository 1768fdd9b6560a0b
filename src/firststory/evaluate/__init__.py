"""Judging detectors, alerts, stories and topics: TDT cost and DET curves, events found, B-cubed, AUC per timestep."""

from __future__ import annotations

from firststory.evaluate.alerts import AlertScores, alert_scores
from firststory.evaluate.clustering import BCubed, b_cubed, clustering_scores
from firststory.evaluate.comparison import Comparison, compare
from firststory.evaluate.delay import Delay, detection_delay
from firststory.evaluate.known_events import KnownEvent, KnownEvents, events_of_labels, known_event
from firststory.evaluate.prequential import Prequential, prequential
from firststory.evaluate.production import Evaluation, evaluate_stream
from firststory.evaluate.ranking import StepAuc, roc_auc_by_step, roc_curve
from firststory.evaluate.regret import word_space_regret
from firststory.evaluate.single_topic import LearningCurves, learning_curves
from firststory.evaluate.standing import StandingStories
from firststory.evaluate.story_quality import StoryScores, story_scores
from firststory.evaluate.tdt import DetCurve, TdtCost, det_curve, tdt_cost
from firststory.evaluate.topics import factor_divergence, npmi_coherence, reconstruction_error
from firststory.topics.lineage import match_topics

__all__ = [
    "AlertScores",
    "BCubed",
    "Comparison",
    "Delay",
    "DetCurve",
    "Evaluation",
    "KnownEvent",
    "KnownEvents",
    "LearningCurves",
    "Prequential",
    "StandingStories",
    "StepAuc",
    "StoryScores",
    "TdtCost",
    "alert_scores",
    "b_cubed",
    "clustering_scores",
    "compare",
    "det_curve",
    "detection_delay",
    "evaluate_stream",
    "events_of_labels",
    "factor_divergence",
    "known_event",
    "learning_curves",
    "match_topics",
    "npmi_coherence",
    "prequential",
    "reconstruction_error",
    "roc_auc_by_step",
    "roc_curve",
    "story_scores",
    "tdt_cost",
    "word_space_regret",
]

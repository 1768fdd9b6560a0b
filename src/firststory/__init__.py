"""firststory: point it at a stream of text; it tells you what is new, why, and which story it belongs to.

The public names are loaded when they are first used (PEP 562): importing firststory is light.

Examples
--------
>>> import firststory as fs
>>> fs.Document(id="1", text="Flood closes the harbour bridge").id
'1'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from firststory._version import __version__

if TYPE_CHECKING:
    from firststory import datasets, errors, evaluate, plot, river, text
    from firststory.detectors.batch_l1 import BatchL1Dictionary
    from firststory.detectors.batch_l2 import BatchL2Dictionary
    from firststory.detectors.dirichlet_mixture import DirichletMixture
    from firststory.detectors.emerging import EmergingTopic, emerging_topics
    from firststory.detectors.fused_novelty import FusedNovelty
    from firststory.detectors.incremental_clustering import IncrementalClustering
    from firststory.detectors.logistic_novelty import LogisticNovelty
    from firststory.detectors.nearest_neighbour import NearestNeighbour
    from firststory.detectors.online_l1 import OnlineL1Dictionary
    from firststory.pipeline.monitor import Monitor
    from firststory.records import (
        Alert,
        Batch,
        Document,
        Evidence,
        Neighbour,
        Position,
        Quarantined,
        Step,
        Story,
        Storyline,
        Term,
        Topic,
        TopicEvent,
        Verdict,
    )
    from firststory.state import load_state, save_state
    from firststory.topics.online_nmf import OnlineNMF
    from firststory.topics.spectral_leader import SpectralLeader
    from firststory.topics.stepwise_em import StepwiseEM

_MODULES = ("datasets", "errors", "evaluate", "plot", "river", "text")

_NAMES = {
    # name: the module that defines it
    "Alert": "records",
    "Batch": "records",
    "BatchL1Dictionary": "detectors.batch_l1",
    "BatchL2Dictionary": "detectors.batch_l2",
    "DirichletMixture": "detectors.dirichlet_mixture",
    "Document": "records",
    "EmergingTopic": "detectors.emerging",
    "Evidence": "records",
    "FusedNovelty": "detectors.fused_novelty",
    "IncrementalClustering": "detectors.incremental_clustering",
    "LogisticNovelty": "detectors.logistic_novelty",
    "NearestNeighbour": "detectors.nearest_neighbour",
    "Neighbour": "records",
    "OnlineL1Dictionary": "detectors.online_l1",
    "OnlineNMF": "topics.online_nmf",
    "Position": "records",
    "Quarantined": "records",
    "Step": "records",
    "Story": "records",
    "Storyline": "records",
    "Term": "records",
    "Topic": "records",
    "TopicEvent": "records",
    "Verdict": "records",
    "SpectralLeader": "topics.spectral_leader",
    "StepwiseEM": "topics.stepwise_em",
    "Monitor": "pipeline.monitor",
    "emerging_topics": "detectors.emerging",
    "load_state": "state",
    "save_state": "state",
}

__all__ = ["__version__", *_MODULES, *_NAMES]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        value = getattr(import_module(f"firststory.{_NAMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"firststory.{name}")
    else:
        raise AttributeError(f"module 'firststory' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

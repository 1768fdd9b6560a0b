"""From settings to a stream: which vectorizer feeds which detector, under the names that people type."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from firststory.errors import MissingExtraError, ParameterError, not_one_of
from firststory.settings import Settings

if TYPE_CHECKING:
    from firststory.pipeline.protocols import Detector, Vectorizer
    from firststory.pipeline.step import StreamCore
    from firststory.pipeline.storyline_topics import StorylineTopics
    from firststory.pipeline.stream_topics import StreamTopics

COUNTS = {"weighting": "count", "norm": None}
WEIGHTED_COUNTS = {**COUNTS, "surface_weight": 2.0, "short": 30}
TFIDF = {"weighting": "tfidf", "norm": "l2"}
UNIT_L1 = {"weighting": "tfidf", "norm": "l1"}
TOPICS = ("none", "storylines", "nmf")
SEGMENTERS = ("bigrams", "icu")
N_NEIGHBOURS = 8
"""Evidence names the first three; the stories of all of them are looked at when a document looks for its own."""
FLOOR_NOVELTY = 0.5
"""Nothing that is more than half the likeness of something earlier is news, however much of the budget is left."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A detector with the rows that it wants."""

    module: str
    name: str
    about: str
    rows: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    floor: float = float("-inf")
    """The score below which a document is known, whatever the budget; where the scale of the score has one."""
    highest: float = 1.0
    """No score is above this; infinite where the scale has no end."""
    meaning: bool = False
    """Whether it wants the vectors of short texts beside the rows."""


RECIPES: dict[str, Recipe] = {
    "fused": Recipe(
        "fused_novelty",
        "FusedNovelty",
        "nearest neighbour and nearest cluster, fused; knows time, and what short English texts mean",
        WEIGHTED_COUNTS,
        floor=FLOOR_NOVELTY,
        meaning=True,
    ),
    "fused-words": Recipe(
        "fused_novelty",
        "FusedNovelty",
        "the same by the words alone, whatever the language",
        WEIGHTED_COUNTS,
        floor=FLOOR_NOVELTY,
    ),
    "neighbour": Recipe(
        "nearest_neighbour", "NearestNeighbour", "1 - best cosine to the past", TFIDF, floor=FLOOR_NOVELTY
    ),
    "clustering": Recipe(
        "incremental_clustering", "IncrementalClustering", "single-pass clusters (GAC-INCR)", TFIDF, floor=FLOOR_NOVELTY
    ),
    "l1": Recipe("online_l1", "OnlineL1Dictionary", "residual of an online l1 dictionary", UNIT_L1),
    "l1-batch": Recipe("batch_l1", "BatchL1Dictionary", "residual of an l1 dictionary, batch by batch", UNIT_L1),
    "l2-batch": Recipe("batch_l2", "BatchL2Dictionary", "residual of an l2 dictionary, batch by batch", UNIT_L1),
    "mixture": Recipe(
        "dirichlet_mixture", "DirichletMixture", "non-parametric mixture of topics", COUNTS, highest=math.inf
    ),
    "mixture-soft": Recipe(
        "dirichlet_mixture",
        "DirichletMixture",
        "the same with soft updates",
        COUNTS,
        {"update": "soft"},
        highest=math.inf,
    ),
}


def detector_names() -> list[str]:
    """The names that `detector` can have."""
    return [name for name, recipe in RECIPES.items() if find_spec(f"firststory.detectors.{recipe.module}")]


def recipe_of(name: str) -> Recipe:
    if name not in detector_names():
        raise not_one_of("settings", "detector", detector_names(), name)
    return RECIPES[name]


def build_detector(name: str, *, window: int | None = None, seed: int = 0) -> Detector:
    """The detector by its name, with a bounded window where it keeps documents."""
    recipe = recipe_of(name)
    kind = getattr(import_module(f"firststory.detectors.{recipe.module}"), recipe.name)
    known = kind().get_params(deep=False)
    offered = {"window": window, "random_state": seed, "n_neighbours": N_NEIGHBOURS, **recipe.options}
    detector: Detector = kind(**{key: value for key, value in offered.items() if key in known})
    return detector


def build_vectorizer(name: str, settings: Settings) -> Vectorizer:
    """The vectorizer that makes the rows that a detector wants."""
    from firststory.text.vectorizer import StreamVectorizer

    # Not "auto": what is installed must not decide what comes out.
    return StreamVectorizer(
        language=settings.language,
        max_terms=settings.max_terms,
        segmenter=settings.segmenter,
        **recipe_of(name).rows,
    )


def check_settings(settings: Settings, detector: Detector | None = None) -> None:
    """Refuse what no stream can be built from, before anything is written: a store keeps what it was begun with.

    `detector` is one of your own, of whose scores nothing is known.
    """
    from firststory.alerts.budget import parse_budget
    from firststory.pipeline.steps import parse_step
    from firststory.sources.files import FORMATS
    from firststory.text.language import check_language

    highest = recipe_of(settings.detector).highest
    budget = parse_budget(settings.budget)
    if detector is None and budget.kind == "threshold" and budget.amount > highest:
        # "20" for "20/day": without a word there would never be an alert.
        raise ParameterError(
            owner="settings",
            parameter="budget",
            allowed=f"a rate, a share of the documents, or a score of at most {highest:g}, the highest that "
            f"{settings.detector} gives",
            received=settings.budget,
            remedy=f"Did you mean {budget.amount:g}/day?",
        )
    parse_step(settings.step)
    if settings.language != "auto":
        check_language(str(settings.language), "settings")
    for name, names in {"topics": TOPICS, "format": FORMATS, "segmenter": SEGMENTERS}.items():
        if getattr(settings, name) not in names:
            raise not_one_of("settings", name, names, getattr(settings, name))
    if settings.segmenter == "icu" and find_spec("icu") is None:
        raise MissingExtraError("settings", "icu", "icu")
    if settings.vectors is not None:
        _check_vectors(settings, detector)
    if settings.engine != "none":
        _check_engine(settings, detector)


def _check_engine(settings: Settings, detector: Detector | None) -> None:
    from firststory.engines.opening import check_engine
    from firststory.pipeline.protocols import UsesEngine

    check_engine(str(settings.engine))
    if settings.vectors is None and not isinstance(detector or build_detector(settings.detector), UsesEngine):
        using = [name for name in detector_names() if isinstance(build_detector(name), UsesEngine)]
        raise ParameterError(
            owner="settings",
            parameter="engine",
            allowed=f"none, unless vectors are made or the detector is one of {', '.join(using)}",
            received=settings.engine,
            remedy=f"Leave the engine out. It serves --vectors and the detectors {', '.join(using)}.",
            message=f"The detector {settings.detector} computes on one core: an engine is of no use.",
        )


def _check_vectors(settings: Settings, detector: Detector | None) -> None:
    from firststory.text.encoder import check_encoder

    if not takes_vectors(settings, detector):
        raise ParameterError(
            owner="settings",
            parameter="vectors",
            allowed="left out with a detector that compares words alone",
            received=settings.vectors,
            remedy="Use the detector fused, or leave vectors out.",
            message=f"The detector {settings.detector} compares words alone: it has no use for vectors.",
        )
    check_encoder(str(settings.vectors))


def takes_vectors(settings: Settings, detector: Detector | None = None) -> bool:
    """Whether the detector compares vectors beside the rows."""
    from firststory.pipeline.protocols import TakesVectors

    return recipe_of(settings.detector).meaning and (detector is None or isinstance(detector, TakesVectors))


def wants_meaning(settings: Settings, detector: Detector | None = None) -> bool:
    """Whether a stream would compare short texts by the vectors of their words, if they are in its language."""
    from firststory.text.language import check_language
    from firststory.text.meaning import LANGUAGES

    if settings.vectors is not None or not takes_vectors(settings, detector):
        return False
    return settings.language == "auto" or check_language(settings.language, "settings") in LANGUAGES


def missing_meaning(settings: Settings, detector: Detector | None = None) -> str | None:
    """What to say where those vectors are wanted and their table is not installed."""
    from firststory.text.meaning import MISSING, ShortTextVectors

    return MISSING if wants_meaning(settings, detector) and not ShortTextVectors.is_available() else None


def build_core(settings: Settings, detector: Detector | None = None) -> StreamCore:
    """The deterministic core that the settings describe; `detector` is one of your own in place of a named one."""
    from firststory.alerts.budget import parse_budget
    from firststory.alerts.events.engine import EventAlerts
    from firststory.alerts.feedback import Feedback
    from firststory.alerts.gate import AlertGate
    from firststory.alerts.memory import DocumentMemory
    from firststory.detectors.nearest_neighbour import NearestNeighbour
    from firststory.pipeline.parts import Parts
    from firststory.pipeline.protocols import KnowsNeighbours
    from firststory.pipeline.step import StreamCore
    from firststory.pipeline.vectors import OwnVectors
    from firststory.stories.boilerplate import Boilerplate
    from firststory.stories.tracker import StoryTracker
    from firststory.text.meaning import ShortTextVectors
    from firststory.text.phrases.reader import PhraseReader

    recipe, window = recipe_of(settings.detector), settings.window
    # A detector of one's own has a scale of its own.
    floor = recipe.floor if detector is None else float("-inf")
    judge = detector or build_detector(settings.detector, window=window, seed=settings.seed)
    has_table = wants_meaning(settings, detector) and ShortTextVectors.is_available()
    knows_neighbours = isinstance(judge, KnowsNeighbours)
    return StreamCore(
        Parts(
            vectorizer=build_vectorizer(settings.detector, settings),
            detector=judge,
            gate=AlertGate(settings.budget, floor=floor),
            stories=StoryTracker(window=window),
            alerts=EventAlerts(parse_budget(settings.budget), settings.false_alerts, settings.source_families),
            boilerplate=Boilerplate(),
            phrases=PhraseReader(languages=("en",) if settings.language == "auto" else (settings.language,)),
            memory=DocumentMemory(window),
            feedback=Feedback(),
            neighbour_index=None if knows_neighbours else NearestNeighbour(window=window, n_neighbours=N_NEIGHBOURS),
            topics=_build_topics(settings),
            short_text_vectors=ShortTextVectors() if has_table else None,
            own_vectors=OwnVectors(settings.vector_words),
            takes_vectors=takes_vectors(settings, detector),
        ),
        window=window,
    )


def _build_topics(settings: Settings) -> StorylineTopics | StreamTopics | None:
    from firststory.pipeline.storyline_topics import StorylineTopics
    from firststory.pipeline.stream_topics import StreamTopics
    from firststory.topics.online_nmf import OnlineNMF

    if settings.topics == "nmf":
        return StreamTopics(OnlineNMF(memory=3.0, birth="replace", random_state=settings.seed), settings.topic_step)
    return StorylineTopics(settings.topic_step) if settings.topics == "storylines" else None

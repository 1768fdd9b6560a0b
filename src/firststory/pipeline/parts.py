"""What a stream is made of: `build` puts the parts together, the step only calls them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from firststory.alerts.events.engine import EventAlerts
from firststory.alerts.feedback import Feedback
from firststory.alerts.gate import AlertGate
from firststory.alerts.memory import DocumentMemory
from firststory.pipeline.protocols import Detector, KnowsNeighbours, Vectorizer
from firststory.pipeline.storyline_topics import StorylineTopics
from firststory.pipeline.stream_topics import StreamTopics
from firststory.pipeline.vectors import OwnVectors
from firststory.state import State
from firststory.stories.boilerplate import Boilerplate
from firststory.stories.tracker import StoryTracker
from firststory.text.meaning import ShortTextVectors
from firststory.text.phrases.reader import PhraseReader

OF_JUDGING = frozenset(
    {"vectorizer", "detector", "neighbour_index", "gate", "boilerplate", "memory", "feedback", "own_vectors"}
)
"""What judges documents, the first half of a step."""
OF_PLACING = frozenset({"stories", "alerts", "phrases", "topics"})
"""What places them."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one stream."""

    vectorizer: Vectorizer
    detector: Detector
    gate: AlertGate
    stories: StoryTracker
    alerts: EventAlerts
    boilerplate: Boilerplate
    phrases: PhraseReader
    """Names, figures and phrases: what people read of documents."""
    memory: DocumentMemory
    feedback: Feedback
    own_vectors: OwnVectors
    """Vectors that documents bring."""
    takes_vectors: bool = False
    """Whether the detector compares vectors beside the rows."""
    neighbour_index: KnowsNeighbours | None = None
    """An index of earlier documents, where the detector itself knows no neighbours."""
    topics: StorylineTopics | StreamTopics | None = None
    short_text_vectors: ShortTextVectors | None = None
    """What short texts mean, where the detector takes vectors. It learns nothing, so it has no state."""

    @property
    def is_sequential(self) -> bool:
        """Whether the detector judges a row by the earlier rows of its own batch too."""
        return bool(getattr(self.detector, "sequential", True))

    def _stateful(self) -> dict[str, Any]:
        every = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: part for name, part in every.items() if hasattr(part, "get_state")}

    def get_state(self, names: Collection[str]) -> State:
        """The states of the parts with these names, of those that have one."""
        return {f"parts/{name}": part.get_state() for name, part in self._stateful().items() if name in names}

    def with_state(self, state: State) -> Self:
        """The same parts as they were when the state was taken."""
        return replace(self, **{name: type(part).from_state(state[name]) for name, part in self._stateful().items()})

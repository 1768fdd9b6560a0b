"""One document on its way through a step: what is known of it so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from firststory.alerts.gate import Judgement
from firststory.alerts.memory import Remembered
from firststory.arrays import Floats, Ints, Singles
from firststory.pipeline.fingerprints import TextFingerprints
from firststory.records import Document
from firststory.stories.tracker import Assignment

if TYPE_CHECKING:
    from firststory.text.phrases.records import Phrase
    from firststory.text.records import Token

_NO_WEIGHTS, _NO_NEIGHBOURS = np.empty(0), np.empty(0, dtype=np.int64)


@dataclass(slots=True)
class InProgress:
    """A document of the step that is being taken; each stage fills in what it finds out."""

    document: Document
    seconds: float | None
    """Its time by the stream's clock; None in a stream without times."""
    fingerprints: TextFingerprints
    duplicate_of: str | None = None
    """The id of the first document with this text, exactly or nearly."""

    # -- documents with words that are no exact duplicates -----------------------------------------------------
    place: int = -1
    """Which of the texts that the vectorizer learnt last it is."""
    novelty: float = 0.0
    judgement: Judgement | None = None
    remembered: Remembered | None = None
    weights: Floats = field(default_factory=lambda: _NO_WEIGHTS)
    """The values of its row of unit length; the columns are remembered."""
    counts: Floats = field(default_factory=lambda: _NO_WEIGHTS)
    """How often the text has each of these columns."""
    title_columns: Ints = field(default_factory=lambda: _NO_NEIGHBOURS)
    """The columns of its title, in order; none where there is no title apart from the text."""
    vector: Singles | None = None
    """What a short text means, of unit length; None where the detector compares no vectors or it has none."""
    ordinal: int = -1
    """Its number in the stream, by which later documents name it among their neighbours."""
    neighbours: Ints = field(default_factory=lambda: _NO_NEIGHBOURS)
    """The ordinals of the nearest earlier documents, nearest first; -1 where there is none."""
    similarities: list[float] = field(default_factory=list)
    """Their cosines."""
    nearest: list[tuple[Remembered, float]] = field(default_factory=list)
    """The first few of them with their cosine, those that are remembered."""

    # -- alerts ------------------------------------------------------------------------------------------------
    tokens: Sequence[Token] = ()
    """Its words, those of the title first, with their places in the text."""
    phrases: Sequence[tuple[Phrase, float]] = ()
    """The phrases that say what is new in it, and what they weigh."""
    score_parts: tuple[float, ...] = ()
    """The similarities that its score is made of, where the detector tells."""
    unexplained: Mapping[int, float] | None = None
    """The part of each term that a dictionary leaves unexplained, where the detector is one."""

    assignment: Assignment | None = None
    """The story that it joined or opened."""

    @property
    def is_judged(self) -> bool:
        """Whether it has words, and a text that is not exactly that of another."""
        return self.judgement is not None

    @property
    def is_novel(self) -> bool:
        """Whether it is an alert."""
        return self.judgement is not None and self.judgement.is_novel

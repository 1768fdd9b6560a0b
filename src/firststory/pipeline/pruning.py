"""A vocabulary that is nearly full loses the words that are remembered nowhere, so that new ones always find room.

Kept are all words of documents that are remembered; of the others, those of most documents, until it is half full. What
a topic model or a dictionary knows of the others is forgotten, and which storyline used them long ago. Neighbours,
clusters and stories stay as they are: nothing that is remembered has the words that go. Where a part of the stream
cannot renumber its columns, the vocabulary stays too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from firststory.arrays import Ints
from firststory.pipeline.parts import Parts
from firststory.pipeline.protocols import HasColumns, Vectorizer
from firststory.pipeline.storyline_topics import StorylineTopics

NEARLY_FULL_SHARE = 0.9
"""Of `max_terms`: what is left must do for the new words of one step."""
MAX_KEPT_SHARE = 0.75
"""Of `max_terms`: where more words than this are remembered, pruning would come again at once, and new words are left
out instead."""


TRIES = 500
"""A vocabulary that is nearly full is looked at after every `max_terms / TRIES` documents: what is remembered changes
slowly, and to gather it takes longer than a step where nothing can go."""


def is_nearly_full(vectorizer: Vectorizer) -> bool:
    """Whether the vocabulary may be pruned."""
    return len(vectorizer.terms_) >= NEARLY_FULL_SHARE * vectorizer.max_terms


def is_pruning_due(vectorizer: Vectorizer, before: int) -> bool:
    """Whether it is nearly full, and to be looked at after a step; it had learnt `before` documents before that."""
    apart = max(vectorizer.max_terms // TRIES, 1)
    return is_nearly_full(vectorizer) and vectorizer.n_documents_ // apart != before // apart


def make_room(parts: Parts) -> None:
    """Prune the vocabulary, and tell every part the new numbers of the columns."""
    in_use = columns_of_placing(parts)
    if in_use is not None and (new := prune(parts, in_use)) is not None:
        renumber_placing(parts, new)


def columns_of_placing(parts: Parts) -> Ints | None:
    """The columns that stories, alerts and topics must keep; None where one of them cannot renumber its own."""
    holders = _holders(_placing(parts))
    return None if holders is None else np.unique(np.concatenate([part.columns_in_use() for part in holders]))


def prune(parts: Parts, in_use: Ints) -> Ints | None:
    """Prune the vocabulary but for these columns and those of what judges documents.

    Returns the new number of each column, -1 for those that went; None where nothing goes.
    """
    vectorizer, holders = parts.vectorizer, _holders(_judging(parts))
    if holders is None:
        return None
    in_use = np.unique(np.concatenate([in_use, *(part.columns_in_use() for part in holders)]))
    if len(in_use) > MAX_KEPT_SHARE * vectorizer.max_terms:
        return None
    new = vectorizer.prune(keep=in_use).old_to_new
    for part in holders:
        part.renumber(new)
    return new


def renumber_placing(parts: Parts, new: Ints) -> None:
    """Stories, alerts and topics follow."""
    for part in _holders(_placing(parts)) or ():
        part.renumber(new)


def _judging(parts: Parts) -> Sequence[object]:
    return [parts.memory, parts.boilerplate, parts.detector, parts.neighbour_index]


def _placing(parts: Parts) -> Sequence[object]:
    # Topics that are storylines have no columns of their own.
    topics = None if isinstance(parts.topics, StorylineTopics) else parts.topics
    return [parts.stories, parts.alerts, topics]


def _holders(parts: Sequence[object]) -> list[HasColumns] | None:
    """Those that are there; None where one cannot renumber its columns."""
    present = [part for part in parts if part is not None]
    holders = [part for part in present if isinstance(part, HasColumns)]
    return holders if len(holders) == len(present) else None

"""A vocabulary that is nearly full loses the words that are remembered nowhere, so that new ones always find room."""

from __future__ import annotations

import numpy as np

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
    """Whether `make_room` may prune the vocabulary."""
    return len(vectorizer.terms_) >= NEARLY_FULL_SHARE * vectorizer.max_terms


def make_room(parts: Parts, before: int) -> None:
    """Prune the vocabulary to half where it is nearly full, and tell every part the new numbers of the columns.

    Kept are all words of documents that are remembered; of the others, those of most documents. What a topic model
    or a dictionary knows of the others is forgotten, and which storyline used them long ago. Neighbours, clusters and
    stories stay as they are: nothing that is remembered has the words that go. Where a part of the stream cannot
    renumber its columns, the vocabulary stays too. `before`: how many documents it had learnt before this step.
    """
    vectorizer = parts.vectorizer
    if not is_nearly_full(vectorizer):
        return
    apart = max(vectorizer.max_terms // TRIES, 1)
    if vectorizer.n_documents_ // apart == before // apart:
        return
    # Topics that are storylines have no columns of their own.
    topics = None if isinstance(parts.topics, StorylineTopics) else parts.topics
    streams = [parts.memory, parts.boilerplate, parts.stories, parts.alerts, topics]
    present = [parts.detector, parts.neighbour_index, *streams]
    holders = [part for part in present if isinstance(part, HasColumns)]
    if len(holders) < sum(part is not None for part in present):
        return
    in_use = np.unique(np.concatenate([part.columns_in_use() for part in holders]))
    if len(in_use) <= MAX_KEPT_SHARE * vectorizer.max_terms:
        remap = vectorizer.prune(keep=in_use)
        for part in holders:
            part.renumber(remap.old_to_new)

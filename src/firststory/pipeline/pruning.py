"""A vocabulary that is nearly full loses the words that nobody remembers, so that new ones always find room."""

from __future__ import annotations

from typing import Any

import numpy as np

NEARLY_FULL = 0.9
"""Of `max_terms`: what is left must do for the new words of one step."""
TOO_MANY = 0.75
"""Of `max_terms`: where so many words are remembered, pruning would come again at once. Words are left out then."""


def make_room(parts: Any) -> None:
    """Prune the vocabulary to half where it is nearly full, and tell every part the new numbers of the columns.

    Kept are all words of documents that are remembered; of the others, those of most documents. What a topic model
    or a dictionary knows of the others is forgotten. Neighbours, clusters and stories stay as they are: nothing that is
    remembered has the words that go. Where a part of the stream cannot renumber its columns, the vocabulary stays too.

    Parameters
    ----------
    parts : Parts
    """
    vectorizer = parts.vectorizer
    if not hasattr(vectorizer, "vocabulary_") or len(vectorizer.vocabulary_) < NEARLY_FULL * vectorizer.max_terms:
        return
    known = [parts.detector, parts.neighbours, parts.memory, parts.stories, parts.themes]
    known = [part for part in known if part is not None]
    if not all(hasattr(part, "renumber") for part in known):
        return
    in_use = np.unique(np.concatenate([part.columns_in_use() for part in known]))
    if len(in_use) <= TOO_MANY * vectorizer.max_terms:
        remap = vectorizer.prune(keep=in_use)
        for part in known:
            part.renumber(remap.old_to_new)

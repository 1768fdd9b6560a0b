"""How well stories, or storylines, agree with labels."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from firststory.datasets.streams import label_names
from firststory.evaluate.clustering import b_cubed, clustering_scores

LARGEST_STORIES = 15


class StoryScores(NamedTuple):
    """Stories against labels. All but `n_stories` and `largest` look at documents with a label only."""

    precision: float
    recall: float
    f1: float
    """B-cubed."""
    nmi: float
    ari: float
    n_stories: int
    """All of them, also those without a labelled document."""
    largest: float
    """Share of all documents that the largest one holds."""
    purity: float
    """Of the fifteen with most labelled documents: the share that bears the commonest label, mean."""


def story_scores(labels: ArrayLike, stories: ArrayLike) -> StoryScores:
    """B-cubed, NMI, the size of the largest and the purity of the fifteen largest.

    A document without a story (None) stands alone; of several labels the first counts.

    Examples
    --------
    >>> scores = story_scores(["a", "a", "b", None], ["s1", "s1", "s1", "s2"])
    >>> round(scores.precision, 3), scores.recall, scores.n_stories, scores.largest, round(scores.purity, 3)
    (0.556, 1.0, 2, 0.75, 0.667)
    """
    truth = [next(iter(label_names(label)), None) for label in _objects(labels)]
    found = [("alone", i) if name is None else name for i, name in enumerate(_objects(stories))]
    kept = [i for i, label in enumerate(truth) if label is not None]
    quality = b_cubed(_array([truth[i] for i in kept]), _array([found[i] for i in kept]))
    agreement = clustering_scores(_array(truth), _array(found))
    inside: dict[Any, Counter[Any]] = {}
    for i in kept:
        inside.setdefault(found[i], Counter())[truth[i]] += 1
    largest = sorted(inside.values(), key=lambda counts: -counts.total())[:LARGEST_STORIES]
    sizes = Counter(found)
    return StoryScores(
        precision=quality.precision,
        recall=quality.recall,
        f1=quality.f1,
        nmi=agreement["nmi"],
        ari=agreement["ari"],
        n_stories=len(sizes),
        largest=max(sizes.values()) / len(found),
        purity=float(np.mean([max(counts.values()) / counts.total() for counts in largest])),
    )


def _objects(values: ArrayLike) -> list[Any]:
    return values if isinstance(values, list) else list(np.asarray(values, dtype=object))


def _array(values: list[Any]) -> Any:
    """One object per place, also where all of them are tuples."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array

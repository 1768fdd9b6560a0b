"""When a document joins a story, and when two stories become one.

For two documents the log-odds that they tell of one happening are

    long texts     12 cos + 4 cos(titles) - 1.05 ln(1 + days between) - 3.5
    sparse streams 22 cos + 0.7 cos(titles) - 0.84 ln(1 + days between) - 4.3
    short texts    5.2 cos + 4.3 cos(vectors) - 1.2 ln(1 + days between) - 5.45
                   8.9 cos - 1.2 ln(1 + days between) - 4.25  where there are no vectors

and between short and long by the logarithm of the number of terms of the shorter one (12 to 60). Whether a stream is
sparse is learnt: long texts have little in common with stories that they do not belong to.

A document joins the story, among those of its nearest earlier documents, whose members speak for it most: the mean
log-odds with the ceil(n ** 0.75) best of its last n members, at most 24. There is no centroid, so nothing drifts into
a topic. Short texts say too little one by one: for them the sum of the members speaks. Old stories ask for more,

    odds - 0.5 ln(1 + age / 7 days) >= threshold,

and where no story reaches that, the document opens one. For short texts the threshold follows the stream,
`short_threshold + pull * ln(recent share of documents that opened a story)`, the share taken as 0.2 at least.

At the end of a step two stories that a document of the step links are looked at again. Two of several documents each
become one if their members are about as alike between the two as within each; a document that stayed alone joins what
has become of the story beside it if it would join now.

Without times, days are counted in documents.
"""

from __future__ import annotations

import math

import numpy as np

from firststory.kernels.stories.layout import JoinRule, PairWeights
from firststory.stories.members import MAX_MEMBERS

LONG_PAIR = PairWeights(cosine=12.0, title=4.0, vector=0.0, lag=-1.05, constant=-3.5)
SPARSE_PAIR = PairWeights(cosine=22.0, title=0.7, vector=0.0, lag=-0.84, constant=-4.3)
SPARSE_BACKGROUND, DENSE_BACKGROUND = 0.08, 0.09
"""Cosines with the stories that long texts do not belong to: up to the first a stream is sparse, from the second on it
is dense."""
SHORT_PAIR = PairWeights(cosine=5.2, title=0.0, vector=4.3, lag=-1.2, constant=-5.45)
WORDY_PAIR = PairWeights(cosine=8.9, title=0.0, vector=0.0, lag=-1.2, constant=-4.25)
SHORT_TERMS = 12
"""The most terms that a short text has."""
LONG_TERMS = 60
"""The fewest terms that a long text has."""
BEST_POWER = 0.75
"""Of n members, n to this power speak for a document."""
LARGEST_ODDS = 4.0
AGE_DAYS = 7.0
LINK_ODDS = -1.0
SHORT_LINK_ODDS = -2.5
MERGE_DAYS = 5.0
DOCUMENTS_PER_DAY = 1000.0
"""How many documents make a day where there are no times."""


def join_rule(
    *, threshold: float, short_threshold: float, pull: float, age: float, merge: float, short_merge: float, fade: float
) -> JoinRule:
    """The rule with these parameters of `StoryTracker`."""
    sizes = np.arange(MAX_MEMBERS + 1)
    return JoinRule(
        long=LONG_PAIR,
        sparse=SPARSE_PAIR,
        sparse_background=SPARSE_BACKGROUND,
        dense_background=DENSE_BACKGROUND,
        short=SHORT_PAIR,
        wordy=WORDY_PAIR,
        log_short_terms=math.log(SHORT_TERMS),
        log_long_terms=math.log(LONG_TERMS),
        n_best=np.ceil(sizes**BEST_POWER - 1e-9).astype(np.int64),
        largest_odds=LARGEST_ODDS,
        age=float(age),
        age_days=AGE_DAYS,
        documents_per_day=DOCUMENTS_PER_DAY,
        threshold=float(threshold),
        short_threshold=float(short_threshold),
        pull=float(pull),
        link=LINK_ODDS,
        short_link=SHORT_LINK_ODDS,
        fade_days=float(fade),
        merge=float(merge),
        short_merge=float(short_merge),
        merge_days=MERGE_DAYS,
    )

"""What the rows of stories add up to, against plain sums."""

from __future__ import annotations

import numpy as np

from firststory.kernels.stories.storyline_lines import terms_of


def test_terms_of_stories_are_those_of_their_rows():
    rng = np.random.default_rng(5)
    length = rng.integers(0, 41, 30).astype(np.int32)
    rows, n_rows = rng.integers(0, 30, (7, 24)).astype(np.int32), rng.integers(0, 25, 7).astype(np.int32)
    for stories in ([], [3], [6, 0, 2]):
        plain = sum(int(length[row]) for story in stories for row in rows[story, : n_rows[story]])
        assert terms_of(rows, n_rows, length, np.array(stories, dtype=np.int32)) == plain

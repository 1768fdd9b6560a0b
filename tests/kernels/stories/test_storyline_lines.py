"""What the rows of stories add up to, against plain sums."""

from __future__ import annotations

import numpy as np

from firststory.kernels.stories.storyline_layout import N_ROW_TERMS, RowSlots
from firststory.kernels.stories.storyline_lines import terms_of
from firststory.kernels.stories.storyline_steps import pooled


def test_terms_of_stories_are_those_of_their_rows():
    rng = np.random.default_rng(5)
    length = rng.integers(0, 41, 30).astype(np.int32)
    rows, n_rows = rng.integers(0, 30, (7, 24)).astype(np.int32), rng.integers(0, 25, 7).astype(np.int32)
    for stories in ([], [3], [6, 0, 2]):
        plain = sum(int(length[row]) for story in stories for row in rows[story, : n_rows[story]])
        assert terms_of(rows, n_rows, length, np.array(stories, dtype=np.int32)) == plain


def test_rows_as_one_text_have_the_sums_of_their_words_in_order():
    rng = np.random.default_rng(6)
    length = rng.integers(0, N_ROW_TERMS + 1, 9).astype(np.int32)
    columns = np.sort(rng.permuted(np.tile(np.arange(90), (9, 1)), axis=1)[:, :N_ROW_TERMS], axis=1)
    nothing = np.zeros(9, dtype=np.int64)
    rows = RowSlots(
        number=nothing,
        length=length,
        columns=columns.astype(np.int32),
        counts=rng.random((9, N_ROW_TERMS)),
        total=np.zeros(9),
        vector=rng.normal(size=(9, 3)).astype(np.float32),
        free=nothing.astype(np.int32),
    )
    for members in ([4], [7, 2], [0, 8, 3, 5, 1]):
        sums = {}
        for row in members:
            for column, count in zip(columns[row, : length[row]], rows.counts[row], strict=False):
                sums[column] = sums.get(column, 0.0) + count / np.sqrt(len(members))
        found, counts, n, vector = pooled(rows, np.array(members, dtype=np.int32))
        assert found[:n].tolist() == sorted(sums)
        assert counts[:n].tolist() == [sums[column] for column in sorted(sums)]
        np.testing.assert_allclose(vector, rows.vector[members].sum(axis=0), rtol=1e-6)

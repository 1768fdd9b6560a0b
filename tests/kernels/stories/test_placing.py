"""Placing rows against plain dictionaries, one row at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firststory.kernels.stories import placing
from firststory.kernels.stories.layout import JoinRule
from firststory.stories.centroids import Centroids, sorted_rows


class Twin:
    """The same by the book: sums are dictionaries, nothing is kept but them."""

    def __init__(self, join):
        self.join = join
        self.sums, self.norm2, self.joined, self.closeness, self.last = [], [], [], [], []
        self.opening = 0.2

    def place(self, row, near, time):
        ranked = []
        for s in {s for s in near if s is not None}:
            dot = sum(w * self.sums[s].get(c, 0.0) for c, w in row.items())
            cosine = dot / math.sqrt(self.norm2[s])
            usual = self.closeness[s] / self.joined[s] if self.joined[s] >= 2 else 0.0
            if cosine >= 0.35 * usual:
                days = max(0.0, time - self.last[s]) / 86400 if not math.isnan(time - self.last[s]) else 0.0
                ranked.append((cosine * (1 + days) ** -0.2, -s, cosine, dot))
        ranked.sort(reverse=True)
        share = min(max(self.opening, 0.002), 0.98)
        threshold = max(0.08, (0.5 if len(row) <= 3 else self.join) + 0.03 * math.log(share / (1 - share)))
        joins = bool(ranked) and ranked[0][0] >= threshold
        self.opening = 0.99 * self.opening + (0.0 if joins else 0.01)
        second = -ranked[1][1] if joins and len(ranked) > 1 and ranked[1][0] >= threshold else None
        if joins:
            rank, story, cosine, dot = ranked[0][0], -ranked[0][1], ranked[0][2], ranked[0][3]
            self.joined[story] += 1
            self.closeness[story] += cosine
        else:
            rank, story, cosine, dot = (ranked[0][0] if ranked else 0.0), len(self.sums), 1.0, 0.0
            for name, value in {"sums": {}, "norm2": 0.0, "joined": 0, "closeness": 0.0, "last": math.nan}.items():
                getattr(self, name).append(value)
        for c, w in row.items():
            self.sums[story][c] = self.sums[story].get(c, 0.0) + w
        if len(self.sums[story]) > 2 * placing.MAX_TERMS:
            kept = sorted(self.sums[story].items(), key=lambda entry: (-entry[1], entry[0]))[: placing.MAX_TERMS]
            self.sums[story] = dict(kept)
        self.norm2[story] += sum(w * w for w in row.values()) + 2 * dot
        self.last[story] = float(np.fmax(self.last[story], time))
        return story, second, rank, cosine


@pytest.mark.parametrize("width,n_terms,timed,join", [(30, 4, True, 0.3), (200, 8, False, 0.3), (1500, 400, True, 0.1)])
def test_rows_go_where_the_book_says(width, n_terms, timed, join):
    rng = np.random.default_rng(width)
    rule = JoinRule(
        join=join,
        short_join=0.5,
        short_terms=3,
        pull=0.03,
        least_threshold=0.08,
        cohesion=0.35,
        gap_exponent=0.2,
        opening_decay=0.99,
    )
    twin, centroids, slot_of = Twin(join), Centroids(), []
    opening, story_of, number = 0.2, [], 0
    for batch in range(6):
        rows, times, near, expected = [], [], [], []
        first = number
        for _ in range(25):
            columns = np.sort(rng.choice(width, size=rng.integers(1, n_terms + 1), replace=False)).astype(np.int32)
            weights = rng.random(columns.size) + 0.1
            rows.append((columns, weights / np.linalg.norm(weights)))
            times.append(86400.0 * (number / 20 + rng.normal()) if timed and rng.random() < 0.9 else math.nan)
            earlier = rng.integers(0, number, size=4).tolist() if number else [None] * 4
            row = dict(zip(columns.tolist(), rows[-1][1].tolist(), strict=True))
            expected.append(twin.place(row, [None if e is None else story_of[e] for e in earlier], times[-1]))
            story_of.append(expected[-1][0])
            known = [-1 if e is None else -2 - (e - first) if e >= first else slot_of[story_of[e]] for e in earlier]
            near.append(known)
            number += 1
        placed = centroids.place(
            sorted_rows(rows), np.array(near), np.array(times), rule, opening, next_key=len(slot_of)
        )
        opening = placed.opening_share
        for key, slot, second, closeness, cosine, (story, other, its_closeness, its_cosine) in zip(
            *placed[:5], expected, strict=True
        ):
            if story == len(slot_of):
                slot_of.append(slot)
            assert slot == slot_of[story] and key == story, batch
            assert second == (-1 if other is None else other)
            assert closeness == pytest.approx(its_closeness) and cosine == pytest.approx(its_cosine)
        assert opening == pytest.approx(twin.opening)
    assert 1 < len(slot_of) < number
    assert join > 0.1 or max(map(len, twin.sums)) >= placing.MAX_TERMS
    for story, slot in enumerate(slot_of):
        columns, weights = centroids.row(slot)
        assert columns.tolist() == sorted(twin.sums[story])
        np.testing.assert_allclose(weights, [twin.sums[story][c] for c in columns.tolist()])
        assert centroids.squared_norm(slot) == pytest.approx(twin.norm2[story])

"""Counting and weighting against plain NumPy, both index types."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.kernels.text import counting as k


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("learn", [True, False])
@pytest.mark.parametrize("short", [0, 6])
def test_rows_equal_numpy(index, learn, short):
    rng = np.random.default_rng(0)
    width, n_forms, n_documents = 12, 30, 9
    # Forms with no term, one term, several, and terms without a column.
    terms = [rng.integers(-1, width, size=rng.integers(0, 3)) for _ in range(n_forms)]
    last = np.cumsum([t.size for t in terms]).astype(index)
    first = (last - [t.size for t in terms]).astype(index)
    missing = np.array([(t < 0).sum() for t in terms], dtype=index)
    column = np.array([k.NO_TERM if not t.size else t[0] if t.size == 1 and t[0] >= 0 else k.MANY_TERMS for t in terms])
    marked = rng.random(n_forms) < 0.3
    common = rng.random(n_forms) < 0.3
    forms = rng.integers(-1, n_forms, size=80).astype(index)
    starts = np.arange(80).astype(index)
    ends = np.sort(rng.choice(81, size=n_documents - 1, replace=False)).astype(np.int64)
    ends = np.append(ends, 80)
    frequency, seen, clock = rng.integers(0, 5, size=width).astype(float), np.full(width, 6.0), np.array([6.0, 5.5])
    counts = np.zeros((n_documents, width))
    missed = 0
    for d, (a, b) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        words = [f for f in forms[a:b] if f >= 0 and terms[f].size > 0]
        is_short = 0 < short >= len(words) and not common[words].all()
        for f in forms[a:b]:
            for v in terms[f] if f >= 0 and (is_short or not common[f]) else ():
                counts[d, v] += ((np.sqrt(2.0) if is_short else 2.0) if marked[f] else 1.0) if v >= 0 else 0.0
                missed += v < 0
    keep, df, total = 0.9, frequency.copy(), clock[1]
    expected = np.zeros_like(counts)
    for d in range(n_documents):
        expected[d] = counts[d] * (np.log((1 + total) / (1 + df)) + 1)
        if learn:
            df = df * keep + (counts[d] > 0)
            total = total * keep + 1
    norms = np.sqrt((expected**2).sum(axis=1, keepdims=True))
    expected /= np.where(norms > 0, norms, 1)

    indptr, indices, data = np.zeros(n_documents + 1, np.int64), np.zeros(400, index), np.zeros(400)
    raw = np.zeros(400)
    rows, n_touched, dropped = k.count_documents(
        forms, starts, 80, ends, False, column.astype(index), first, last,
        np.concatenate(terms).astype(index), missing, marked, common, 2.0, short,
        k.TFIDF, False, k.L2, keep, learn, frequency, seen, clock,
        np.zeros(width), np.zeros(width, index), 0, indptr, indices, data, raw,
    )  # fmt: skip
    assert (rows, n_touched) == (n_documents, 0)
    assert dropped == missed
    for d in range(n_documents):
        row = np.zeros(width)
        row[indices[indptr[d] : indptr[d + 1]]] = data[indptr[d] : indptr[d + 1]]
        np.testing.assert_allclose(row, expected[d], rtol=1e-12)
        np.testing.assert_array_equal(raw[indptr[d] : indptr[d + 1]], counts[d][counts[d] > 0])
    if learn:
        np.testing.assert_allclose(frequency * keep ** (clock[0] - seen), df, rtol=1e-12)
        np.testing.assert_allclose(clock, [6 + n_documents, total])


def test_an_open_document_is_carried_over():
    tally, touched = np.zeros(3), np.zeros(3, np.int32)
    common = (np.array([0, 1, 2]), np.zeros(3, np.int32), np.zeros(3, np.int32), np.zeros(3, np.int32),
              np.zeros(3, np.int32), np.zeros(3, bool), np.zeros(3, bool), 1.0, 0, k.COUNT, False,
              k.NO_NORM, 1.0, False,
              np.zeros(3), np.zeros(3), np.zeros(2), tally, touched)  # fmt: skip
    out = np.zeros(2, np.int64), np.zeros(4, np.int32), np.zeros(4), np.zeros(4)
    rows, carried, _ = k.count_documents(np.array([0, 2]), np.arange(2), 2, np.array([2]), True, *common, 0, *out)
    assert (rows, carried) == (0, 2)
    rows, carried, _ = k.count_documents(np.array([2]), np.arange(1), 1, np.array([1]), False, *common, carried, *out)
    assert (rows, carried) == (1, 0)
    assert out[1][:2].tolist() == [0, 2] and out[2][:2].tolist() == [1.0, 2.0]


def test_pending_forms_come_once_in_order():
    found = np.zeros(5, np.int32)
    flag = np.zeros(5, np.uint8)
    n = k.pending_forms(np.array([3, -1, 1, 3, 0, 1]), 6, np.array([0, 1, 0, 2, 0]), flag, found)
    assert found[:n].tolist() == [3, 1] and not flag.any()


def test_terms_of_forms_are_placed_as_one_by_one():
    random = np.random.default_rng(5)
    for _ in range(30):
        known, n = int(random.integers(0, 6)), 12
        old = random.permutation(known)[: int(random.integers(0, known + 1))]
        numbers = np.concatenate([old, np.arange(known, n)])
        counts = random.integers(0, 4, n)
        found = np.where(random.random(counts[numbers].sum()) < 0.3, -1, random.integers(0, 50, counts[numbers].sum()))
        columns, places = np.full(60, -7), np.concatenate([[0], np.cumsum(counts[:known])])
        first, last, column, missing = (np.zeros(n, np.int64) for _ in range(4))
        first[:known], last[:known], used = places[:-1], places[1:], int(places[-1])
        missing[:known], missing[known:] = random.integers(0, 2, known), 1

        pending = iter(found.tolist())
        terms = {f: [next(pending) for _ in range(counts[f])] for f in numbers.tolist()}
        begins = dict(zip(range(known, n), used + np.cumsum(counts[known:]) - counts[known:], strict=True))
        lost = {f: sum(v < 0 for v in own) for f, own in terms.items()}
        more = sum(map(bool, lost.values())) - np.count_nonzero(missing[old])

        ready = numbers, known, counts[numbers], found, used
        assert k.place_terms(*ready, column, first, last, columns, missing) == more
        for f, own in terms.items():
            assert first[f] == begins.get(f, first[f]) and last[f] == first[f] + len(own)
            assert columns[first[f] : last[f]].tolist() == own and missing[f] == lost[f]
            one = own[0] if len(own) == 1 and own[0] >= 0 else k.MANY_TERMS
            assert column[f] == (one if own else k.NO_TERM)

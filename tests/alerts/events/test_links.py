"""The index of links against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from alerts.events.planted_stream import document, fired
from firststory.alerts.events.engine import EventAlerts
from firststory.kernels.alerts.evidence import MAX_MEMBERS, core_of, members_of
from firststory.kernels.alerts.follow import merge_chains
from firststory.kernels.alerts.kinship import kin_links, mean_links
from firststory.kernels.alerts.links import FLOOR, LONG_LIST_DOCUMENTS, similar
from firststory.kernels.alerts.rows import LEAST_WEIGHT, MAX_TERMS, N_HEAVY, TITLE_WEIGHT, in_titles, link_row


def random_stream(n, seed, width=120, most=14):
    rng = np.random.default_rng(seed)
    stream = []
    for i in range(n):
        columns = rng.choice(width, rng.integers(1, most), replace=False)
        weights = rng.random(len(columns)) + 0.1
        weights /= np.linalg.norm(weights)
        stream.append(document(f"d{i}", i / 10, columns, f"source {i % 7}", f"s{i}", weights=weights))
    return stream


@pytest.mark.parametrize("seed", range(4))
def test_similar_documents_are_those_of_brute_force(seed):
    alerts, width = EventAlerts(max_documents=200), 120
    fired(alerts, random_stream(330, seed, width))
    index = alerts._index
    rows = np.zeros((index.next, width))
    for j in range(index.oldest, index.next):
        terms, weights = index.row(j)
        rows[j, terms] = weights
    lengths = (rows > 0).sum(axis=0)
    for query in random_stream(20, seed + 50, width):
        dense = np.zeros(width)
        dense[query.columns] = query.weights
        dense[lengths > max(LONG_LIST_DOCUMENTS, 0.15 * 200)] = 0.0
        cosines = rows @ dense
        expected = np.flatnonzero(cosines >= FLOOR)
        found, values = similar(
            query.columns.astype(np.int64), query.weights, index.meta, index.lists, index._scratch()
        )
        order = np.argsort(found)
        assert found[order].tolist() == expected.tolist()
        assert values[order] == pytest.approx(cosines[expected])


def test_links_are_kept_from_the_threshold_on():
    alerts = EventAlerts()
    stream = random_stream(250, 9)
    fired(alerts, stream)
    index, rows = alerts._index, np.zeros((250, 120))
    for j, one in enumerate(stream):
        rows[j, one.columns] = one.weights
    assert alerts._threshold.value == 0.3
    for j in range(250):
        ordinals, similarities = index.links_of(j)
        # No term is in more than sixty documents, so that every term links.
        cosines = rows[:j] @ rows[j]
        assert ordinals.tolist() == np.flatnonzero(cosines >= 0.3).tolist()
        assert similarities == pytest.approx(cosines[ordinals], abs=1e-6)


@pytest.mark.parametrize("n", [3, 12, 40, 90])
def test_rows_for_links_are_the_heaviest_terms_with_the_title_raised(n):
    rng = np.random.default_rng(n)
    columns, weights = np.sort(rng.choice(500, n, replace=False)), rng.random(n)
    in_title = rng.random(n) < 0.2
    terms, values, n_named = link_row(columns, weights, in_title)
    raised = weights * np.where(in_title, TITLE_WEIGHT, 1.0)
    heaviest = np.argsort(-raised)[:MAX_TERMS]
    unit = raised[heaviest] / np.linalg.norm(raised[heaviest])
    kept = [r for r in range(len(unit)) if r < N_HEAVY or unit[r] >= LEAST_WEIGHT]
    expected = {int(columns[heaviest[r]]): unit[r] for r in kept}
    assert dict(zip(terms.tolist(), values.tolist(), strict=True)) == pytest.approx(expected)
    named = {*columns[heaviest[:N_HEAVY]].tolist(), *columns[heaviest][in_title[heaviest]].tolist()} & set(expected)
    assert set(terms[:n_named].tolist()) == named


def test_terms_of_titles():
    indptr, columns = np.array([0, 3, 5]), np.array([1, 4, 9, 1, 9])
    title_indptr, title_columns = np.array([0, 2, 3]), np.array([4, 700, 1])
    assert in_titles(indptr, columns, title_indptr, title_columns).tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("seed", range(5))
def test_merged_chains_are_in_the_order_of_arrival(seed):
    rng = np.random.default_rng(seed)
    capacity, oldest, n = 64, 30, 90
    owner = rng.integers(0, 3, n)
    previous, last = np.full(capacity, -1, np.int64), [-1, -1, -1]
    for j in range(n):
        if n - j <= capacity:
            previous[j % capacity] = last[owner[j]]
        last[owner[j]] = j
    j, found = merge_chains(last[0], last[1], oldest, previous), []
    while j >= oldest:
        found.append(j)
        j = previous[j % capacity]
    assert found[::-1] == [j for j in range(oldest, n) if owner[j] < 2]


@pytest.mark.parametrize("seed", range(3))
def test_links_within_and_out_of_a_core_are_those_of_plain_loops(seed):
    alerts = EventAlerts(max_documents=200)
    fired(alerts, random_stream(280, seed))
    index, rng = alerts._index, np.random.default_rng(seed)
    members = np.sort(rng.choice(np.arange(index.oldest, index.next), 40, replace=False))[::-1].copy()
    core = np.sort(rng.choice(members, 15, replace=False))[::-1].copy()
    links = {
        (j, target): similarity
        for j in range(index.oldest, index.next)
        for target, similarity in zip(*(part.tolist() for part in index.links_of(j)), strict=True)
    }
    both_ways = links | {(b, a): similarity for (a, b), similarity in links.items()}
    expected = [sum(both_ways.get((j, other), 0.0) for other in core if other != j) for j in members]
    expected /= np.array([len(core) - (j in core) for j in members])
    assert mean_links(members, core, index.facts, index.links, index._scratch().mark) == pytest.approx(expected)

    since, watch = index.born[index.oldest % len(index.born)] + 7200.0, 3600.0 * 6
    inside = [links[j, target] for j in core for target in core if (j, target) in links]
    strong, born = 0.8 * np.mean(inside), {j: index.born[j % len(index.born)] for j in range(index.oldest, index.next)}
    plain = {
        (place, target, bool(born[target] < born[j] - watch))
        for place, j in enumerate(core)
        for target in range(index.oldest, j)
        if (j, target) in links and target not in core and born[target] >= since
        if born[target] < born[j] - watch or links[j, target] >= strong
    }
    found = kin_links(core, since, watch, 0.8, index.oldest, index.facts, index.links, index._scratch().mark)
    assert set(zip(*(part.tolist() for part in found), strict=True)) == plain


@pytest.mark.parametrize("seed", range(3))
def test_a_proof_is_what_its_parts_are_one_by_one(seed):
    alerts, day, width = EventAlerts(max_documents=200), 86_400.0, 12
    rng = np.random.default_rng(seed)
    stream = random_stream(280, seed, width=width, most=6)
    fired(alerts, [document(one.document.id, i / 10, one.columns, one.document.source, f"s{rng.integers(4)}",
                            weights=one.weights) for i, one in enumerate(stream)])  # fmt: skip
    index = alerts._index
    parts, mark = (index.facts, index.links), index._scratch().mark
    for ordinal in range(index.next - 20, index.next):
        now, watch = index.born[ordinal % len(index.born)], 0.5 * day
        core = core_of(members_of(ordinal, now - watch, MAX_MEMBERS, index.meta, index.facts), *parts, index.log, mark)
        members = members_of(ordinal, now - day, 300, index.meta, index.facts)
        kin = kin_links(core, now - 2 * day, watch, 0.8, index.oldest, *parts, mark)
        proof = index.proof(ordinal, watch, day, 2 * day, 0.8)
        assert len(core) and proof.core == core.tolist() and proof.members.tolist() == members.tolist()
        assert proof.kin == list(zip(*(part.tolist() for part in kin), strict=True))
        assert proof.means == mean_links(members, core, *parts, mark).tolist()

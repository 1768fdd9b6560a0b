"""What people may rely on: order of equal times, re-postings, irrelevant documents, hostile text."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from typer.testing import CliRunner

from firststory.cli.application import build
from firststory.datasets import make_story_stream
from firststory.pipeline.runner import Runner
from firststory.records import Document, Position
from firststory.settings import load

NOON = datetime(2020, 5, 1, 12, tzinfo=UTC)
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=alert(1)> [bold red]loud[/bold red]",
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b1m alert",
    "\u202egpj.exe evil\u2066\u2069 overrides \u200b\u200d\ufeffhidden words",
    "a" * 1_000_000,
    "e" + "\u0301" * 5000 + " tower of marks over Lisbon",
    "{{ 7*7 }} {% raw %} ${jndi:ldap://x} '; DROP TABLE documents; --",
)


def verdicts(documents, **settings):
    options = {"language": "en", "topics": "none", "step": len(documents), "budget": "30%", **settings}
    arrivals = [(document, Position("test", {"line": i})) for i, document in enumerate(documents)]
    return [v for step in Runner(load(options)).run(iter(arrivals)) for v in step.verdicts]


@pytest.fixture(scope="module")
def stream():
    return make_story_stream(60, 12, sentences=3, random_state=5).documents


def test_order_of_equal_times_changes_no_story_of_an_order_free_detector(stream):
    # Forty documents in the past, then twenty of one moment in two orders.
    past, batch = stream[:40], [replace(document, time=NOON) for document in stream[40:]]
    told = []
    for order in (range(20), np.random.default_rng(0).permutation(20)):
        shuffled = [batch[i] for i in order]
        answer = verdicts(
            [replace(d, time=NOON.replace(day=1, hour=0)) for d in past] + shuffled, detector="l1", step=20
        )
        assert [v.document.id for v in answer[40:]] == [d.id for d in shuffled]  # verdicts in the order of arrival
        told.append({v.document.id: (v.is_novel, round(v.novelty, 9), v.story, v.evidence.kind) for v in answer[40:]})
    assert told[0] == told[1]


@pytest.mark.parametrize("detector", ["fused", "l1"])
def test_a_document_posted_again_is_never_novel(stream, detector):
    again = [replace(document, id=f"again-{document.id}") for document in stream[::3]]
    shouted = [
        replace(d, id=f"loud-{d.id}", text=f"RT @wire: {d.text.upper()} !!! https://t.co/x") for d in stream[::5]
    ]
    judged = verdicts([*stream, *again, *shouted], detector=detector, step=20, budget="100%")
    for verdict in judged[len(stream) :]:
        assert not verdict.is_novel and verdict.evidence.kind == "duplicate"
        assert verdict.story == next(v.story for v in judged if v.document.id == verdict.duplicate_of)


def test_irrelevant_documents_do_not_change_evidence(stream):
    past = [
        Document("p1", "Harbour bridge in Bremen inspected after cracks were found", NOON),
        Document("p2", "Bremen council argues about the harbour bridge budget", NOON),
        *stream[:20],
    ]
    noise = [Document(f"n{i}", f"zork{i} blip{i} quux{i} frob{i}", NOON) for i in range(15)]
    new = Document("new", "Storm tears cable from harbour bridge in Bremen, ferry Nordstern missing", NOON)
    evidence = []
    for documents in ([*past, new], [*past, *noise, new]):
        (last,) = [
            v for v in verdicts(documents, detector="neighbour", step=1, budget="100%") if v.document.id == "new"
        ]
        evidence.append(last.evidence)
    plain, noisy = evidence
    assert {t.text for t in plain.terms} == {t.text for t in noisy.terms} and plain.terms
    assert [(n.id, set(n.shared)) for n in plain.nearest] == [(n.id, set(n.shared)) for n in noisy.nearest]
    assert (plain.kind, [n.similarity for n in plain.nearest]) == (
        noisy.kind, pytest.approx([n.similarity for n in noisy.nearest], abs=0.05)
    )  # fmt: skip


def test_novel_terms_are_surface_forms_at_their_place(stream):
    text = "Nordstern ferry sinks; Nordstern owner Hansen silent"
    found = verdicts([*stream[:20], Document("new", text, NOON)], detector="fused", step=1, budget="100%")[-1]
    assert found.is_novel and found.terms
    assert all(text[t.start : t.end] == t.text for t in found.terms)
    assert {"Nordstern ferry sinks", "Hansen"} <= {t.text for t in found.terms}
    assert found.evidence.kind == "event" and found.evidence.sentence.startswith("New event: ")


def test_a_dictionary_says_what_it_leaves_over(stream):
    known = [Document(f"k{i}", "harbour bridge budget council harbour bridge", NOON) for i in range(1)]
    known += [Document(f"q{i}", f"harbour bridge budget council note{i}", NOON) for i in range(12)]
    new = Document("new", "harbour bridge budget council Nordstern sinks", NOON)
    found = verdicts([*known, new], detector="l1", step=1, budget="100%")[-1]
    assert found.is_novel and {t.text for t in found.terms[:2]} == {"Nordstern", "sinks"}


def test_hostile_text_on_the_terminal(tmp_path):
    lines = [{"id": f"h{i}", "text": text, "title": text[:300], "source": text[:50]} for i, text in enumerate(HOSTILE)]
    file = tmp_path / "hostile.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    app, store = build(("run", "stories", "status")), str(tmp_path / "h.db")
    shown = ""
    for words in (["run", str(file), "--store", store], ["stories", "--store", store], ["status", "--store", store]):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        shown += result.output
    from firststory.digest.report import report_page
    from firststory.store.store import Store

    with Store(store) as opened:
        page = report_page(opened, "hostile <script>")
    assert "<script" not in page and "<img" not in page and "default-src 'none'" in page
    shown += page
    assert "script" in shown  # it was shown
    for trick in "\x1b\x07\x9b\u202e\u2066\u200b\ufeff":
        assert trick not in shown
    assert "a" * 500 not in shown and "\u0301" * 4 not in shown

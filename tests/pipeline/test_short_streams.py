"""Small files without times: a few alerts, the most novel ones, and a sentence that says how sure they are."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import firststory as fs
from firststory.alerts.budget import parse_budget
from firststory.alerts.confidence import confidence
from firststory.cli.application import build
from firststory.errors import DataError

WEATHER = [
    "Heavy rain floods the {} in {}",
    "Flood water from heavy rain closes the {} in {}",
    "Rain and flood: the {} in {} under water",
    "{} in {} closed after heavy rain and flood",
]
PLACES = ["Hull", "Leeds", "York", "Derby", "Bath", "Truro", "Perth", "Crewe", "Dover", "Luton", "Ripon"]
SITES = ["market", "harbour", "station", "museum", "school"]
PLANTED = {
    17: "Parliament votes to abolish tuition fees for nurses",
    33: "Volcano erupts near Reykjavik and grounds aeroplanes",
}


def small_stream(n):
    """Talk of one flood, and in the midst of it something else."""
    texts = [WEATHER[i % 4].format(SITES[i % 5], PLACES[i % 11]) for i in range(n)]
    for place, text in PLANTED.items():
        if place < n:
            texts[place] = text
    return texts


def alerts(texts, **settings):
    monitor = fs.Monitor(topics="none", language="en", **settings)
    return [i for i, verdict in enumerate(monitor.watch(texts)) if verdict.is_novel], monitor


@pytest.mark.parametrize("step", [1, 100])
@pytest.mark.parametrize(("n", "most"), [(1, 1), (5, 3), (20, 4), (50, 9), (200, 12)])
def test_few_documents_have_few_alerts_and_what_is_planted_is_among_them(n, most, step):
    found, monitor = alerts(small_stream(n), step=step)
    assert len(found) <= most
    assert {place for place in PLANTED if place < n} <= set(found)
    assert (n > 5 or step == 1) or len(found) == 1
    assert f"{n} document" in monitor.status()["novelty"]["confidence"]


@pytest.mark.parametrize("step", [1, 100])
def test_where_nothing_is_like_anything_a_few_are_told(step):
    texts = [f"{chr(97 + i % 26)}{i}alpha beta{i} gamma{i} delta{i}" for i in range(50)]
    found, _ = alerts(texts, step=step, detector="fused-words")
    assert 1 <= len(found) <= 10


@pytest.mark.parametrize("step", [1, 100])
def test_what_is_clearly_known_is_never_told(step):
    texts = [f"Heavy rain floods the {site} in Hull" for site in SITES] * 10
    texts[7], texts[30] = "In Hull, heavy rain flooded the station", "Heavy rains are flooding the Hull museum"
    found, _ = alerts(texts, step=step)
    assert set(found) <= {0, 1, 2, 3, 4}


def test_a_slice_of_real_headlines():
    try:
        documents = list(fs.datasets.load_news2017().documents)[:50]
    except DataError:
        pytest.skip("the corpus is not here")
    texts = [document.text.split("\n")[0][:120] for document in documents]
    for step in (1, 100):
        found, _ = alerts(texts, step=step)
        assert 2 <= len(found) <= 10
        assert found != list(range(len(found)))


@pytest.mark.parametrize(
    ("n", "budget", "words"),
    [
        (0, "20/day", "No document was judged yet."),
        (1, "20/day", "Hardly more than a guess: alerts rest on 1 document, so no p-value is below 1/2 = 0.5."),
        (50, "20/day", "Not very sure: alerts rest on 50 documents, so no p-value is below 1/51 = 0.02."),
        (200, "5%", "Fairly sure: alerts rest on 200 documents, so no p-value is below 1/201 = 0.005."),
        (2000, "5%", "Sure: alerts rest on 2,000 documents, and no p-value is below 1/2,001 = 0.0005."),
        (20, 0.8, "Not very sure: alerts rest on 20 documents, and among the first ones nearly all are novel."),
        (500, 0.8, "The threshold is fixed at 0.8, however many documents there are: alerts rest on 500 documents."),
    ],
)
def test_the_sentence_says_how_sure_it_is(n, budget, words):
    said = confidence(n, parse_budget(budget))
    assert said.startswith(words)
    assert ("--budget" in said and "More documents" in said) == said.startswith(("Hardly", "Not", "Fairly"))


def test_run_and_score_print_the_sentence(tmp_path):
    file = tmp_path / "small.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in small_stream(50)), encoding="utf-8")
    said = CliRunner().invoke(build(), ["run", str(file), "--store", str(tmp_path / "small.db"), "--topics", "none"])
    assert said.exit_code == 0, said.output
    assert "alerts rest on 50 documents" in " ".join(said.stdout.split())
    assert "1/51 = 0.02" in " ".join(said.stdout.split())
    said = CliRunner().invoke(build(), ["score", str(file)])
    assert said.exit_code == 0, said.output
    assert "alerts rest on 50 documents" in said.stderr
    assert all(json.loads(line) for line in said.stdout.splitlines())

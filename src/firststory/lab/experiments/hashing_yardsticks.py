"""Hashing in place of exact search: two published detectors beside the plain neighbour and `FusedNovelty`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sklearn.metrics import roc_auc_score

from firststory.arrays import Floats
from firststory.datasets import load_healthtweets, load_news2017
from firststory.detectors.fused_novelty import FusedNovelty
from firststory.evaluate.tdt import tdt_cost
from firststory.lab.experiments.bootstrap import DRAWS, difference_interval
from firststory.lab.experiments.fused_streams import LabelledRows, _tdt2, from_texts
from firststory.lab.experiments.headlines import headlines
from firststory.lab.experiments.kterm_hashing import KTermHashing
from firststory.lab.experiments.linked_tweets import linked_tweets
from firststory.lab.experiments.lsh_neighbour import LshNeighbour
from firststory.lab.experiments.plain_neighbour import plain_neighbour, tfidf_rows

TITLE = "Hashing yardsticks: LSH with latest documents, k-term hashing"

QUICK_DOCUMENTS = 300

PLAIN, LSH, KTERM, FUSED = "plain neighbour", "LSH + latest", "k-term hashing", "FusedNovelty"


def run(*, quick: bool, out: Path) -> str:
    """AUC and topic-weighted cost of each on three corpora, and what the intervals say."""
    rows, verdicts = [], []
    for stream in streams(quick=quick):
        scores = scores_of(stream)
        rows.append([stream.name, str(int(stream.first.sum())), *(_cell(stream, s, quick) for s in scores.values())])
        verdicts.append(_verdict(stream, scores, 20 if quick else DRAWS))
    text = (
        "LSH: 13 bits, 70 tables, 64 documents per bucket, exact cosines for the 210 most frequent collisions, and for "
        "the latest 2,000 documents where the nearest is farther than 0.5 (Petrović, Osborne, Lavrenko 2010). k-term "
        "hashing: combinations of up to 3 of the 12 heaviest terms, equal weights (Wurzer, Lavrenko, Osborne 2015). "
        "Both get the same TF-IDF rows as the plain neighbour, without times; neither was tuned here. Published "
        "figures are for tweets that are not at hand. Each cell: AUC / **topic-weighted cost** [95 % bootstrap "
        "interval over topics]; lower cost is better, 1 is what never alerting costs."
    )
    head = ["stream", "first stories", PLAIN, LSH, KTERM, FUSED]
    lines = [text, "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(
        [*lines, "", "Cost against the plain neighbour, 95 % interval of the paired difference:", "", *verdicts]
    )


def streams(*, quick: bool) -> Iterator[LabelledRows]:
    """Headlines, tweets and TDT2, as in `fused-novelty`."""
    most = QUICK_DOCUMENTS if quick else None
    yield from_texts("headlines", "news2017", headlines(load_news2017().documents, days=7.0)[:most])
    tweets = load_healthtweets().documents
    yield from_texts("and as many alone", "tweets", linked_tweets(tweets, alone=True)[:most])
    for stream in _tdt2():
        assert stream.times is not None
        yield stream if most is None else stream.take(slice(most), times=stream.times[:most])


def scores_of(stream: LabelledRows) -> dict[str, Floats]:
    """The novelty of every document by each detector."""
    weighted = tfidf_rows(stream.plain)
    return {
        PLAIN: plain_neighbour(stream.plain),
        LSH: LshNeighbour().novelty(weighted),
        KTERM: KTermHashing().novelty(weighted),
        FUSED: FusedNovelty().score_then_learn(stream.effective, times=stream.times, vectors=stream.vectors),
    }


def _cell(stream: LabelledRows, score: Floats, quick: bool) -> str:
    cost = tdt_cost(stream.first, score, stream.labels, n_bootstrap=20 if quick else DRAWS)
    low, high = cost.interval
    return f"{roc_auc_score(stream.first, score):.3f} / **{cost.topic_weighted:.3f}** [{low:.2f}, {high:.2f}]"


def _verdict(stream: LabelledRows, scores: dict[str, Floats], draws: int) -> str:
    """Each detector ahead of, behind, or not told apart from the plain neighbour, by the interval."""
    parts = []
    for name in (LSH, KTERM, FUSED):
        low, high = difference_interval(stream.labels, stream.first, scores[name], scores[PLAIN], draws)
        word = "ahead" if high < 0.0 else "behind" if low > 0.0 else "not told apart"
        parts.append(f"{name} {word} [{low:+.2f}, {high:+.2f}]")
    return f"- {stream.name}: {'; '.join(parts)}."

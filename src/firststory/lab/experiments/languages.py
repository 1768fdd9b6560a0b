"""Crisis tweets in several languages: the rules of the stream's language against those of each document's."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from firststory.arrays import Floats, Ints
from firststory.datasets import load_crisislex, load_news2017
from firststory.datasets.streams import first_of_label
from firststory.detectors.fused_novelty import FusedNovelty
from firststory.evaluate.tdt import bootstrap_costs, tdt_cost
from firststory.lab.experiments.plain_neighbour import plain_neighbour
from firststory.text import StreamVectorizer
from firststory.text.language import identify, letters

TITLE = "Several languages in one stream: rules by stream and by document"

TEXT = """\
Crisis tweets (`load_crisislex`), all in one stream with its times; `FusedNovelty()` on words alone. *English*: stop
words and stems of English for all; *by stream*: those of one language ({stream_language}), that of the first 600
letters, as `language="auto"` was before it looked at each document; *by document*: `language="auto"`. The languages of
the table's rows are py3langid's, asked about each tweet alone, and not what the vectorizer guessed; languages with
fewer than {fewest} labelled tweets are in the last row but one. C is the normalised minimum TDT cost over the labelled
tweets of a language, topic-weighted, as a share of the plain TF-IDF neighbour's (English rules, no times); a "–" stands
where the tweets of a language hold fewer than two first stories. *Same* is the share of labelled tweets, first ones
aside, whose nearest earlier tweet is on the same crisis.

{table}

There are only {n_first} first stories in all, so costs and AUCs of single languages rest on a handful; the share of
nearest tweets on the same crisis rests on thousands.

{verdict}

Guessed by document (share of {n:,} tweets): {guessed}. py3langid says the same of {agree:.1%} of them. It was asked
about {asked:.1%}; the others were told by stop words and the documents before them.

An English stream (the first lines of {n_english:,} articles of news2017): {n_differ:,} rows under `auto` differ from
those under `language="en"`. Making the rows takes {english_cost:.1f} µs per line with `en` and {auto_cost:.1f} µs with
`auto` (processor time, best of {rounds} interleaved).
"""

LETTERS = 600
ROUNDS = 5
OPTIONS: dict[str, Any] = {"weighting": "count", "norm": None, "surface_weight": 2.0, "short": 30}


def run(*, quick: bool, out: Path) -> str:
    """The table by language, what was guessed, and what an English stream pays."""
    fewest = 20 if quick else 300
    documents = list(load_crisislex().documents)[: 1500 if quick else None]
    texts = [document.text for document in documents]
    labels = np.empty(len(texts), dtype=object)
    labels[:] = [document.label for document in documents]
    times = np.array([document.time.timestamp() for document in documents if document.time is not None])
    written = np.array([identify(text) for text in texts])
    by_stream = _stream_language(texts)
    first, judged = first_of_label(labels), np.array([label is not None for label in labels])
    plain = plain_neighbour(StreamVectorizer("en", weighting="count", norm=None).fit_transform(texts))
    vectorizers = {"English": "en", "by stream": by_stream, "by document": "auto"}
    scored, guessed, n_asked = {}, [""], 0
    for rules, language in vectorizers.items():
        vectorizer = StreamVectorizer(language, **OPTIONS)
        scored[rules] = _fused(vectorizer.fit_transform(texts), times)
        guessed, n_asked = vectorizer.last_languages, vectorizer.languages_.n_asked
    counts = Counter(written[judged].tolist())
    often = [code for code, n in counts.most_common() if n >= fewest]
    groups = {code: judged & (written == code) for code in often}
    groups |= {"all others": judged & ~np.isin(written, often), "**all**": judged}
    lines, same = [], {}
    for name, which in groups.items():
        cells = [f"{int(which.sum()):,}", str(int((first & which).sum())), _cell(first, plain, labels, which, plain)]
        for rules, (novelty, nearest) in scored.items():
            same[name, rules] = _same_crisis(labels, nearest, which & ~first)
            cells += [_cell(first, novelty, labels, which, plain), f"{same[name, rules]:.3f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    head = "| language | tweets | first | plain: C · AUC |"
    head += "".join(f" {rules}: C · AUC | same |" for rules in scored)
    return TEXT.format(
        stream_language=by_stream,
        fewest=fewest,
        table="\n".join([head, "|---" * (head.count("|") - 1) + "|", *lines]),
        n_first=int(first.sum()),
        verdict=_verdict(first, labels, scored),
        n=len(texts),
        guessed=", ".join(f"{code} {n / len(texts):.1%}" for code, n in Counter(guessed).most_common(8)),
        agree=float(np.mean(np.array(guessed) == written)),
        asked=n_asked / len(texts),
        rounds=ROUNDS,
        **_english(quick),
    )


def _verdict(first: NDArray[np.bool_], labels: NDArray[Any], scored: dict[str, tuple[Floats, Ints]]) -> str:
    """The cost by document as a share of the others', with the middle 95 % of bootstrap draws of crises."""
    draws = {rules: bootstrap_costs(first, novelty, labels, n_bootstrap=1000) for rules, (novelty, _) in scored.items()}
    sentences = []
    for rules in ("English", "by stream"):
        mine, other = (
            tdt_cost(first, scored[one][0], labels, n_bootstrap=0).topic_weighted for one in ("by document", rules)
        )
        low, high = np.quantile(draws["by document"] / np.maximum(draws[rules], 1e-9), [0.025, 0.975])
        sentences.append(
            f"By document the cost is {mine / max(other, 1e-9):.2f} of *{rules}* ({low:.2f} to {high:.2f})."
        )
    return " ".join(sentences)


def _stream_language(texts: list[str]) -> str:
    """The language of the first letters."""
    sample = ""
    for text in texts:
        sample = f"{sample} {letters(text)}".strip()
        if len(sample) >= LETTERS:
            break
    return identify(sample)


def _fused(rows: sp.csr_matrix, times: Floats) -> tuple[Floats, Ints]:
    """The novelty of each tweet and its nearest earlier tweet, -1 for none."""
    detector = FusedNovelty()
    scores = detector.score_then_learn(rows, times=times)
    ordinals, cosines = detector.last_neighbours()
    return scores, np.where(cosines[:, 0] > 0.0, ordinals[:, 0], -1)


def _cell(
    first: NDArray[np.bool_], novelty: Floats, labels: NDArray[Any], which: NDArray[np.bool_], plain: Floats
) -> str:
    if (first & which).sum() < 2:
        return "–"
    cost, base = (
        tdt_cost(first[which], s[which], labels[which], n_bootstrap=0).topic_weighted for s in (novelty, plain)
    )
    return f"{cost / max(base, 1e-9):.2f} · {roc_auc_score(first[which], novelty[which]):.3f}"


def _same_crisis(labels: NDArray[Any], nearest: Ints, which: NDArray[np.bool_]) -> float:
    at = np.flatnonzero(which)
    return float(np.mean([nearest[i] >= 0 and labels[nearest[i]] == labels[i] for i in at])) if at.size else np.nan


def _english(quick: bool) -> dict[str, float]:
    """Rows that differ, and what they cost, on a stream in one language."""
    articles = load_news2017().documents[: 300 if quick else None]
    texts = [document.text.split("\n")[0][:200] for document in articles]
    best = {"en": np.inf, "auto": np.inf}
    rows: dict[str, list[list[tuple[str, float]]]] = {}
    for _ in range(1 if quick else ROUNDS):
        for language in best:
            vectorizer = StreamVectorizer(language, **OPTIONS)
            begun = time.process_time()
            found = vectorizer.partial_fit_transform(texts)
            best[language] = min(best[language], time.process_time() - begun)
            terms = vectorizer.terms_
            rows[language] = [sorted(zip([terms[c] for c in row.indices], row.data, strict=True)) for row in found]
    differ = sum(one != other for one, other in zip(*rows.values(), strict=True))
    cost = {language: 1e6 * seconds / len(texts) for language, seconds in best.items()}
    return {
        "n_english": len(texts), "n_differ": differ, "english_cost": cost["en"], "auto_cost": cost["auto"],
    }  # fmt: skip

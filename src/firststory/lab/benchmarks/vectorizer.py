"""Texts to rows: `StreamVectorizer`, which learns a vocabulary and stems, beside scikit-learn's vectorizers."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from firststory.errors import FirststoryError

TITLE = "Texts to rows: StreamVectorizer and scikit-learn's vectorizers"

CORPORA = {
    "News Articles 2017": "load_news2017",
    "All About articles": "load_articles",
    "All About headlines": "load_headlines",
}
BATCH = 1000
REPEATS = 3
DOCUMENTS, QUICK_DOCUMENTS = 10_000, 1500
"""The first so many of each corpus; headlines ten times as many."""

Job = Callable[[Sequence[str]], Any]


def run(*, quick: bool) -> str:
    """The Markdown of the section."""
    lines = [
        (
            "One thread, 2 cores. CPU seconds, best of "
            f"{1 if quick else REPEATS} interleaved repeats in one process, so that other load on the machine cancels "
            "out; peak memory is what the work added to the process, rows included, each in a process of its own."
        ),
        "",
        (
            f"firststory reads the stream in batches of {BATCH} documents, finds stop words and stems, counts document "
            "frequencies and weights each document by the past; `transform` is the same without learning. "
            "`HashingVectorizer` lower-cases, drops English stop words and hashes: it neither stems nor learns, and is "
            "given all documents at once and the faster of 2^18 and 2^20 features."
        ),
        "",
    ]
    for name, loader in CORPORA.items():
        try:
            texts = _texts(loader, quick)
        except FirststoryError as error:
            lines += [f"**{name}**: skipped, {error}", ""]
            continue
        lines += [*_corpus(name, loader, texts, quick), ""]
    return "\n".join(lines)


def _corpus(name: str, loader: str, texts: Sequence[str], quick: bool) -> Iterator[str]:
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    times = {job: float("inf") for job in JOBS}
    for _ in range(1 if quick else REPEATS):
        for job, make in JOBS.items():
            times[job] = min(times[job], _cpu_seconds(make(texts), texts))
    yield f"**{name}**: {len(texts):,} documents, {size:.1f} MB"
    yield ""
    yield "| | stop words | CPU s | documents/s | MB/s | x HashingVectorizer | peak MB |"
    yield "|---|---|---|---|---|---|---|"
    for job, seconds in times.items():
        what, _, stops = job.partition("|")
        ratio = times[f"HashingVectorizer|{stops}"] / seconds
        # A process that only transforms has learnt before: what it reuses of that cannot be told from its own need.
        memory = f"{_peak(job, loader, quick):.0f}" if stops == "English" and not what.endswith(", transform") else "–"
        yield (
            f"| {what} | {stops} | {seconds:.2f} | {len(texts) / seconds:,.0f} | {size / seconds:.1f} | {ratio:.2f} "
            f"| {memory} |"
        )


def _cpu_seconds(job: Job, texts: Sequence[str]) -> float:
    gc.collect()
    begin = time.process_time()
    rows = job(texts)
    spent = time.process_time() - begin
    del rows
    return spent


# -- the jobs: each makes, outside the clock, what is then timed ----------------------------------------------------


def _learn(stop_words: str | None) -> Callable[[Sequence[str]], Job]:
    def make(texts: Sequence[str]) -> Job:
        from firststory.text import StreamVectorizer

        StreamVectorizer("en").fit(["compile the kernels"])
        vectorizer = StreamVectorizer("en", stop_words=stop_words)

        def job(texts: Sequence[str]) -> Any:
            return [vectorizer.partial_fit_transform(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]

        return job

    return make


def _transform(stop_words: str | None) -> Callable[[Sequence[str]], Job]:
    def make(texts: Sequence[str]) -> Job:
        from firststory.text import StreamVectorizer

        vectorizer = StreamVectorizer("en", stop_words=stop_words).fit(texts)

        def job(texts: Sequence[str]) -> Any:
            return [vectorizer.transform(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]

        return job

    return make


def _hashing(stop_words: str | None) -> Callable[[Sequence[str]], Job]:
    def make(texts: Sequence[str]) -> Job:
        from sklearn.feature_extraction.text import HashingVectorizer

        vectorizers = [HashingVectorizer(stop_words=stop_words, n_features=1 << bits) for bits in (18, 20)]
        sample = texts[:BATCH]
        faster = min(vectorizers, key=lambda vectorizer: min(_cpu_seconds(vectorizer.transform, sample) for _ in "12"))
        transform: Job = faster.transform
        return transform

    return make


def _tfidf(stop_words: str | None) -> Callable[[Sequence[str]], Job]:
    def make(texts: Sequence[str]) -> Job:
        from sklearn.feature_extraction.text import TfidfVectorizer

        fit_transform: Job = TfidfVectorizer(stop_words=stop_words).fit_transform
        return fit_transform

    return make


JOBS: dict[str, Callable[[Sequence[str]], Job]] = {
    "HashingVectorizer|English": _hashing("english"),
    "TfidfVectorizer, fit and transform|English": _tfidf("english"),
    "**firststory**, learn and transform|English": _learn("language"),
    "**firststory**, transform|English": _transform("language"),
    "HashingVectorizer|none": _hashing(None),
    "TfidfVectorizer, fit and transform|none": _tfidf(None),
    "**firststory**, learn and transform|none": _learn(None),
    "**firststory**, transform|none": _transform(None),
}


# -- memory ---------------------------------------------------------------------------------------------------------


def _peak(job: str, loader: str, quick: bool) -> float:
    """MB that a job adds to the peak of a fresh process."""
    code = "import sys; from firststory.lab.benchmarks import vectorizer; vectorizer.measure(*sys.argv[1:])"
    command = [sys.executable, "-c", code, job, loader, "quick" if quick else ""]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(job: str, loader: str, quick: str) -> None:
    """Print how many MB the job needs; called in a process of its own."""
    texts = _texts(loader, bool(quick))
    prepared = JOBS[job](texts)
    prepared(texts[:10])
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = _peak_of_process()
    rows = prepared(texts)
    print(_peak_of_process() - before)
    del rows


def _peak_of_process() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _texts(loader: str, quick: bool) -> list[str]:
    import firststory as fs

    options = {"download": False} if loader == "load_news2017" else {}
    texts = list(getattr(fs.datasets, loader)(**options).texts)
    return texts[: QUICK_DOCUMENTS if quick else 10 * DOCUMENTS if loader == "load_headlines" else DOCUMENTS]

"""Streaming NMF beside scikit-learn's MiniBatchNMF and gensim's Nmf, with the online LDA of both for comparison."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import normalized_mutual_info_score

from firststory.arrays import Floats
from firststory.datasets import load_newsgroups20
from firststory.evaluate.topics import npmi_coherence, reconstruction_error
from firststory.state import pack_state
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Streaming NMF: one pass over 20 Newsgroups"


K, BATCH = 20, 1000

TEXT = """\
One pass over 20 Newsgroups in the order of time ({n} documents, {width} terms, {nnz} non-zeros; unit tf-idf rows, raw
counts for LDA), k = {k}, batches of {batch}. CPU seconds of learning only, mean over seeds (best in brackets),
systems interleaved; one thread each (BLAS limited to one), 2 cores, compilation done before. Relative Frobenius error
with the best codes for the topics found; NMI of the heaviest topic of each document against the 20 groups; NPMI of
the ten heaviest terms; mean and standard deviation over seeds. `memory=3` was chosen on Reuters-21578, before this
corpus was looked at.

{table}

Reconstruction error is not LDA's objective; its rows are there for time, NMI and coherence. Library defaults
otherwise.

{verdict}
"""


@dataclass
class Corpus:
    """The rows, as each library wants them."""

    weights: sp.csr_matrix
    counts: sp.csr_matrix
    groups: NDArray[Any]
    vocabulary: NDArray[Any]


@dataclass
class Result:
    """One run of one system."""

    seconds: float
    error: float
    nmi: float
    npmi: float
    note: str = ""


@dataclass
class System:
    """A name, how to learn a corpus (returns topics, and codes where they are the system's own), and its seeds."""

    name: str
    learn: Callable[[Corpus, int], tuple[float, Floats, Floats | None]]
    seeds: int


def run(*, quick: bool) -> str:
    """The table, and what it says about the goals."""
    from threadpoolctl import threadpool_limits

    corpus = _corpus(2000 if quick else None)
    seeds, few = (1, 1) if quick else (5, 2)
    systems = [
        System("OnlineNMF, NNDSVD", _ours(orthogonality=0.0, memory=3.0), seeds),
        System("scikit-learn MiniBatchNMF, NNDSVD", _mini_batch("nndsvda"), seeds),
        System("gensim Nmf", _gensim_nmf, seeds),
        System("OnlineNMF, random documents", _ours(orthogonality=0.0, memory=3.0, init="documents", n_init=1), seeds),
        System("scikit-learn MiniBatchNMF, random", _mini_batch("random"), seeds),
        System("OnlineNMF, NNDSVD, orthogonality 0.03, annealed", _ours(memory=3.0), seeds),
        System("scikit-learn LDA, online", _lda, few),
        System("gensim LdaModel", _gensim_lda, few),
    ]
    results: dict[str, list[Result]] = {system.name: [] for system in systems}
    skipped: dict[str, str] = {}
    with threadpool_limits(1):
        _ours()(Corpus(corpus.weights[:BATCH], corpus.counts[:BATCH], corpus.groups[:BATCH], corpus.vocabulary), 0)
        for seed in range(seeds):
            for system in systems:
                if seed < system.seeds and system.name not in skipped:
                    try:
                        results[system.name].append(_measure(system, corpus, seed))
                    except ImportError as error:
                        skipped[system.name] = str(error)
    shape = corpus.weights.shape
    return TEXT.format(
        n=shape[0], width=shape[1], nnz=corpus.weights.nnz, k=K, batch=BATCH,
        table="\n".join(_table(results, skipped, shape[0])), verdict=_verdict(results, corpus),
    )  # fmt: skip


def _corpus(limit: int | None) -> Corpus:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    stream = load_newsgroups20()
    vectorizer = CountVectorizer(stop_words="english", min_df=5, max_df=0.3, token_pattern=r"[a-zA-Z]{3,}")
    counts = vectorizer.fit_transform(stream.texts[:limit]).astype(np.float64).tocsr()
    kept = np.flatnonzero(np.diff(counts.indptr) >= 3)
    counts = counts[kept]
    weights = TfidfTransformer().fit_transform(counts).tocsr()
    return Corpus(weights, counts, stream.labels[kept].astype(str), vectorizer.get_feature_names_out())


def _measure(system: System, corpus: Corpus, seed: int) -> Result:
    seconds, topics, own = system.learn(corpus, seed)
    error, codes = reconstruction_error(topics, corpus.weights)
    heaviest = (codes if own is None else own).argmax(axis=1)
    nmi = float(normalized_mutual_info_score(corpus.groups, heaviest))
    return Result(seconds, error, nmi, npmi_coherence(topics, corpus.weights))


# -- the systems -------------------------------------------------------------------------------------------


def _clocked(model: Any, rows: sp.csr_matrix) -> float:
    begin = time.process_time()
    for start in range(0, rows.shape[0], BATCH):
        model.partial_fit(rows[start : start + BATCH])
    return time.process_time() - begin


def _ours(**options: Any) -> Callable[[Corpus, int], tuple[float, Floats, None]]:
    def learn(corpus: Corpus, seed: int) -> tuple[float, Floats, None]:
        model = OnlineNMF(K, random_state=seed, **options)
        return _clocked(model, corpus.weights), model.components_, None

    return learn


def _mini_batch(init: str) -> Callable[[Corpus, int], tuple[float, Floats, None]]:
    def learn(corpus: Corpus, seed: int) -> tuple[float, Floats, None]:
        from sklearn.decomposition import MiniBatchNMF

        model = MiniBatchNMF(K, init=init, random_state=seed)
        return _clocked(model, corpus.weights), model.components_, None

    return learn


def _lda(corpus: Corpus, seed: int) -> tuple[float, Floats, Floats]:
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        K, learning_method="online", random_state=seed, total_samples=corpus.counts.shape[0]
    )
    seconds = _clocked(model, corpus.counts)
    return seconds, model.components_, model.transform(corpus.counts)


def _gensim_nmf(corpus: Corpus, seed: int) -> tuple[float, Floats, None]:
    from gensim.models.nmf import Nmf

    documents = _as_gensim(corpus.weights)
    begin = time.process_time()
    model = Nmf(documents, K, _names(corpus), chunksize=BATCH, passes=1, random_state=seed)
    return time.process_time() - begin, np.asarray(model.get_topics()), None


def _gensim_lda(corpus: Corpus, seed: int) -> tuple[float, Floats, Floats]:
    from gensim.matutils import corpus2dense
    from gensim.models import LdaModel

    documents = _as_gensim(corpus.counts)
    begin = time.process_time()
    model = LdaModel(documents, K, _names(corpus), chunksize=BATCH, passes=1, random_state=seed)
    seconds = time.process_time() - begin
    codes = corpus2dense((model.get_document_topics(d, minimum_probability=0.0) for d in documents), K).T
    return seconds, np.asarray(model.get_topics()), np.asarray(codes)


def _as_gensim(rows: sp.csr_matrix) -> list[list[tuple[int, float]]]:
    pieces = [slice(rows.indptr[i], rows.indptr[i + 1]) for i in range(rows.shape[0])]
    return [list(zip(rows.indices[p].tolist(), rows.data[p].tolist(), strict=True)) for p in pieces]


def _names(corpus: Corpus) -> dict[int, str]:
    return dict(enumerate(corpus.vocabulary.tolist()))


# -- what it says ------------------------------------------------------------------------------------------


def _table(results: dict[str, list[Result]], skipped: dict[str, str], n: int) -> list[str]:
    head = ["system", "seeds", "CPU s", "documents/CPU s", "rel. error", "NMI", "NPMI"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, runs in results.items():
        if name in skipped or not runs:
            lines.append(f"| {name} | skipped: {skipped.get(name, 'not run')} | | | | | |")
            continue
        seconds = [one.seconds for one in runs]
        cells = [f"{len(runs)}", f"{np.mean(seconds):.2f} ({min(seconds):.2f})", f"{n / np.mean(seconds):,.0f}"]
        cells += [_spread([one.error for one in runs], 4), _spread([one.nmi for one in runs], 3)]
        cells += [_spread([one.npmi for one in runs], 3)]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _spread(values: list[float], digits: int) -> str:
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def _verdict(results: dict[str, list[Result]], corpus: Corpus) -> str:
    pairs = [
        ("OnlineNMF, NNDSVD", "scikit-learn MiniBatchNMF, NNDSVD", 1.5),
        ("OnlineNMF, random documents", "scikit-learn MiniBatchNMF, random", 1.5),
        ("OnlineNMF, NNDSVD", "gensim Nmf", 3.0),
        ("OnlineNMF, random documents", "gensim Nmf", 3.0),
    ]
    lines = []
    for mine, peer, goal in pairs:
        ours, theirs = results[mine], results[peer]
        if not ours or not theirs:
            continue
        ratio = float(np.median([b.seconds / a.seconds for a, b in zip(ours, theirs, strict=True)]))
        losses = [
            name
            for name, sign in (("error", 1.0), ("nmi", -1.0), ("npmi", -1.0))
            if sign * (_mean(ours, name) - _mean(theirs, name)) > max(_sd(ours, name), _sd(theirs, name))
        ]
        quality = (
            "nothing worse by more than one standard deviation"
            if not losses
            else "**worse in " + ", ".join(losses) + "**"
        )
        lines.append(
            f"- {mine} against {peer}: {ratio:.1f}x as fast (goal {goal:g}x; median of paired seeds); {quality}."
        )
    lines.append(_bounded(corpus))
    return "\n".join(lines)


def _mean(runs: list[Result], name: str) -> float:
    return float(np.mean([getattr(one, name) for one in runs]))


def _sd(runs: list[Result], name: str) -> float:
    return float(np.std([getattr(one, name) for one in runs]))


def _bounded(corpus: Corpus) -> str:
    """The size of the state after a few and after many batches of the same vocabulary."""
    model = OnlineNMF(K, orthogonality=0.0, random_state=0)
    sizes = []
    for start in range(0, corpus.weights.shape[0], BATCH):
        model.partial_fit(corpus.weights[start : start + BATCH])
        sizes.append(len(pack_state(model.get_state())) / 2**20)
    middle = len(sizes) // 2
    return (
        f"- State of OnlineNMF: {sizes[0]:.2f} MiB after the first batch, {sizes[middle]:.2f} after {middle + 1}, "
        f"{sizes[-1]:.2f} after {len(sizes)}: it depends on the vocabulary, not on the stream."
    )

"""SpectralLeader and StepwiseEM: cost of a step over the length of the stream, memory, and online LDA beside."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.datasets import load_tdt2
from firststory.errors import DataError
from firststory.evaluate import clustering_scores
from firststory.topics.spectral_leader import SpectralLeader
from firststory.topics.stepwise_em import StepwiseEM

TITLE = "SpectralLeader and StepwiseEM"

NEVER_DOCUMENTS = 10**9


def run(*, quick: bool) -> str:
    """Three tables: flat in t, large vocabulary in bounded memory, throughput beside online LDA."""
    warm_up()
    lengths = [200, 400] if quick else [1_000, 3_000, 10_000, 30_000, 100_000]
    return f"""CPU time of one thread (2 cores shared with other work, so wall time would measure the others).

### SpectralLeader: cost of a step over the length of the stream

d = 500, K = 5, documents of 50 words, reservoir 10,000, frame r = 15. "One document" is `partial_fit` of one row with a
re-estimate (median of {20 if quick else 200}; all checks of scikit-learn's manners included), "re-estimate" that alone.
"In the stream" is the mean per document over the stretch up to t in batches of 100, renewals of the frame included.
"Exact" whitens again from the whole reservoir (`sketch=None`, best of 3).

{step_table(lengths, 20 if quick else 200)}

Goal: at most 2 ms per re-estimate, flat from 1,000 to 100,000 documents.

### SpectralLeader: 50,000 terms, 50 topics

{memory_table(quick)}

### Throughput on TDT2 counts, one pass, beside online LDA

{throughput_table(quick)}

NMI of each row's strongest topic with the 30 labels, after the pass. LDA is another model (documents mix topics), with
its library's defaults apart from the number of topics and the batch; gensim gets one worker (`LdaModel`).
"""


# -- cost over the length of the stream -------------------------------------------------------------------------------


def planted_topics(d: int, k: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Cumulative word distributions of k topics with a long tail of rare words."""
    tail = 1.0 / np.arange(1.0, d + 1.0)
    topics = np.stack([rng.permutation(tail) * rng.gamma(0.3, size=d) for _ in range(k)])
    cumulative: NDArray[np.float64] = np.cumsum(topics / topics.sum(axis=1, keepdims=True), axis=1)
    return cumulative


def planted_rows(cumulative: NDArray[np.float64], n: int, length: int, rng: np.random.Generator) -> sp.csr_matrix:
    """n documents of `length` words, each of one topic."""
    k, d = cumulative.shape
    words = np.concatenate([np.searchsorted(cumulative[j], rng.random(length)) for j in rng.integers(k, size=n)])
    where = (np.repeat(np.arange(n), length), np.minimum(words, d - 1))
    return sp.csr_matrix((np.ones(n * length), where), shape=(n, d))


def step_table(lengths: list[int], repeats: int) -> str:
    """One row a length of the stream."""
    rng = np.random.default_rng(0)
    cumulative = planted_topics(500, 5, rng)
    model = SpectralLeader(5, random_state=0)
    exact = SpectralLeader(5, sketch=None, update_every=NEVER_DOCUMENTS, random_state=0)
    lines = [
        "| t | one document, ms | re-estimate, ms | in the stream, ms per document | exact re-estimate, ms |",
        "|---:|---:|---:|---:|---:|",
    ]
    done = 0
    for length in lengths:
        spent, since = 0.0, done
        while done < length:
            rows = planted_rows(cumulative, 100, 50, rng)
            spent += cpu(model.partial_fit, rows)
            exact.partial_fit(rows)
            done += 100
        singles = planted_rows(cumulative, repeats, 50, rng)
        one = [cpu(model.partial_fit, singles[i]) for i in range(repeats)]
        alone = [cpu(model._estimate) for _ in range(repeats)]
        again = min(cpu(exact._renew_frame) + cpu(exact._estimate) for _ in range(3))
        lines.append(
            f"| {length:,} | {1e3 * np.median(one):.2f} | {1e3 * np.median(alone):.2f} | "
            f"{1e3 * spent / (done - since):.3f} | {1e3 * again:.0f} |"
        )
        done += repeats
    return "\n".join(lines)


def cpu(act: Callable[..., Any], *arguments: Any) -> float:
    """CPU seconds of one call."""
    begin = time.process_time()
    act(*arguments)
    return time.process_time() - begin


def warm_up() -> None:
    """Compile, or load from the disk cache, before anything is timed."""
    rows = planted_rows(planted_topics(200, 3, np.random.default_rng(0)), 40, 20, np.random.default_rng(1))
    for model in (SpectralLeader(3, random_state=0), SpectralLeader(3, sketch=None), StepwiseEM(3)):
        model.partial_fit(rows).partial_fit(rows)


# -- memory -----------------------------------------------------------------------------------------------------------


def memory_table(quick: bool) -> str:
    """Run in a process of its own, so that its peak is its own."""
    size = (2_000, 5, 500, 2) if quick else (50_000, 50, 1_000, 6)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = pool.submit(large_vocabulary, *size).result()
    d, k, batch, n_batches = size
    return (
        "| terms | topics | documents | topics found | CPU s per thousand documents learnt | CPU s per re-estimate | "
        "largest array | d x d would be | peak memory of the process |\n" + "|---:" * 9 + "|\n"
        f"| {d:,} | {k} | {batch * n_batches:,} | {found['rank']} | {found['learn']:.1f} | {found['estimate']:.1f} | "
        f"{found['largest'] / 2**20:.0f} MB | {8 * d * d / 2**30:.1f} GB | {found['peak'] / 2**30:.2f} GB "
        f"({found['start'] / 2**30:.2f} GB after the first ten documents) |\n\n"
        "Goal: no d x d array, under 2 GB. Learning includes a renewal of the frame and a re-estimate every thousand "
        "documents; reservoir 10,000, 100 words per document."
    )


def large_vocabulary(d: int, k: int, batch: int, n_batches: int) -> dict[str, float]:
    """Learn planted documents; what it took and what it found."""
    warm_up()
    rng = np.random.default_rng(0)
    cumulative = planted_topics(d, k, rng)
    model = SpectralLeader(k, update_every=batch, random_state=0)
    model.partial_fit(planted_rows(cumulative, 10, 100, rng))
    start = _peak()
    learn, estimate = 0.0, []
    for _ in range(n_batches):
        rows = planted_rows(cumulative, batch, 100, rng)
        learn += cpu(model.partial_fit, rows)
        estimate.append(cpu(model._estimate))
    arrays = [value for value in model.get_state().values() if isinstance(value, np.ndarray)]
    return {
        "rank": model.rank_,
        "learn": 1000.0 * learn / (batch * n_batches),
        "estimate": float(np.median(estimate)),
        "largest": max(array.nbytes for array in arrays),
        "peak": _peak(),
        "start": start,
    }


def _peak() -> float:
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# -- throughput -------------------------------------------------------------------------------------------------------


def throughput_table(quick: bool) -> str:
    """One pass over TDT2 in batches: documents a CPU second, and the NMI with the labels afterwards."""
    try:
        stream = load_tdt2()
    except DataError as error:
        return f"Skipped: {error}"
    rows, labels = stream.X, stream.labels
    if quick:
        rows, labels = rows[:300, :2000], labels[:300] if labels is not None else None
    lines = ["| learner | topics | batch | documents / CPU s | NMI |", "|---|---:|---:|---:|---:|"]
    for k, batch in ((5, 1), (5, 100), (5, 1000), (20, 1000)):
        for name, make in learners(k, rows.shape[1]).items():
            if batch == 1 and name not in ("StepwiseEM", "SpectralLeader, estimate every 1000"):
                continue
            part = rows[:1000] if batch == 1 else rows
            try:
                model = make()
            except ImportError as error:
                lines.append(f"| {name} | {k} | {batch} | skipped: {error} | |")
                continue
            batches = [part[at : at + batch] for at in range(0, part.shape[0], batch)]
            spent = sum(cpu(model.learn, one) for one in batches)
            topic = model.topics(rows).argmax(axis=1)
            nmi = f"{clustering_scores(labels, topic)['nmi']:.3f}" if batch > 1 and labels is not None else ""
            lines.append(f"| {name} | {k} | {batch} | {part.shape[0] / spent:,.0f} | {nmi} |")
    return "\n".join(lines) + "\n\nGoal: StepwiseEM at least 5,000 documents a second at 5 topics."


class Ours:
    """A topic model of ours behind the two verbs of the comparison."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def learn(self, rows: sp.csr_matrix) -> None:
        """One batch."""
        self.model.partial_fit(rows)

    def topics(self, rows: sp.csr_matrix) -> NDArray[np.float64]:
        """Topic weights of rows."""
        return np.asarray(self.model.transform(rows))


class Gensim:
    """gensim's LdaModel behind the same two verbs."""

    def __init__(self, k: int, width: int) -> None:
        from gensim.models import LdaModel

        self.model = LdaModel(num_topics=k, id2word={i: str(i) for i in range(width)}, random_state=0)

    def learn(self, rows: sp.csr_matrix) -> None:
        """One batch; gensim's own chunk is the whole of it."""
        self.model.update(self._corpus(rows), chunksize=rows.shape[0])

    def topics(self, rows: sp.csr_matrix) -> NDArray[np.float64]:
        """Topic weights of rows."""
        return np.asarray(self.model.inference(self._corpus(rows))[0])

    @staticmethod
    def _corpus(rows: sp.csr_matrix) -> list[list[tuple[int, float]]]:
        ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [list(zip(rows.indices[a:b].tolist(), rows.data[a:b].tolist(), strict=True)) for a, b in ends]


def learners(k: int, width: int) -> dict[str, Callable[[], Any]]:
    """What is compared."""
    from sklearn.decomposition import LatentDirichletAllocation

    return {
        "StepwiseEM": lambda: Ours(StepwiseEM(k, random_state=0)),
        "SpectralLeader, estimate every 1000": lambda: Ours(SpectralLeader(k, update_every=1000, random_state=0)),
        "scikit-learn LDA, online": lambda: Ours(
            LatentDirichletAllocation(k, learning_method="online", n_jobs=1, random_state=0)
        ),
        "gensim LdaModel": lambda: Gensim(k, width),
    }

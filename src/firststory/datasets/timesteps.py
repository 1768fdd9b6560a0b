"""Labelled rows cut into timesteps, as the dictionary papers evaluate: which documents are of a topic that is new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from firststory.datasets.corpora import load_tdt2

N_DOCUMENTS, N_TERMS, STEP = 9000, 19_528, 1000


@dataclass(frozen=True)
class Timesteps:
    """Rows of unit l1 norm, step after step, and which of them belong to a topic that is new in their step."""

    rows: tuple[sp.csr_matrix, ...]
    novel: tuple[NDArray[np.bool_], ...]


def timesteps(counts: sp.csr_matrix, labels: NDArray[Any], step: int) -> Timesteps:
    """TF-IDF with document frequencies up to and including the step, never later; a label is new in its first step."""
    rows, novel = [], []
    frequency = np.zeros(counts.shape[1])
    seen: set[Any] = set()
    for start in range(0, counts.shape[0] - step + 1, step):
        block = sp.csr_matrix(counts[start : start + step], copy=True)
        frequency += np.bincount(block.indices, minlength=counts.shape[1])
        block.data *= (np.log((1 + start + step) / (1 + frequency)) + 1)[block.indices]
        mass = np.asarray(block.sum(axis=1)).ravel()
        rows.append(sp.csr_matrix(sp.diags(1 / np.where(mass > 0, mass, 1.0)) @ block))
        now = labels[start : start + step]
        novel.append(np.array([label not in seen for label in now]))
        seen |= set(now.tolist())
    return Timesteps(tuple(rows), tuple(novel))


def tdt2_steps(*, quick: bool) -> Timesteps:
    """9000 documents in date order over the 19,528 terms of largest document frequency, in steps of 1000."""
    corpus = load_tdt2()
    n, m, step = (1600, 2000, 400) if quick else (N_DOCUMENTS, N_TERMS, STEP)
    counts = sp.csr_matrix(corpus.X[:n])
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = np.sort(np.argsort(-frequency, kind="stable")[:m])
    assert corpus.labels is not None
    return timesteps(sp.csr_matrix(counts[:, kept]), corpus.labels[:n], step)

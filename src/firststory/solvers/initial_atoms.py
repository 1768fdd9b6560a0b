"""The atoms that a dictionary starts from: heavy words, documents, or cluster centres."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def heavy_words(documents: sp.csr_matrix, n_atoms: int) -> sp.csr_matrix:
    """The words of largest mass, one atom each; ties go to the lower column, missing atoms are empty.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> heavy_words(sp.csr_matrix([[0.2, 0.0, 0.8]]), 2).toarray().tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    mass = np.asarray(documents.sum(axis=0), dtype=np.float64).ravel()
    order = np.argsort(-mass, kind="stable")[:n_atoms]
    return single_words(order[mass[order] > 0], n_atoms, documents.shape[1])


def single_words(words: NDArray[np.intp], n_atoms: int, width: int) -> sp.csr_matrix:
    """One atom per word; the atoms beyond them are empty."""
    ends = np.minimum(np.arange(n_atoms + 1), words.size)
    return sp.csr_matrix((np.ones(words.size), words.astype(np.int32), ends), shape=(n_atoms, width))


def random_documents(documents: sp.csr_matrix, n_atoms: int, rng: np.random.Generator) -> sp.csr_matrix:
    """Documents drawn without replacement; with fewer documents than atoms the remaining atoms are empty."""
    drawn = rng.permutation(documents.shape[0])[:n_atoms]
    return _filled(documents[drawn], n_atoms)


def cluster_centres(documents: sp.csr_matrix, n_atoms: int, rng: np.random.Generator) -> sp.csr_matrix:
    """Spherical k-means; a centre keeps the words that half of its documents use, and has unit mass."""
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    some = documents[np.flatnonzero(np.diff(documents.indptr))]
    if some.shape[0] <= n_atoms:
        return _filled(some, n_atoms)
    seed = int(rng.integers(2**31 - 1))
    labels = KMeans(n_atoms, n_init=1, max_iter=20, random_state=seed).fit(normalize(some)).labels_
    member = sp.csr_matrix((np.ones(labels.size), (labels, np.arange(labels.size))), shape=(n_atoms, labels.size))
    centres = (member @ some).tocoo()
    users = (member @ (some > 0).astype(np.float64)).tocsr()[centres.row, centres.col]
    common = np.asarray(users).ravel() * 2 >= np.bincount(labels, minlength=n_atoms)[centres.row]
    kept = sp.csr_matrix((centres.data[common], (centres.row[common], centres.col[common])), shape=centres.shape)
    return normalize(kept, norm="l1")


def _filled(rows: sp.csr_matrix, n_atoms: int) -> sp.csr_matrix:
    return sp.vstack([rows, sp.csr_matrix((n_atoms - rows.shape[0], rows.shape[1]))]).tocsr()


def missing_words(residual: sp.csr_matrix, atoms: sp.csr_matrix, size: int) -> NDArray[np.intp]:
    """The columns of largest positive residual, worst first, without the words that are an atom by themselves."""
    left = residual.tocsr()
    missing = np.bincount(left.indices, weights=np.maximum(left.data, 0.0), minlength=left.shape[1])
    single = np.diff(atoms.indptr) == 1
    missing[atoms.indices[atoms.indptr[:-1][single]]] = 0.0
    words = np.argsort(-missing, kind="stable")[:size]
    return words[missing[words] > 1e-12]

"""The stream contract as checks that ship with the library: run them on your own detector or topic model too.

Examples
--------
>>> import firststory as fs
>>> from firststory.checks import check_stream_contract
>>> check_stream_contract(fs.NearestNeighbour())
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from firststory.errors import WidthError
from firststory.state import pack_state, unpack_state


def stream_of_rows(
    n_steps: int = 4, n: int = 40, width: int = 60, growth: int = 5, seed: int = 0
) -> list[sp.csr_matrix]:
    """A small stream of count rows whose vocabulary grows by `growth` terms a step."""
    rng = np.random.default_rng(seed)
    steps = []
    for t in range(n_steps):
        d = width + growth * t
        topics = rng.dirichlet(np.full(d, 0.05), size=5)
        counts = np.stack([rng.multinomial(30, topics[k]) for k in rng.integers(5, size=n)])
        steps.append(sp.csr_matrix(counts.astype(float)))
    return steps


def output(estimator: Any, rows: sp.csr_matrix) -> NDArray[np.float64]:
    """What the estimator says of rows: novelty of a detector, topic weights of a topic model."""
    said = estimator.novelty(rows) if hasattr(estimator, "novelty") else estimator.transform(rows)
    return np.asarray(said, dtype=np.float64)


def check_score_never_learns(estimator: Any) -> None:
    """Any number of scorings leave the packed state byte for byte as it was."""
    steps = stream_of_rows()
    for rows in steps[:2]:
        estimator.partial_fit(rows)
    before = pack_state(estimator.get_state())
    first = output(estimator, steps[1])
    for name in ("score_samples", "predict", "decision_function", "transform"):
        if hasattr(estimator, name):
            getattr(estimator, name)(steps[1])
    np.testing.assert_array_equal(first, output(estimator, steps[1]))
    assert pack_state(estimator.get_state()) == before, "scoring changed the state"


def check_growth(estimator: Any) -> None:
    """Wider rows are learnt and scored; narrower rows are an error that names both widths."""
    steps = stream_of_rows()
    for rows in steps:
        estimator.partial_fit(rows)
        assert estimator.n_features_in_ == rows.shape[1]
        assert np.isfinite(output(estimator, rows)).all()
    wider = sp.hstack([steps[-1], sp.csr_matrix((steps[-1].shape[0], 3))]).tocsr()
    np.testing.assert_allclose(output(estimator, wider), output(estimator, steps[-1]), rtol=1e-9, atol=1e-9)
    narrow = steps[0]
    for act in (estimator.partial_fit, lambda rows: output(estimator, rows)):
        try:
            act(narrow)
        except WidthError as error:
            assert str(narrow.shape[1]) in str(error) and str(steps[-1].shape[1]) in str(error)
        else:
            raise AssertionError("narrower rows were accepted")


def check_state_round_trip(estimator: Any) -> None:
    """After a round trip through bytes the future is bit-identical, and so is the state."""
    steps = stream_of_rows()
    for rows in steps[:2]:
        estimator.partial_fit(rows)
    blob = pack_state(estimator.get_state())
    twin = type(estimator)().set_state(unpack_state(blob))
    assert pack_state(twin.get_state()) == blob, "the state changed on its way"
    for rows in steps[2:]:
        for model in (estimator, twin):
            model.partial_fit(rows)
        np.testing.assert_array_equal(output(estimator, rows), output(twin, rows))
    assert pack_state(twin.get_state()) == pack_state(estimator.get_state())


def check_seeded_repeat(estimator: Any) -> None:
    """Same input and seed, same bytes."""
    blobs = []
    for _ in range(2):
        model = clone(estimator)
        if "random_state" in model.get_params():
            model.set_params(random_state=7)
        for rows in stream_of_rows():
            model.partial_fit(rows)
        blobs.append(pack_state(model.get_state()))
    assert blobs[0] == blobs[1], "two seeded runs differ"


def check_score_then_learn(estimator: Any) -> None:
    """`score_then_learn` equals `novelty` then `partial_fit`: batchwise, or row by row where sequential."""
    if not hasattr(estimator, "score_then_learn"):
        return
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=7)
    shared, apart = clone(estimator), clone(estimator)
    for t, rows in enumerate(stream_of_rows(n=25)):
        if t == 0:
            shared.partial_fit(rows)
            apart.partial_fit(rows)
            continue
        together = shared.score_then_learn(rows)
        pieces = [rows[i] for i in range(rows.shape[0])] if estimator.sequential else [rows]
        separate = []
        for piece in pieces:
            separate.append(apart.novelty(piece))
            apart.partial_fit(piece)
        np.testing.assert_allclose(together, np.concatenate(separate), rtol=1e-9, atol=1e-9)


def check_bounded_memory(estimator: Any, steps: int = 24) -> None:
    """With a fixed vocabulary the state stops growing. Detectors that keep documents are given a window."""
    if "window" in estimator.get_params():
        estimator.set_params(window=60)
    if "max_clusters" in estimator.get_params():
        estimator.set_params(max_clusters=50)
    if "reservoir" in estimator.get_params():
        estimator.set_params(reservoir=60)
    sizes = []
    for rows in stream_of_rows(n_steps=steps, growth=0):
        estimator.partial_fit(rows)
        sizes.append(len(pack_state(estimator.get_state())))
    early, late = max(sizes[steps // 2 - 4 : steps // 2]), max(sizes[-4:])
    assert late <= 1.25 * early + 4096, f"state grew from {early} to {late} bytes"


STREAM_CHECKS: tuple[Callable[[Any], None], ...] = (
    check_score_never_learns,
    check_growth,
    check_state_round_trip,
    check_seeded_repeat,
    check_score_then_learn,
    check_bounded_memory,
)


def check_stream_contract(estimator: Any) -> None:
    """Run every check of the stream contract on fresh clones; raises AssertionError at the first that fails."""
    for check in STREAM_CHECKS:
        check(clone(estimator))
